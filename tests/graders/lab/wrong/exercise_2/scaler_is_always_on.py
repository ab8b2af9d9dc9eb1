"""Makes a scaler that also works where no format needs it."""

# fails: 2.2
# says: expected a scaler that is off for bfloat16


def make_scaler(device_type: str, dtype: torch.dtype) -> torch.amp.GradScaler:
    return torch.amp.GradScaler(device_type)
