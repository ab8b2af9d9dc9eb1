"""Moves the parameters by hand and forgets the buffers."""

# fails: 1.4
# says: norm.running_mean


def move_model(model: nn.Module, device: torch.device) -> nn.Module:
    for name, parameter in list(model.named_parameters()):
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, nn.Parameter(parameter.to(device)))
    return model
