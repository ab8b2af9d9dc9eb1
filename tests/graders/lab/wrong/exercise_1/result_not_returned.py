"""Moves the tensor and throws the result away."""

# fails: 1.3
# says: expected the moved tensor as the result, got a tensor on cpu


def move_tensor(t: torch.Tensor, device: torch.device) -> torch.Tensor:
    t.to(device)
    return t
