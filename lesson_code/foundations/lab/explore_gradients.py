"""Step 2: predict the gradients of four expressions of x, then let `backward` compute them.

Run it with `.venv/bin/python explore_gradients.py`.
"""

import sys

import torch
from expressions import EXPRESSIONS, X

# Write three numbers in place of each None, before you compute anything. They are compared to six
# digits: write a fraction as 1 / 7, not as 0.143.
PREDICTIONS: dict[str, list[float] | None] = {
    # BLANK 2.1: predict four gradients
    "sum": [1, 1, 1],
    "squares": [2, 4, 6],
    "mean": [1 / 3, 1 / 3, 1 / 3],
    "max": [0, 0, 1],
    # INSTEAD
    # "sum": None,
    # "squares": None,
    # "mean": None,
    # "max": None,
    # END
}

# Why does `max` leave zeros in the gradient? At least 15 words of your own.
# BLANK 2.3: explain the zeros
WHY_MAX_IS_SPARSE = (
    "Only the largest element decides the result, so a small change of the other two changes "
    "nothing, and their derivatives are zero."
)
# INSTEAD
# WHY_MAX_IS_SPARSE = ""
# END


class PredictionMissingError(ValueError):
    """Nothing is computed before it was predicted."""


def require_prediction(name: str) -> None:
    """Refuse to go on with an expression that nobody has predicted."""
    if PREDICTIONS[name] is None:
        raise PredictionMissingError(
            f"write your prediction for {name!r} first, then run this again"
        )


def gradient_of(name: str) -> list[float]:
    """The gradient that one of the expressions alone gives at x = [1, 2, 3].

    The order in which you ask for the four must not matter.

    Raises:
        PredictionMissingError: If there is no prediction for it yet.
    """
    require_prediction(name)
    # BLANK 2.2: compute one gradient
    x = torch.tensor(X, requires_grad=True)
    EXPRESSIONS[name](x).backward()
    return gradient_in(x)
    # END


def accumulate_without_reset() -> list[list[float]]:
    """What x.grad holds after sum, squares, mean and max in this order, with no reset between."""
    # BLANK 2.4: let gradients add up
    x = torch.tensor(X, requires_grad=True)
    sums = []
    for expression in EXPRESSIONS.values():
        expression(x).backward()
        sums.append(gradient_in(x))
    return sums
    # END


# OURS
def gradient_in(x: torch.Tensor) -> list[float]:
    """A copy of x.grad as numbers, so that what follows does not change it."""
    if x.grad is None:
        raise RuntimeError("no gradient has reached x")
    gradient: list[float] = x.grad.tolist()
    return gradient


# END


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
