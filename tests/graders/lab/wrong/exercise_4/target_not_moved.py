"""Moves the inputs only."""

# fails: 4.2
# says: the target reached cross_entropy before it was moved with .to(device)


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
    model.train()
    mixed = dtype != torch.float32
    total, seen = torch.zeros((), device=device), 0  # read once, at the end
    batches = iter(loader)
    while group := list(itertools.islice(batches, accum_steps)):  # the last may be smaller
        samples = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        for inputs, targets in group:
            x = inputs.to(device, non_blocking=True)
            y = targets
            with torch.autocast(device.type, dtype, enabled=mixed):
                loss = loss_fn(model(x), y)
            scaler.scale(loss * (len(y) / samples)).backward()
            total += loss.detach() * len(y)
        scaler.step(optimizer)
        scaler.update()
        seen += samples
    return total.item() / seen
