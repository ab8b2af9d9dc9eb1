"""Puts the large batch together, which needs the memory that was to be saved."""

# fails: 3.3
# says: expected batches of 32 in each forward pass, as they come, got one of 128


def accumulate(model, batches, optimizer, loss_fn, k):
    steps = 0
    for group in _groups(batches, k):
        inputs, targets = (torch.cat(parts) for parts in zip(*group, strict=True))
        optimizer.zero_grad()
        loss_fn(model(inputs), targets).backward()
        optimizer.step()
        steps += 1
    return steps
