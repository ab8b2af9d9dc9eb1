"""Says whether something is misplaced, and not what."""

# fails: 1.5
# says: expected a list of names for a half-moved model, got True


def misplaced(model: nn.Module, device: torch.device | str) -> list[str]:
    wanted = torch.device(device)
    return any(p.device.type != wanted.type for p in model.parameters())
