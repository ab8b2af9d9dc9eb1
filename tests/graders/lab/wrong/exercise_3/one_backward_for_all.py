"""Sends the sum of all losses backward, with all graphs alive until then."""

# fails: 3.6
# says: expected 0 bytes held by earlier batches when a batch begins in training


def collect_losses(model, batches, loss_fn, train):
    with torch.set_grad_enabled(train):
        losses = [loss_fn(model(inputs), targets) for inputs, targets in batches]
        if train:
            sum(losses).backward()
    return [loss.item() for loss in losses]
