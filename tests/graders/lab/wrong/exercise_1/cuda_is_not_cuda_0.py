"""Compares devices as they are, and "cuda" never equals "cuda:0"."""

# fails: 1.5
# says: expected no names for a model on cuda:0, asked for "cuda"


def misplaced(model: nn.Module, device: torch.device | str) -> list[str]:
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return [name for name, t in tensors if t.device != torch.device(device)]
