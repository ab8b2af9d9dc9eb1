"""Keeps sums of losses, one graph that reaches back to the first batch."""

# fails: 3.6
# says: expected 0 bytes held by graphs when evaluation is over, got 850,000


def collect_losses(model, batches, loss_fn, train):
    losses, total = [], 0.0
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        if train:
            loss.backward()
            losses.append(loss.item())
        else:
            total = total + loss
            losses.append(total)
    return losses
