"""Asks the first parameter or buffer where the model is; a model may have neither."""

# fails: 1.6
# says: of a model without parameters and buffers to come out, got a StopIteration


def forward_safely(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    try:
        return model(x)
    except RuntimeError:
        home = next(iter([*model.parameters(), *model.buffers()])).device
        if x.device == home:
            raise
    return model(x.to(home))
