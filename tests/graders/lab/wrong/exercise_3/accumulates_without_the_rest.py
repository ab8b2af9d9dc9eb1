"""The loop that is found everywhere: it drops the last group if it is not full."""

# fails: 3.3
# says: expected 3 optimizer steps for 10 batches of 32 with k=4, got 2


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    optimizer.zero_grad()
    for i, (inputs, targets) in enumerate(batches):
        loss = loss_fn(model(inputs), targets) / k
        loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
    return steps
