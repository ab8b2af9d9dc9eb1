"""Tries again until it works, which it never does."""

# fails: 1.6
# says: expected at most two calls of the model, got more than 20


def forward_safely(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    while True:
        try:
            return model(x)
        except RuntimeError:
            if x.device == next(model.parameters()).device:
                raise
            x.to(next(model.parameters()).device)
