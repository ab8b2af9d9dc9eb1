"""Takes every RuntimeError for a mismatch and tries again."""

# fails: 1.6
# says: expected one call of the model when only the shape is wrong, got 2 calls


def forward_safely(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    try:
        return model(x)
    except RuntimeError:
        return model(x.to(next(model.parameters()).device))
