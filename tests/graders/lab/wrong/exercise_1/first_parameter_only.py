"""Looks at one parameter and speaks for all."""

# fails: 1.5
# says: for a half-moved model


def misplaced(model: nn.Module, device: torch.device | str) -> list[str]:
    name, first = next(iter(model.named_parameters()))
    return [] if first.device.type == torch.device(device).type else [name]
