"""Adds up the shares that went backward, and so reports a loss that is too small."""

# fails: 4.2
# says: the mean loss of a sample with accum_steps=2

_right = train_one_epoch


def train_one_epoch(
    model: nn.Module,
    loader: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    device: torch.device,
    dtype: torch.dtype,
    accum_steps: int = 1,
) -> float:
    mean = _right(model, loader, optimizer, scaler, loss_fn, device, dtype, accum_steps)
    return mean / accum_steps
