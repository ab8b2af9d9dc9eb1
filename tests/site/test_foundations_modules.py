"""Part 3 of the foundations: its tables are true and complete, and it repeats no old error."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import nn

from tests.building import REPOSITORY

FOUNDATIONS = REPOSITORY / "docs" / "foundations"
MODULES = (FOUNDATIONS / "modules.md").read_text(encoding="utf-8")
LOSSES = (FOUNDATIONS / "losses.md").read_text(encoding="utf-8")

ANCHORS = [
    *((MODULES, name) for name in ("registration", "containers", "inspect")),
    *((LOSSES, name) for name in ("losses", "softmax-first", "regression")),
]
PHRASES = [
    (MODULES, "100,352 + 128 + 1,280 + 10 = 101,770 parameters"),
    (MODULES, "were the parameters visible to the optimizer?"),
    (MODULES, '"more than zero" proves nothing'),
    (LOSSES, "the first loss is about ln(classes)"),
    (LOSSES, "the accuracy looks fine, and the loss refuses to go below"),
    (LOSSES, "ln(1 + (K − 1) / e)"),
    (LOSSES, "[[quiet_faults.slow_sgd.softmax_first.loss]]"),  # FV6
    (LOSSES, "as many rows as there are classes"),
    (LOSSES, "in exactly the output's shape"),
]
LINKS = [
    (MODULES, "index.md#incident"),
    (MODULES, "autograd.md#accumulation"),
    (MODULES, "tensors.md#rank-and-shape"),
    (MODULES, "losses.md){ .next-step }"),
    (LOSSES, "index.md#incident"),
    (LOSSES, "training-loop.md){ .next-step }"),
]
# FC3, FC5, FC12-FC15, FC28, FC29, FC31: what is not so.
UNTRUE = [
    r"parameter count is not zero",
    r"\.view\(",
    r"may still run forward",
    r"silently excludes",
    r"softmax[^.]*numerical(?:ly)? (?:in)?stab",
    r"one-hot (?:vectors|rows|labels) are (?:wrong|refused)",
    r"compatible shape",
    r"printing the model catches",
]
FAILURES = [
    ("no `super().__init__()`, a layer as attribute", "in the constructor"),
    ("no `super().__init__()`, layers only in a list", "at first use"),
    ("`super().__init__()` called, **all** layers in a list", "at the optimizer"),
    ("`super().__init__()` called, **some** layers in a list", "never"),
]
TASKS = [
    ("one of several classes", "`nn.CrossEntropyLoss`"),
    ("yes or no, one output", "`nn.BCEWithLogitsLoss`"),
    ("several labels at once", "`nn.BCEWithLogitsLoss`"),
    ("regression", "`nn.MSELoss`, `nn.L1Loss`"),
    (
        "ranking, metric learning",
        "a margin or contrastive loss of `nn`: "
        "`MarginRankingLoss`, `TripletMarginLoss`, `CosineEmbeddingLoss`",
    ),
]


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
    """No pattern is left out, and none stands there untested."""
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


def test_the_table_of_failures_has_its_four_rows() -> None:
    """What is wrong, and when one hears of it."""
    assert FAILURES == [(row[0], row[2]) for row in table(MODULES, "What is wrong")]


def test_the_table_of_losses_has_a_row_for_each_task() -> None:
    """Five tasks with their losses, and each named loss exists."""
    rows = [(row[0], row[3]) for row in table(LOSSES, "Task")]

    assert TASKS == rows
    assert all(hasattr(nn, name) for _, losses in rows for name in re.findall(r"\w+Loss\b", losses))


@pytest.mark.parametrize(("text", "anchor"), ANCHORS)
def test_others_can_link_here(text: str, anchor: str) -> None:
    """The headings that other pages link to have their names."""
    assert f"{{ #{anchor} }}" in text


@pytest.mark.parametrize(("text", "phrase"), [*PHRASES, *LINKS])
def test_the_pages_say_what_they_have_to(text: str, phrase: str) -> None:
    """Required phrases and links stand on their page."""
    assert phrase in text


@pytest.mark.parametrize("statement", UNTRUE)
def test_no_old_error_is_repeated(statement: str) -> None:
    """Statements that turned out to be wrong stand nowhere."""
    assert re.search(statement, MODULES + LOSSES, re.IGNORECASE) is None


def test_the_drawing_shows_the_classifier_from_batch_to_loss() -> None:
    """Seven boxes in one line, with a sentence for those who can't see them."""
    drawing = re.search(r"```lesson-diagram .*text=\".+\"\nflowchart TD\n(.*?)```", MODULES, re.S)

    assert drawing is not None
    assert 6 == drawing[1].count("-->")
    for label in ("64 × 1 × 28 × 28", "64 × 784", "784 → 128", "ReLU", "off in eval", "128 → 10"):
        assert label in drawing[1]
    assert "compares with the labels" in drawing[1]


def test_the_prediction_stands_before_its_runs() -> None:
    """The question about MSE comes before every output that answers it."""
    question = LOSSES.index("id: foundations-two-class-mse")

    assert question < LOSSES.index("losses:print_mse_of_indices")
    assert question < LOSSES.index("losses:print_two_classes")
