"""What PyTorch's own counter of operations says of a convolution whose channels are in groups."""

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


# --8<-- [start:counted]
def counted(groups: int) -> tuple[int, int]:
    """Operations of a convolution of 64 channels, forward and backward."""
    layer = nn.Conv2d(64, 64, 3, padding=1, groups=groups, bias=False)
    images = torch.zeros(8, 64, 16, 16, requires_grad=True)
    with FlopCounterMode(display=False) as forward:
        outputs = layer(images)
    with FlopCounterMode(display=False) as backward:
        outputs.sum().backward()
    return forward.get_total_flops(), backward.get_total_flops()


# --8<-- [end:counted]


def print_counts() -> dict[int, float]:
    """How many forward passes PyTorch counts for the backward pass; by the number of groups."""
    passes = {}
    for groups in (1, 2, 64):
        forward, backward = counted(groups)
        passes[groups] = backward / forward
        print(f"groups {groups:2}: backward = {passes[groups]:2.0f} × forward")
    return passes
