"""Switches gradients off without a with, so that they stay off."""

# fails: 3.6
# says: expected gradients to be recorded again after evaluation


def collect_losses(
    model: nn.Module, batches: Iterable[Batch], loss_fn: Loss, train: bool
) -> list[float]:
    torch.set_grad_enabled(train)
    losses = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        if train:
            loss.backward()
        losses.append(loss.item())
    return losses
