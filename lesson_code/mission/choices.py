"""What can be chosen in the mission, and the refusal of everything else.

Standard library only, as the whole model of the mission: the site computes its tables with it.
"""

from typing import Literal

Regime = Literal["fp32", "autocast", "zero_mixed", "pure16"]
# Those in which PyTorch alone trains; zero_mixed is the bookkeeping of other libraries.
TorchRegime = Literal["fp32", "autocast", "pure16"]
Optimizer = Literal["sgd", "momentum", "adam"]
Recompute = Literal["none", "selective", "full"]
Component = Literal["params", "grads", "master", "state1", "state2", "copies", "activations"]
Device = Literal["node", "laptop"]
# What the page's controls offer; together they name a regime.
Precision = Literal["fp32", "mixed", "fp16"]
Bookkeeping = Literal["autocast", "zero"]


def require_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse what is not among the allowed values.

    Args:
        name: What the value is, for the message.
        value: What was given.
        allowed: What could have been.

    Raises:
        ValueError: If ``value`` is not allowed; the message names what is.
    """
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def require_count(name: str, value: int) -> None:
    """Refuse what is no positive whole number; True is none, although Python counts with it.

    Args:
        name: What the value is, for the message.
        value: What was given.

    Raises:
        ValueError: If ``value`` is no whole number above zero.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def require_positive(name: str, value: float) -> None:
    """Refuse what is no finite number above zero.

    Args:
        name: What the value is, for the message.
        value: What was given.

    Raises:
        ValueError: If ``value`` is zero, negative, infinite, not a number, or a truth value.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and 0 < value < float("inf")):
        raise ValueError(f"{name} must be a number above 0, got {value!r}")


def require_share(name: str, value: float) -> None:
    """Refuse what is no share of a whole, above zero and at most one.

    Args:
        name: What the value is, for the message.
        value: What was given.

    Raises:
        ValueError: If ``value`` is not in (0, 1].
    """
    require_positive(name, value)
    if value > 1:
        raise ValueError(f"{name} must be at most 1, got {value!r}")
