"""Makes the numbers on the CPU and copies them."""

# fails: 1.2
# says: numbers made on the CPU by aten.rand.default and copied


def make_on_device(shape: Sequence[int], device: torch.device) -> torch.Tensor:
    return torch.rand(tuple(shape)).to(device)
