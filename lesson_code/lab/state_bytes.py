"""Bytes of a training run that do not depend on the batch: weights, gradients, optimizer state.

Standard library only: the site computes a table with these functions.
"""

# --8<-- [start:state]
from dataclasses import dataclass
from typing import Literal

Precision = Literal["float32", "autocast", "all 16 bit"]
Optimizer = Literal["SGD", "SGD with momentum", "Adam"]
# What the optimizer keeps has a value for each parameter, and the parameter's type.
STATE_VALUES = {"SGD": 0, "SGD with momentum": 1, "Adam": 2}


@dataclass(frozen=True)
class StateBytes:
    """Bytes of each part; the weight copies live from the forward pass until backward."""

    weights: int
    weight_copies_at_most: int
    gradients: int
    optimizer: int


def state_bytes(parameters: int, precision: Precision, optimizer: Optimizer) -> StateBytes:
    """What training ``parameters`` values takes, whatever the batch."""
    each = 2 if precision == "all 16 bit" else 4
    return StateBytes(
        weights=each * parameters,
        weight_copies_at_most=2 * parameters if precision == "autocast" else 0,
        gradients=each * parameters,
        optimizer=each * parameters * STATE_VALUES[optimizer],
    )


# --8<-- [end:state]


def try_state() -> None:
    """What a million parameters take in three precisions."""
    # --8<-- [start:try_state]
    for precision in ("float32", "autocast", "all 16 bit"):
        print(state_bytes(1_000_000, precision, "Adam"))
    # --8<-- [end:try_state]
