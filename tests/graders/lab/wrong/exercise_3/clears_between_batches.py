"""Clears the gradients before each batch, so that only the last one's stay."""

# fails: 3.6
# says: expected the sum of all batches' gradients in the parameters


def collect_losses(
    model: nn.Module, batches: Iterable[Batch], loss_fn: Loss, train: bool
) -> list[float]:
    losses = []
    with torch.set_grad_enabled(train):
        for inputs, targets in batches:
            model.zero_grad()
            loss = loss_fn(model(inputs), targets)
            if train:
                loss.backward()
            losses.append(loss.item())
    return losses
