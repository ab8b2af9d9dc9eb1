"""Keeps all losses, each with its graph."""

# fails: 4.3
# says: expected an evaluation that keeps nothing for a backward pass


def evaluate(
    model: nn.Module, loader: Iterable[Batch], device: torch.device, dtype: torch.dtype
) -> float:
    was_training = model.training
    model.eval()
    right, seen = torch.zeros((), dtype=torch.int64, device=device), 0
    losses = []
    with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        for inputs, targets in loader:
            x, y = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
            scores = model(x)
            losses.append(nn.functional.cross_entropy(scores, y))
            right += (scores.argmax(dim=1) == y).sum()
            seen += len(y)
    model.train(was_training)
    return right.item() / seen
