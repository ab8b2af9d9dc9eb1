"""Cuts the graph between blocks, so that only the last one learns."""

# fails: 3.4
# says: expected a gradient for each parameter, got none for 28 of 32


def checkpointed_forward(blocks: nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    for block in blocks:
        x = checkpoint(block, x.detach(), use_reentrant=False)
    return x
