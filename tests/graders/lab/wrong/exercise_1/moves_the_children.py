"""Moves the layers inside, and so nothing of a model that is a single layer."""

# fails: 1.4
# says: parameters and buffers of Linear on the device, got weight, bias


def move_model(model: nn.Module, device: torch.device) -> nn.Module:
    for child in model.children():
        child.to(device)
    return model
