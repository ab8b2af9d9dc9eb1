"""Step 2: predict the gradients of four expressions of x, then let `backward` compute them.

Run it with `.venv/bin/python explore_gradients.py`.
"""

import sys
from collections.abc import Callable

import torch

X = [1.0, 2.0, 3.0]

# --8<-- [start:expressions]
EXPRESSIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda x: x.sum(),
    "squares": lambda x: (x**2).sum(),
    "mean": lambda x: x.mean(),
    "max": lambda x: x.max(),
}

# Write three numbers in place of each None, before you compute anything. They are compared to six
# digits: write a fraction as 1 / 7, not as 0.143.
PREDICTIONS: dict[str, list[float] | None] = {
    "sum": None,
    "squares": None,
    "mean": None,
    "max": None,
}
# --8<-- [end:expressions]

# Why does `max` leave zeros in the gradient? At least 15 words of your own.
WHY_MAX_IS_SPARSE = ""


class PredictionMissingError(ValueError):
    """Nothing is computed before it was predicted."""


def require_prediction(name: str) -> None:
    """Refuse to go on with an expression that nobody has predicted."""
    if PREDICTIONS[name] is None:
        raise PredictionMissingError(
            f"write your prediction for {name!r} first, then run this again"
        )


def gradient_of(name: str) -> list[float]:
    """The gradient that one expression alone gives at x = [1, 2, 3].

    The order in which you ask for the four must not matter.

    Raises:
        PredictionMissingError: If there is no prediction for it yet.
    """
    require_prediction(name)
    raise NotImplementedError("gradient_of is yours to write")


def accumulate_without_reset() -> list[list[float]]:
    """What x.grad holds after sum, squares, mean and max in this order, with no reset between."""
    raise NotImplementedError("accumulate_without_reset is yours to write")


def main() -> int:
    """Print each prediction beside its gradient, then the sums that grow without a reset."""
    try:
        for name in EXPRESSIONS:
            require_prediction(name)
        for name, prediction in PREDICTIONS.items():
            print(f"{name:8} predicted {prediction}, computed {gradient_of(name)}")
        print("without a reset:", *accumulate_without_reset(), sep="\n  ")
    except (PredictionMissingError, NotImplementedError) as open_end:
        print(f"stopped: {open_end}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
