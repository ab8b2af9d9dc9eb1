"""Gets an output that no gradient can flow back from."""

# fails: 1.6
# says: expected an output that gradients can flow back from


@torch.no_grad()
def forward_safely(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x.to(next(model.parameters()).device))
