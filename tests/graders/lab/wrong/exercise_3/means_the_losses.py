"""Returns the mean of the losses, and not the losses."""

# fails: 3.6
# says: expected a list of floats after training, got 2


def collect_losses(
    model: nn.Module, batches: Iterable[Batch], loss_fn: Loss, train: bool
) -> list[float]:
    losses = []
    with torch.set_grad_enabled(train):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            if train:
                loss.backward()
            losses.append(loss.item())
    return sum(losses) / len(losses)
