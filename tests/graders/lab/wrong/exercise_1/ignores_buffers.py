"""Looks at parameters only."""

# fails: 1.5
# says: norm.running_mean


def misplaced(model: nn.Module, device: torch.device | str) -> list[str]:
    wanted = torch.device(device).type
    return [name for name, p in model.named_parameters() if p.device.type != wanted]
