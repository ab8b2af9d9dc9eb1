"""Adds up the losses and calls backward once, with the graphs of all batches alive."""

# fails: 3.3
# says: expected nothing saved by earlier batches when a batch begins


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    for group in _groups(batches, k):
        samples = sum(len(targets) for _, targets in group)
        optimizer.zero_grad()
        losses = [loss_fn(model(x), y) * len(y) / samples for x, y in group]
        sum(losses).backward()
        optimizer.step()
        steps += 1
    return steps
