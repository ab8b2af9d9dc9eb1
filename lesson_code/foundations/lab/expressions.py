"""The four expressions whose gradients `explore_gradients.py` asks for. This file is complete."""

from collections.abc import Callable

import torch

# --8<-- [start:expressions]
X = [1.0, 2.0, 3.0]

EXPRESSIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda x: x.sum(),
    "squares": lambda x: (x**2).sum(),
    "mean": lambda x: x.mean(),
    "max": lambda x: x.max(),
}
# --8<-- [end:expressions]
