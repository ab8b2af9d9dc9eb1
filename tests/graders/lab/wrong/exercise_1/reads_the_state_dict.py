"""Looks where checkpoints look, where buffers that are not saved are missing."""

# fails: 1.5
# says: expected ['mask'] for a buffer that is not saved, got no names


def misplaced(model: nn.Module, device: torch.device | str) -> list[str]:
    wanted = torch.device(device)
    return [
        name
        for name, tensor in model.state_dict().items()
        if tensor.device.type != wanted.type or wanted.index not in (None, tensor.device.index)
    ]
