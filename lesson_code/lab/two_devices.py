"""Two devices on a machine that has one: the ``meta`` device stands in for the GPU.

Tensors on ``meta`` have a shape and a type, and no numbers.
"""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

CPU, META = torch.device("cpu"), torch.device("meta")


# --8<-- [start:mix]
def mix_and_mend() -> tuple[str, torch.device]:
    """Add tensors of two devices, then move one of them and add the same two again."""
    here, there = torch.ones(3), torch.ones(3, device=META)
    try:
        here + there
    except RuntimeError as problem:
        error = type(problem).__name__
    moved = here.to(META)
    return error, (moved + there).device


# --8<-- [end:mix]


# --8<-- [start:placed]
class Scaled(nn.Module):
    """A layer with a parameter, a registered buffer, and a tensor that is neither."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("mean", torch.zeros(3))
        self.scale = torch.ones(3)  # an attribute like any other: nobody moves it


def where_things_are() -> dict[str, str]:
    """The device of everything, after a tensor and a model were moved."""
    tensor = torch.ones(3)
    tensor.to(META)  # the result is thrown away
    model = Scaled()
    model.to(META)  # moves the model itself
    things = {"tensor": tensor, "weight": model.weight, "mean": model.mean, "scale": model.scale}
    return {name: str(thing.device) for name, thing in things.items()}


# --8<-- [end:placed]


def print_where_things_are() -> None:
    """The device of a tensor and of the parts of a model, after the calls above."""
    for name, device in where_things_are().items():
        print(f"{name:7} {device}")


# --8<-- [start:too_early]
def train_what_is_gone() -> tuple[str, str]:
    """Make the optimizer first and move the model afterwards: the devices of both."""
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to(META)
    [held, _] = optimizer.param_groups[0]["params"]
    return str(model.weight.device), str(held.device)


# --8<-- [end:too_early]


def print_too_early() -> None:
    """Where the weight is that the model uses, and the one that the optimizer updates."""
    used, updated = train_what_is_gone()
    print(f"the model uses a weight on        {used}")
    print(f"the optimizer updates a weight on {updated}")


_X = torch.ones(2, 4)
MIXED: dict[str, Callable[[], torch.Tensor]] = {
    "+": lambda: _X + torch.ones(2, 4, device=META),
    "Linear": lambda: nn.Linear(4, 4, device=META)(_X),
    "BatchNorm1d": lambda: nn.BatchNorm1d(4, device=META)(_X),
    "LayerNorm": lambda: nn.LayerNorm(4, device=META)(_X),
    "cross_entropy": lambda: F.cross_entropy(_X, torch.zeros(2, dtype=torch.int64, device=META)),
    "cat": lambda: torch.cat([_X, torch.ones(2, 4, device=META)]),
    "Conv2d": lambda: nn.Conv2d(1, 1, 1, device=META)(torch.ones(1, 1, 2, 2)),
    "matmul": lambda: _X @ torch.ones(4, 4, device=META),
    "Embedding": lambda: nn.Embedding(4, 4, device=META)(torch.tensor([1])),
}


def raises(work: Callable[[], torch.Tensor]) -> bool:
    """Whether an operation on two devices is refused with a ``RuntimeError``."""
    try:
        work()
    except RuntimeError:
        return True
    return False


def print_meta() -> dict[str, bool]:
    """Which operations refuse a CPU tensor beside one on ``meta``."""
    found = {name: raises(work) for name, work in MIXED.items()}
    print("refused: ", ", ".join(name for name, refused in found.items() if refused))
    print("let pass:", ", ".join(name for name, refused in found.items() if not refused))
    return found
