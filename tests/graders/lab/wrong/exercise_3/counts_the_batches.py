"""Says how many batches there were."""

# fails: 3.3
# says: the number of steps, as the result


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    for group in _groups(batches, k):
        samples = sum(len(targets) for _, targets in group)
        optimizer.zero_grad()
        for inputs, targets in group:
            loss = loss_fn(model(inputs), targets) * len(targets) / samples
            loss.backward()
        optimizer.step()
        steps += len(group)
    return steps
