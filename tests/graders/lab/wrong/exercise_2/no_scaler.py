"""Makes none where none is needed, so that every caller has to ask."""

# fails: 2.2
# says: expected a torch.amp.GradScaler, got NoneType


def make_scaler(device_type: str, dtype: torch.dtype) -> torch.amp.GradScaler:
    return torch.amp.GradScaler(device_type) if dtype == torch.float16 else None
