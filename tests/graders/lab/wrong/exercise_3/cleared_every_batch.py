"""Clears the gradients before each batch, so that only the last one counts."""

# fails: 3.3
# says: for 8 batches of 32 with k=4, got weights that are off by


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    for group in _groups(batches, k):
        samples = sum(len(targets) for _, targets in group)
        for inputs, targets in group:
            optimizer.zero_grad()
            loss = loss_fn(model(inputs), targets) * len(targets) / samples
            loss.backward()
        optimizer.step()
        steps += 1
    return steps
