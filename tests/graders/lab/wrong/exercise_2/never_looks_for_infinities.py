"""Scales by hand, and steps whatever comes."""

# fails: 2.4, 2.5
# says: stay as they were when a gradient is inf or NaN, got NaN in the weights


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
    scale = scaler.get_scale()
    (loss * scale).backward()
    for weight in model.parameters():
        if weight.grad is not None:
            weight.grad /= scale
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
