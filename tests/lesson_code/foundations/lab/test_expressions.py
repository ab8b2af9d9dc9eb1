"""Step 2's four expressions, and what the page says of their graphs."""

import contextlib

import pytest
import torch

from lesson_code.foundations.lab.expressions import EXPRESSIONS, X


def test_max_finds_its_place_again_by_comparing() -> None:
    """It keeps its input and its result, and no index; along a dimension it keeps indices."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

    over_all, along = x.max().grad_fn, x.max(dim=0).values.grad_fn

    kept = {name for name in dir(over_all) if name.startswith("_saved")}
    assert {"_saved_self", "_saved_result"} == kept
    assert hasattr(along, "_saved_indices")


def test_which_graphs_can_be_used_twice() -> None:
    """Sum and mean keep nothing; squares and max free what they kept."""
    survivors = []
    for name, expression in EXPRESSIONS.items():
        result = expression(torch.tensor(X, requires_grad=True))
        result.backward()
        with contextlib.suppress(RuntimeError):
            result.backward()
            survivors.append(name)

    assert ["sum", "mean"] == survivors


@pytest.mark.parametrize(
    ("largest", "gradient"),
    [
        (lambda x: x.max(), [0.5, 0.5, 0]),
        (lambda x: x.amax(), [0.5, 0.5, 0]),
        (lambda x: x.max(dim=0).values, [1, 0, 0]),
    ],
)
def test_ties(largest: object, gradient: list[float]) -> None:
    """With two largest elements `max` and `amax` share, and `max(dim=0)` chooses."""
    x = torch.tensor([3.0, 3.0, 1.0], requires_grad=True)
    assert callable(largest)
    largest(x).backward()

    assert x.grad is not None
    assert gradient == x.grad.tolist()
