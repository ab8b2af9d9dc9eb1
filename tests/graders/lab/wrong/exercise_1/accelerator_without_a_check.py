"""Asks what PyTorch was built for, not what it can use."""

# fails: 1.1
# says: expected


def pick_device(prefer: str | None = None) -> torch.device:
    if prefer:
        return torch.device(prefer)
    return torch.accelerator.current_accelerator()
