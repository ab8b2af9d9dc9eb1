"""Puts an error of its own in the place of the model's."""

# fails: 1.6
# says: to come out, got another one, something went wrong


def forward_safely(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    home = next(model.parameters()).device
    try:
        return model(x)
    except RuntimeError as error:
        if x.device == home:
            raise RuntimeError("something went wrong") from error
    return model(x.to(home))
