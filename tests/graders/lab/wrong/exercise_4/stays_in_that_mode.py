"""Leaves the model in evaluation mode."""

# fails: 4.3
# says: expected a model that is left in training mode, as it came


def evaluate(
    model: nn.Module, loader: Iterable[Batch], device: torch.device, dtype: torch.dtype
) -> float:
    was_training = model.training
    model.eval()
    right, seen = torch.zeros((), dtype=torch.int64, device=device), 0
    with torch.no_grad(), torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        for inputs, targets in loader:
            x, y = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
            right += (model(x).argmax(dim=1) == y).sum()
            seen += len(y)
    return right.item() / seen
