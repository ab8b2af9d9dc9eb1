"""Returns a bare tuple for each step."""

# fails: 2.8
# says: expected a StepRecord for each step, got (0,

_right = train_monitored


def train_monitored(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: Loss,
    device_type: str,
    dtype: torch.dtype,
) -> list[StepRecord]:
    records = _right(model, batches, optimizer, scaler, loss_fn, device_type, dtype)
    return [(r.step, r.loss, r.scale_before, r.scale_after, r.skipped) for r in records]
