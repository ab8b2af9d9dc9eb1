"""Lets go of the graphs, and keeps tensors where numbers were asked for."""

# fails: 3.6
# says: expected a list of floats after training, got list of Tensor


def collect_losses(model, batches, loss_fn, train):
    losses = []
    with torch.set_grad_enabled(train):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            if train:
                loss.backward()
            losses.append(loss.detach())
    return losses
