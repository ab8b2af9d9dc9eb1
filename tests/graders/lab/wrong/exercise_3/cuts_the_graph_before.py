"""Makes x require grad by cutting it off, so that layers before the blocks learn nothing."""

# fails: 3.4
# says: expected the gradient of plain_forward in a layer before the blocks, got none


def checkpointed_forward(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    x = x.detach().requires_grad_()
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=True)
    return x
