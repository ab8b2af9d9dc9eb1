"""Leaves dropout on."""

# fails: 4.3
# says: expected a model in evaluation mode, got one in training mode


def evaluate(
    model: nn.Module, loader: Iterable[Batch], device: torch.device, dtype: torch.dtype
) -> float:
    was_training = model.training
    right, seen = torch.zeros((), dtype=torch.int64, device=device), 0
    with torch.no_grad(), torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        for inputs, targets in loader:
            x, y = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
            right += (model(x).argmax(dim=1) == y).sum()
            seen += len(y)
    model.train(was_training)
    return right.item() / seen
