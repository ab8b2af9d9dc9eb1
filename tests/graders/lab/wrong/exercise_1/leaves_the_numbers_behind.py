"""Makes a tensor of the same shape there, and leaves the numbers behind."""

# fails: 1.3
# says: expected the same numbers as before


def move_tensor(t: torch.Tensor, device: torch.device) -> torch.Tensor:
    return torch.zeros_like(t, device=device)
