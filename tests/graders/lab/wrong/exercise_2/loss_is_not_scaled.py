"""Goes back from the loss itself."""

# fails: 2.3
# says: expected a backward pass from the loss times 1,024 for float16, got from the loss times 1


def train_step(
    model: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: Loss,
    device_type: str,
    dtype: torch.dtype,
    max_norm: float | None = None,
) -> float:
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype, enabled=dtype != torch.float32):
        loss = loss_fn(model(x), y)
    loss.backward()
    if max_norm is not None:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
