"""Steps at i % k == 0, after the first batch of a group instead of its last."""

# fails: 3.3
# says: for 8 batches of 32 with k=4, got weights that are off by


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    optimizer.zero_grad()
    for i, (inputs, targets) in enumerate(batches):
        loss = loss_fn(model(inputs), targets) / k
        loss.backward()
        if i % k == 0:
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
    return steps
