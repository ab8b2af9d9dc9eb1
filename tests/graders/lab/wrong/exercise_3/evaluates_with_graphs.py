"""Records a graph for each batch of an evaluation, and throws it away."""

# fails: 3.6
# says: expected nothing to be saved for backward in evaluation


def collect_losses(model, batches, loss_fn, train):
    losses = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        if train:
            loss.backward()
        losses.append(loss.item())
    return losses
