"""Weights each batch alike, however many samples it has."""

# fails: 3.3
# says: for 7 batches of 32 and one of 8 with k=4, got weights that are off by


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    for group in _groups(batches, k):
        samples = sum(len(targets) for _, targets in group)
        optimizer.zero_grad()
        for inputs, targets in group:
            loss = loss_fn(model(inputs), targets) / len(group)
            loss.backward()
        optimizer.step()
        steps += 1
    return steps
