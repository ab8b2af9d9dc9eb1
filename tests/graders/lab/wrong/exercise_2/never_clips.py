"""Forgets max_norm."""

# fails: 2.4
# says: a step with max_norm=0.1 in float16


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
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
