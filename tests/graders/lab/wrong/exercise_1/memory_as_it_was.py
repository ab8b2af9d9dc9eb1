"""Takes memory as it comes; nobody drew these numbers."""

# fails: 1.2
# says: expected random numbers, got numbers that PyTorch did not draw


def make_on_device(shape: Sequence[int], device: torch.device) -> torch.Tensor:
    return torch.empty(tuple(shape), device=device)
