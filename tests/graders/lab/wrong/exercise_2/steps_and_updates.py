"""Lets the optimizer step itself, and updates the scaler all the same."""

# fails: 2.4, 2.5
# says: No inf checks were recorded prior to update


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
    optimizer.step()
    scaler.update()
    return loss.item()
