"""Notes only the steps that were made."""

# fails: 2.8
# says: expected a list with a record for each of 10 batches, got 8 records


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
        if after >= before:
            records.append(StepRecord(step, loss, before, after, skipped=False))
    return records
