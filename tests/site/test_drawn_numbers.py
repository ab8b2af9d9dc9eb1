"""The numbers in the drawings: each one is computed from what the drawing is about."""

import inspect
import math
import re
import xml.etree.ElementTree as etree
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.data import DistributedSampler, TensorDataset

from lesson_code.benchmarks.how_we_measure import print_readings
from lesson_code.foundations.modules import DigitClassifier
from lesson_code.gpu_training.float16_arithmetic import spacing
from lesson_code.gpu_training.float_formats import BFLOAT16, FLOAT16, FLOAT32, TF32
from lesson_code.lab.fused_kernel import in_pytorch
from lesson_code.models import MNISTClassifier, parameter_count

DRAWINGS = Path("docs/drawings")
NAMES = sorted(path.stem for path in DRAWINGS.glob("*.svg"))
# Digits after a letter or a colon belong to a name, such as float32, fc1 or cuda:0
NUMBER = re.compile(r"(?<![\w:.,])\d+(?:[.,]\d+)*(?:e-?\d+)?(?!\w)")
BATCH = torch.zeros(64, 1, 28, 28)


def svg(name: str) -> etree.Element:
    """The drawing's file."""
    return etree.fromstring((DRAWINGS / f"{name}.svg").read_text(encoding="utf-8"))


def numbers(name: str) -> set[str]:
    """Every number that a drawing or its description says, but for those of its bullets."""
    said: dict[bool, str] = {True: "", False: ""}
    for element in svg(name).iter():
        if element.tag in ("title", "desc", "text"):
            said[element.get("class") == "count"] += f"{element.text or ''}\n"
    return set(NUMBER.findall(said[False])) - set(NUMBER.findall(said[True]))


def first_operands() -> set[str]:
    """The shapes of a flattened batch and of the first layer's weights."""
    model = MNISTClassifier()
    shapes = model.flatten(BATCH).shape, model.fc1.weight.shape
    return {str(size) for shape in shapes for size in shape}


def batch_in_bytes() -> set[str]:
    """The images of a batch, and its bytes."""
    return {str(len(BATCH)), f"{BATCH.nbytes:,}"}


def marks_near_a_tenth() -> set[str]:
    """Three neighbours in float16 around 0.1, and the update that moves none of them."""
    tenth, update = torch.tensor(0.1, dtype=torch.float16), "1e-5"
    assert tenth == tenth + float(update)
    below, above = (torch.nextafter(tenth, torch.tensor(end).half()) for end in (0.0, 1.0))
    return {f"{mark.item():.5f}" for mark in (below, tenth, above)} | {"0.1", update}


def bits() -> set[str]:
    """The exponent and fraction bits of four formats, and what TF32 leaves of float32's."""
    counts = [(f.exponent_bits, f.fraction_bits) for f in (FLOAT32, TF32, BFLOAT16, FLOAT16)]
    unread = FLOAT32.fraction_bits - TF32.fraction_bits
    return {str(count) for pair in counts for count in pair} | {str(unread)}


class Trips(TorchDispatchMode):
    """Counts the tensors that operations read and write."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Run one operation, and count."""
        result = func(*args, **(kwargs or {}))
        self.count += sum(isinstance(leaf, torch.Tensor) for leaf in tree_leaves((args, result)))
        return result


def trips() -> set[str]:
    """How many tensors three kernels read and write, and how many a single one would."""
    x, y = torch.ones(2), torch.ones(2)
    with Trips() as three:
        in_pytorch(x, y)
    one = len(inspect.signature(in_pytorch).parameters) + 1
    return {str(three.count), str(one)}


def squares() -> set[str]:
    """Three numbers, their squares, the sum, and the gradients of all of them."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    loss = y.sum()
    gradients = torch.autograd.grad(loss, [loss, y, x])
    return {f"{value:.0f}" for part in (x, y, loss, *gradients) for value in part.flatten()}


def classifier() -> set[str]:
    """The sizes and parameters of the digit classifier, and what its activation makes of -1."""
    model = DigitClassifier()
    sizes = [*BATCH.shape, *BATCH.flatten(1).shape, *model.fc1.weight.shape]
    sizes += [*model.fc2.weight.shape, int(torch.relu(torch.tensor(-1)))]
    counts = [parameter_count(layer) for layer in (model.fc1, model.fc2)]
    return {f"{number:,}" for number in sizes + counts}


def ranks() -> set[str]:
    """How many dimensions each of the drawn shapes has."""
    code = (text for text in svg("ranks").iter("text") if "code" in text.get("class", "").split())
    shapes = " ".join("".join(text.itertext()) for text in code).split("]")[:-1]
    return {str(len(re.findall(r"\w+", shape))) for shape in shapes}


def dealt() -> set[str]:
    """Eight samples, in turn, for two ranks."""
    samples = TensorDataset(torch.arange(8))
    shares: list[list[int]] = [
        list(DistributedSampler(samples, 2, r, shuffle=False)) for r in range(2)
    ]
    cards = [str(card) for hand in (range(8), *shares) for card in hand]
    drawn = [t.text for t in svg("data-parallel").iter("text") if (t.text or "").isdigit()]
    assert cards == drawn
    return set(cards)


def tiny_cores() -> set[str]:
    """The dashes of the workers' rows: each row is a line of dashes."""
    crowd = next(path for path in svg("workers").iter("path") if path.get("class") == "crowd")
    rows = re.findall(r"M[\d.]+ [\d.]+h([\d.]+)", crowd.get("d", ""))
    period = 3  # a dash of 2 and a gap of 1, in style.css
    return {f"{sum(math.ceil(float(row) / period) for row in rows):,}"}


def multiprocessors() -> set[str]:
    """The schedulers of the GPU: each row of lanes is one multiprocessor's."""
    return {str(sum(path.get("class") == "crowd" for path in svg("two-chips").iter("path")))}


# What the texts of a drawing may say in digits; other drawings say none
COMPUTED: dict[str, Callable[[], set[str]]] = {
    "backward": squares,
    "classifier": classifier,
    "data-parallel": dealt,
    "four-formats": bits,
    "fused-kernel": trips,
    "lost-update": marks_near_a_tenth,
    "pinned-copy": batch_in_bytes,
    "ranks": ranks,
    "tensor-core": lambda: {str(torch.finfo(torch.float16).bits)},
    "two-chips": multiprocessors,
    "two-operands": first_operands,
    "workers": tiny_cores,
}


@pytest.mark.parametrize("name", NAMES)
def test_every_number_in_a_drawing_is_computed(name: str) -> None:
    """A drawing says the numbers that its subject has, and no others."""
    expected = COMPUTED.get(name, set)()

    assert expected == numbers(name), (
        f"{DRAWINGS / name}.svg says other numbers than are computed; correct it, or give "
        f"{name!r} in COMPUTED a function that computes each from the drawing's subject"
    )


@pytest.mark.parametrize("name", COMPUTED)
def test_each_computed_drawing_is_there(name: str) -> None:
    """A drawing that was renamed takes its numbers along."""
    assert name in NAMES


def paths(name: str, css: str) -> list[str]:
    """What a drawing draws with a class, path by path, in the file's order."""
    return [path.get("d", "") for path in svg(name).iter("path") if path.get("class") == css]


def test_the_lost_update_is_drawn_to_scale() -> None:
    """The arrow is to the distance of two marks as the update is to float16's spacing."""
    left, right, _ = re.findall(r"M([\d.]+) ", paths("lost-update", "glyph")[0])
    ((start, end),) = re.findall(r"M([\d.]+) .*H([\d.]+)", paths("lost-update", "new")[0])

    drawn = (float(end) - float(start)) / (float(right) - float(left))

    assert drawn == pytest.approx(1e-5 / spacing(0.1, FLOAT16), rel=0.01)


def test_each_format_has_as_many_cells_as_bits() -> None:
    """Row by row: the sign, the exponent, the fraction."""
    classes = {"sign": "wall", "exponent": "tint new", "fraction": "part"}
    formats = (FLOAT32, TF32, BFLOAT16, FLOAT16)
    expected = {
        "sign": [1 for _ in formats],
        "exponent": [f.exponent_bits for f in formats],
        "fraction": [f.fraction_bits for f in formats],
    }

    cells = {
        part: [row.count("M") for row in paths("four-formats", css)]
        for part, css in classes.items()
    }

    assert expected == cells


def test_each_trip_is_an_arrow() -> None:
    """Three kernels and one: an arrow for each tensor that is read or written."""
    arrows = "".join(path.get("d", "") for path in svg("fused-kernel").iter("path"))

    assert sum(map(int, trips())) == arrows.count("M")


def test_the_drawn_clocks_read_as_it_says() -> None:
    """Three clocks are wrong in the direction that is written beside them, and one is right."""
    truth, *readings = print_readings().values()
    way = {True: "too much", False: "too little"}
    expected = [
        "the work" if math.isclose(seconds, truth, rel_tol=0.01) else way[seconds > truth]
        for seconds in readings
    ]

    verdicts = [
        text.text for text in svg("clocks").iter("text") if "-text" in text.get("class", "")
    ]

    assert expected == verdicts
