"""Moves the model and rounds its parameters on the way."""

# fails: 1.4
# says: expected the same numbers in the model as before


def move_model(model: nn.Module, device: torch.device) -> nn.Module:
    return model.to(device, torch.float16)
