"""Keeps the graphs after backward, and the losses that hold them."""

# fails: 3.6
# says: expected 0 bytes held by graphs when training is over, got 850,000


def collect_losses(model, batches, loss_fn, train):
    losses = []
    with torch.set_grad_enabled(train):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            if train:
                loss.backward(retain_graph=True)
            losses.append(loss)
    return losses
