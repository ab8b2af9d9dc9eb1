"""Reads the scale before the step when the step is over."""

# fails: 2.8
# says: expected scale_before 1024.0 at step 2


def train_monitored(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: Loss,
    device_type: str,
    dtype: torch.dtype,
) -> list[StepRecord]:
    records = []
    for step, (x, y) in enumerate(batches):
        loss = train_step(model, x, y, optimizer, scaler, loss_fn, device_type, dtype)
        before = scaler.get_scale()
        after = scaler.get_scale()
        records.append(StepRecord(step, loss, before, after, skipped=after < before))
    return records
