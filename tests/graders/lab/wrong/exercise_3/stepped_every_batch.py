"""Takes a step for each batch."""

# fails: 3.3
# says: expected 2 optimizer steps for 8 batches of 32 with k=4, got 8


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    for i, (inputs, targets) in enumerate(batches):
        if i % k == 0:
            optimizer.zero_grad()
        (loss_fn(model(inputs), targets) / k).backward()
        optimizer.step()
        steps += 1
    return steps
