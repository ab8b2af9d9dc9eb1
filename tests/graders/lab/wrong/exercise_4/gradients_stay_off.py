"""Switches gradients off and never on again."""

# fails: 4.3, 4.8
# says: expected gradients that are recorded again after the evaluation


def evaluate(
    model: nn.Module, loader: Iterable[Batch], device: torch.device, dtype: torch.dtype
) -> float:
    was_training = model.training
    model.eval()
    torch.set_grad_enabled(False)
    right, seen = torch.zeros((), dtype=torch.int64, device=device), 0
    with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        for inputs, targets in loader:
            x, y = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
            right += (model(x).argmax(dim=1) == y).sum()
            seen += len(y)
    model.train(was_training)
    return right.item() / seen
