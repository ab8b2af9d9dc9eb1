"""Part 3 of the foundations: what its tables say is what PyTorch does."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import nn

from tests.building import REPOSITORY

FOUNDATIONS = REPOSITORY / "docs" / "foundations"
MODULES = (FOUNDATIONS / "modules.md").read_text(encoding="utf-8")
LOSSES = (FOUNDATIONS / "losses.md").read_text(encoding="utf-8")


class Holder(nn.Module):
    """A module with one thing in it."""

    def __init__(self, hold: Callable[[nn.Module], None]) -> None:
        super().__init__()
        hold(self)


def keep(value: object) -> Callable[[nn.Module], None]:
    """Assign a value to an attribute."""
    return lambda module: setattr(module, "held", value)


def buffer(persistent: bool) -> Callable[[nn.Module], None]:
    """Register a tensor as a buffer."""
    return lambda module: module.register_buffer("held", torch.ones(2), persistent)


def linear() -> nn.Linear:
    """A small layer."""
    return nn.Linear(2, 2)


# What holds the tensor, and the way to the tensor.
PATTERNS: dict[
    str, tuple[Callable[[], Callable[[nn.Module], None]], Callable[..., torch.Tensor]]
] = {
    "layer as attribute": (lambda: keep(linear()), lambda m: m.held.weight),
    "`nn.ModuleList`": (lambda: keep(nn.ModuleList([linear()])), lambda m: m.held[0].weight),
    "`nn.ModuleDict`": (lambda: keep(nn.ModuleDict({"a": linear()})), lambda m: m.held["a"].weight),
    "plain list or dict of layers": (lambda: keep([linear()]), lambda m: m.held[0].weight),
    "`nn.Parameter` as attribute": (lambda: keep(nn.Parameter(torch.ones(2))), lambda m: m.held),
    "`nn.ParameterList`": (lambda: keep(nn.ParameterList([torch.ones(2)])), lambda m: m.held[0]),
    "`register_buffer(name, tensor)`": (lambda: buffer(True), lambda m: m.held),
    "`register_buffer(…, persistent=False)`": (lambda: buffer(False), lambda m: m.held),
    "plain tensor as attribute": (lambda: keep(torch.ones(2)), lambda m: m.held),
}


def table(text: str, first_column: str) -> list[list[str]]:
    """The cells of the table whose heading begins with this word, one list a row."""
    lines = text.split(f"| {first_column} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_containers_has_a_row_for_each_pattern() -> None:
    """No pattern is left out, and none is there untested."""
    assert list(PATTERNS) == [row[0] for row in table(MODULES, "Pattern")]


@pytest.mark.parametrize("row", table(MODULES, "Pattern"), ids=lambda row: row[0])
def test_every_cell_of_the_containers_is_true(row: list[str]) -> None:
    """Trainable, moved by ``.to``, saved: what PyTorch does is what the cell says."""
    pattern, trainable, moves, saved = row[:4]
    hold, tensor_of = PATTERNS[pattern]
    module = Holder(hold())

    is_trainable = any(p is tensor_of(module) for p in module.parameters() if p.requires_grad)
    is_saved = len(module.state_dict()) > 0
    is_moved = tensor_of(module.to("meta")).device.type == "meta"

    cells = {True: "yes", False: "no"}
    assert [trainable, moves, saved] == [cells[is_trainable], cells[is_moved], cells[is_saved]]


def test_a_dict_of_layers_is_as_invisible_as_a_list() -> None:
    """The row names both."""
    module = Holder(keep({"a": linear()}))

    assert [] == list(module.parameters())


def test_the_table_of_losses_names_what_exists() -> None:
    """Each named loss is one of PyTorch's."""
    named = [name for row in table(LOSSES, "Task") for name in re.findall(r"\w+Loss\b", row[3])]

    assert len(named) >= 5
    assert [] == [name for name in named if not hasattr(nn, name)]
