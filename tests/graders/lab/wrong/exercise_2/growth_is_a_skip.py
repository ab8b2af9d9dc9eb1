"""Takes every change of the scale for a skipped step."""

# fails: 2.8
# says: expected skipped False at step 5


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
        before = scaler.get_scale()
        loss = train_step(model, x, y, optimizer, scaler, loss_fn, device_type, dtype)
        after = scaler.get_scale()
        records.append(StepRecord(step, loss, before, after, skipped=after != before))
    return records
