"""Moves the model to the input."""

# fails: 1.6
# says: expected the model to stay on its device


def forward_safely(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    try:
        return model(x)
    except RuntimeError:
        if x.device == next(model.parameters()).device:
            raise
        return model.to_empty(device=x.device)(x)
