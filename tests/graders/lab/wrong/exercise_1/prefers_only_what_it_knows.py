"""Takes a preference for a device that it has not heard of as none."""

# fails: 1.1
# says: a preference may name any device, with CUDA or without


def pick_device(prefer: str | None = None) -> torch.device:
    if prefer in ("cpu", "cuda", "cuda:0"):
        return torch.device(prefer)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
