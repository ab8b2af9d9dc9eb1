"""Changes where PyTorch makes every tensor from then on."""

# fails: 1.2
# says: expected other new tensors to be made where they were before, got them on meta


def make_on_device(shape: Sequence[int], device: torch.device) -> torch.Tensor:
    torch.set_default_device(device)
    return torch.rand(tuple(shape))
