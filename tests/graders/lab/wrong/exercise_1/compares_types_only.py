"""Takes every GPU for the same one."""

# fails: 1.5
# says: for a model on the other GPU


def misplaced(model: nn.Module, device: torch.device | str) -> list[str]:
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return [name for name, t in tensors if t.device.type != torch.device(device).type]
