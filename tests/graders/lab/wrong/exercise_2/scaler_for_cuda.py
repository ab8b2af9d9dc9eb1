"""Has CUDA typed in, which switches the scaler off elsewhere."""

# fails: 2.2
# says: expected a scaler that is on for float16


def make_scaler(device_type: str, dtype: torch.dtype) -> torch.amp.GradScaler:
    return torch.amp.GradScaler("cuda", enabled=dtype == torch.float16)
