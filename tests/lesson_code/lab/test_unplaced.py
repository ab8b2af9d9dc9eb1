"""Batches that refuse to be used before they were moved."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.lab.unplaced import NotPlacedError, Unplaced, UnplacedLoader

CPU = torch.device("cpu")
MODEL = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
Use = Callable[[Unplaced, Unplaced], object]


def _pair() -> tuple[Unplaced, Unplaced]:
    loader = UnplacedLoader([(torch.ones(2, 4), torch.zeros(2, dtype=torch.int64))], CPU)
    [pair] = loader
    return pair


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda x, y: cross_entropy(MODEL[1](x), y.to(CPU)),
            "the input reached linear before it was moved",
        ),
        (
            lambda x, y: cross_entropy(MODEL(x), y.to(CPU)),
            "the input reached flatten before it was moved",
        ),
        (
            lambda x, y: cross_entropy(MODEL(x.to(CPU)), y),
            "the target reached cross_entropy before it was moved",
        ),
        (
            lambda x, _: (x.to(CPU), MODEL(x)),
            "the input reached flatten as it was: the result of .to.device. was thrown away",
        ),
        (lambda x, _: MODEL(x.cuda()), "the input was sent to CUDA by .cuda"),
        (lambda x, _: x.to("meta"), "the input was not sent to the device that was given"),
        (lambda x, _: x.to("cuda:0"), "the input was not sent to the device that was given"),
        (lambda x, _: x.to(torch.float64), "the input was given no device by .to"),
        (lambda x, _: x.to(non_blocking=True), "the input was given no device by .to"),
        (lambda x, _: x * 2, "the input reached mul before"),
        (lambda _, y: torch.zeros(2) == y, "the target reached eq before"),
        (lambda x, _: torch.cat([x, x]), "the input reached cat before"),
        (lambda x, _: x[0], "the input reached getitem before"),
    ],
)
def test_a_wrong_use_is_told_apart(use: Use, message: str) -> None:
    """Never moved, half moved, moved in vain, moved elsewhere: each has its own words."""
    with pytest.raises(NotPlacedError, match=message):
        use(*_pair())


@pytest.mark.parametrize(
    "use",
    [
        lambda x, y: cross_entropy(MODEL(x.to(CPU)), y.to(device=CPU, non_blocking=True)),
        lambda x, y: [part.to("cpu") for part in (x, y)],
        lambda x, y: (x.to(CPU, torch.float64), y.to(torch.ones(1))),
        lambda x, y: [part if part.device == CPU else part.to(CPU) for part in (x, y)],
    ],
)
def test_a_right_use_is_counted(use: Use) -> None:
    """Every way to name the device works, and is one move."""
    pair = _pair()
    use(*pair)

    assert [1, 1] == [part.moves for part in pair]


def test_its_size_may_be_asked_for() -> None:
    """How many samples a batch has is no secret, wherever it lies."""
    x, y = _pair()

    assert (2, 4, 2) == (len(y), x.size(1), x.shape[0])
    assert (2, 2, 8) == (x.ndim, x.dim(), x.numel())
    assert torch.int64 == y.dtype


def test_a_loader_keeps_what_it_dealt_out_last() -> None:
    """A second pass begins anew."""
    loader = UnplacedLoader([(torch.ones(1), torch.ones(1))] * 2, CPU)
    first = [x for x, _ in loader]
    second = [x for x, _ in loader]

    assert 2 == len(loader)
    assert second == [x for x, _ in loader.dealt]
    assert not set(first) & set(second)
