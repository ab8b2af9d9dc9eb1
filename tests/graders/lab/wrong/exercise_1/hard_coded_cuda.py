"""Takes CUDA for granted."""

# fails: 1.1
# says: expected 'cpu' when torch.cuda.is_available() is False, got 'cuda'


def pick_device(prefer: str | None = None) -> torch.device:
    return torch.device(prefer or "cuda")
