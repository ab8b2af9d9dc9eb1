"""Adds up every tensor that is saved, although many share their memory."""

# fails: 2.6
# says: each storage once and no parameters


def compare_memory(
    make_model: Callable[[], nn.Module],
    batch: Batch,
    dtypes: Sequence[torch.dtype],
    device: torch.device,
) -> dict[torch.dtype, int]:
    x, y = batch
    found = {}
    for dtype in dtypes:
        sizes = []

        def note(tensor: torch.Tensor, sizes: list[int] = sizes) -> torch.Tensor:
            sizes.append(tensor.numel() * tensor.element_size())
            return tensor.detach()

        hooks = torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor)
        with hooks, torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
            cross_entropy(make_model()(x), y)
        found[dtype] = sum(sizes)
    return found
