"""Clears when a group is over, so that the first one drags along what was there before."""

# fails: 3.3
# says: expected the same weights, whatever gradients the model had before


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    for group in _groups(batches, k):
        samples = sum(len(targets) for _, targets in group)
        for inputs, targets in group:
            (loss_fn(model(inputs), targets) * len(targets) / samples).backward()
        optimizer.step()
        optimizer.zero_grad()
        steps += 1
    return steps
