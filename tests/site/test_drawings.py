"""The drawings say what the pages' code says: its names, its order, its shapes and its values."""

import re
import xml.etree.ElementTree as etree
from collections.abc import Iterator
from itertools import pairwise

import pytest
import torch
from torch import nn

from lesson_code.foundations.modules import DigitClassifier
from lesson_code.foundations.training_loop import ORDERS, train
from lesson_site.drawings import DRAWINGS
from lesson_site.markdown_source import sources
from lesson_site.sections import read_section
from lesson_site.snippets import SHOWN

NAMES = sorted(path.stem for path in DRAWINGS.glob("*.svg"))
PAGES = sources().values()
WORD = re.compile(r"[A-Za-z_]\w*")
LIBRARY = {
    name
    for owner in (torch, torch.Tensor, torch.cuda, torch.amp.GradScaler, nn, nn.Module, nn.utils)
    for name in dir(owner)
}


def pages_with(name: str) -> list[str]:
    """The text of each page that shows a drawing."""
    shown = {page.text: {fence.options.get("show") for fence in page.fences} for page in PAGES}
    return [text for text, names in shown.items() if name in names]


def root_of(name: str) -> etree.Element:
    """A drawing as a tree."""
    return etree.fromstring((DRAWINGS / f"{name}.svg").read_text(encoding="utf-8"))


def texts(name: str, css: str = "") -> list[str]:
    """What is written in a drawing, or that part of it which has a class, in the file's order."""
    found = (element for element in root_of(name).iter() if element.tag in ("text", "tspan"))
    return [
        "".join(element.itertext())
        for element in found
        if (css in element.get("class", "").split() if css else element.tag == "text")
    ]


def names_on(page: str) -> Iterator[str]:
    """The words of a page and of the code that it shows."""
    yield from WORD.findall(page)
    for match in SHOWN.finditer(page):
        yield from WORD.findall(read_section(match["target"]).text)


def widths(name: str, css: str) -> list[float]:
    """How wide the shapes of a class are that begin with a step to the right."""
    drawn = [path.get("d", "") for path in root_of(name).iter("path") if path.get("class") == css]
    return [float(step) for d in drawn for step in re.findall(r"^M[\d.]+ [\d.]+h([\d.]+)v16h", d)]


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_on_a_page(name: str) -> None:
    """No file is left behind when a page changes its mind."""
    assert pages_with(name), f"show {name!r} in a lesson-drawing fence, or remove its file"


@pytest.mark.parametrize("name", NAMES)
def test_names_in_a_drawing_are_those_of_the_page(name: str) -> None:
    """What is set as code is on the page, in code that the page shows, or in PyTorch."""
    drawn = {word for text in texts(name, "code") for word in WORD.findall(text)}

    for page in pages_with(name):
        strange = drawn - LIBRARY - set(names_on(page))
        assert set() == strange, f"{DRAWINGS / name}.svg says in code what its page does not"


def test_the_record_and_its_gradients_are_those_of_autograd() -> None:
    """The drawn values, gradients and record entries come out of this very computation."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    y.retain_grad()
    loss = y.sum()
    loss.backward()
    walked = [loss.grad_fn]
    while walked[-1] is not None and walked[-1].next_functions:
        walked.append(walked[-1].next_functions[0][0])

    entries = [text for text in texts("backward", "code") if text.endswith(("0", "Grad"))]
    numbers = [text for text in texts("backward") if re.fullmatch(r"[\d ]+", text)]

    assert [type(entry).__name__ for entry in reversed(walked)] == entries
    assert y.grad is not None
    assert x.grad is not None
    cells = [*x.tolist(), *y.tolist(), loss.item(), *x.grad.tolist()]
    rows = [y.grad.tolist(), x.grad.tolist(), [1.0]]
    expected = [f"{cell:.0f}" for cell in cells]
    expected += [" ".join(f"{value:.0f}" for value in row) for row in rows]
    assert sorted(expected) == sorted(numbers)


def test_the_classifier_is_drawn_to_scale() -> None:
    """Each bar is as wide as its rows have numbers, and each layer has its parameters."""
    model = DigitClassifier()
    sizes = [model.fc1.in_features, model.fc1.out_features, model.fc1.out_features]
    sizes += [model.fc2.out_features]
    counts = [sum(p.numel() for p in layer.parameters()) for layer in (model.fc1, model.fc2)]

    drawn = widths("classifier", "machine")

    assert sizes == [pytest.approx(width * sizes[0] / drawn[0], rel=0.02) for width in drawn]
    assert [f"{count:,} parameters" for count in counts] == [
        text for text in texts("classifier") if "parameters" in text
    ]


def test_the_drawn_order_of_the_five_steps_trains() -> None:
    """The stations, in the order of their numbers, do what the order as it should be does."""
    actions = {"forward": "forward", "reset": "zero", "backward": "backward", "update": "step"}

    drawn = tuple(actions[text] for text in texts("training-loop", "station") if text in actions)

    assert 4 == len(drawn)
    assert train(ORDERS["as it should be"]) == train(drawn)


def test_the_drawn_step_with_a_scaler_has_the_order_of_its_code() -> None:
    """From top to bottom the drawing has the calls of the snippet above it."""
    code = read_section("gpu_training/loss_scaling.py:scaled_step").text
    drawn = [text for text in texts("amp-step", "code") if "(" in text and "unscale_" not in text]

    places = [code.index(call) for call in drawn]

    assert 5 == len(places)
    assert all(before < after for before, after in pairwise(places))


def test_the_drawn_shapes_are_those_of_the_table() -> None:
    """Rank by rank, the drawing names the dimensions that the page's table names."""
    (page,) = pages_with("ranks")

    table = re.findall(r"^\| \d, .*?\| `(\[.*?\])` \|", page, re.MULTILINE)
    drawn = [text for text in texts("ranks", "code") if text]

    assert 6 == len(table)
    assert " ".join(table) == " ".join(drawn)
