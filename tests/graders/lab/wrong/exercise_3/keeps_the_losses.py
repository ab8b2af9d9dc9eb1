"""Keeps the tensors, and with them the graphs that nobody sends backward."""

# fails: 3.6
# says: expected 0 bytes held by graphs when evaluation is over, got 850,000


def collect_losses(model, batches, loss_fn, train):
    losses = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        if train:
            loss.backward()
        losses.append(loss)
    return losses if not train else [loss.item() for loss in losses]
