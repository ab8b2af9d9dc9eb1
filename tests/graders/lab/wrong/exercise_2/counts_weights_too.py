"""Counts the weights that the graph keeps, which are in memory anyway."""

# fails: 2.6
# says: for MNISTClassifier, a batch of 32 and float32


def compare_memory(
    make_model: Callable[[], nn.Module],
    batch: Batch,
    dtypes: Sequence[torch.dtype],
    device: torch.device,
) -> dict[torch.dtype, int]:
    x, y = batch
    found = {}
    for dtype in dtypes:
        model = make_model()
        meter = SavedBytes()
        with meter, torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
            loss = cross_entropy(model(x), y)
        found[dtype] = meter.total()
    return found
