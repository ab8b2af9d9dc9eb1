"""What the browser needs to forecast: counted steps, rates of cards, constants, and words."""

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any

from lesson_code.forecast import formula
from lesson_code.forecast.cards import Card, read_cards
from lesson_code.forecast.formula import HOST, Step
from lesson_site.forecast.models import MODELS, Model
from lesson_site.forecast.words import FORMATS, LAYOUT_NAMES, LIMITS, PARTS, WORDS
from results import points
from results.forecasts import read_steps
from results.store import open_store

RACED = ("mnist", "float32")  # what the race trains
RACED_BATCHES = (16, 64, 256, 1024, 4096)
SPEEDS = ("training_seen", "training_unseen")
DIGITS = 3  # of counts and times that the page gets: more than a forecast has


@dataclass(frozen=True)
class Counted:
    """A step of a model."""

    batch: int
    step: Step


@dataclass(frozen=True)
class Point:
    """What somebody published of a model's step.

    Attributes:
        model: A key of ``MODELS``.
        card: A card's id.
        format: One of ``FORMATS``.
        channels_last: Whether the channels of a pixel lay side by side.
        batch: Samples of their step.
        seconds: What it took them.
        who: Who published it.
    """

    model: str
    card: str
    format: str
    channels_last: bool
    batch: int
    seconds: float
    who: str


@dataclass(frozen=True)
class Cell:
    """A step of the sweep over width and batch, with what our CPU needs for it.

    Attributes:
        width: Units of each hidden layer.
        batch: Samples of a step.
        step: What it is made of.
        seconds: Of the CPU.
    """

    width: int
    batch: int
    step: Step
    seconds: float


def rules() -> dict[str, float]:
    """The formula's constants."""
    return {
        "arithmetic": formula.ARITHMETIC_SHARE,
        "bandwidth": formula.BANDWIDTH_SHARE,
        "memory": formula.MEMORY_SHARE,
        "band": formula.BAND,
    }


def card_data(card: Card) -> dict[str, Any]:
    """A card; a band of zero means everybody's."""
    return {
        "name": card.name,
        "memory": card.memory_bytes,
        "bandwidth": int(card.bandwidth),
        "peak": {format: int(peak) for format, peak in card.peak.items()},
        "band": card.band,
        "tested": card.tested,
    }


def counted(model: Model) -> list[Counted]:
    """Every step of a model that was counted, the smallest batch first."""
    steps = read_steps()
    return [
        Counted(batch, _shortened(steps[name, format].step))
        for batch in sorted({one.batch for one in steps.values()})
        for format in FORMATS
        if (name := model.steps.format(batch=batch), format) in steps
    ]


def step_of(model: str, batch: int, format: str, channels_last: bool) -> Step | None:
    """A model's step; None if it was not counted.

    In TF32 it does what it does in float32. Channels last it reads and writes as much as otherwise:
    the layout changes what tensor cores have to convert.
    """
    counted_in = "float32" if format == "tf32" else format
    found = [
        replace(one.step, format=format, channels_last=channels_last)
        for one in counted(MODELS[model])
        if (one.batch, one.step.format) == (batch, counted_in)
    ]
    return found[0] if found else None


def sweep() -> list[Cell]:
    """Every step of the sweep that a CPU of ours measured, by width and batch."""
    store = open_store()
    cells = []
    for (name, _), one in sorted(read_steps().items()):
        kind, _, size = name.partition("_")
        if kind == "sweep":
            width = int(size.partition("_")[0])
            figure = store.figure(f"step_sweep.width_{width}.batch_{one.batch}.cpu")
            if figure.value is not None:
                seconds = _digits(figure.value)
                cells.append(Cell(width, one.batch, _shortened(one.step), seconds))
    return sorted(cells, key=lambda cell: (cell.width, cell.batch))


def cpu_seconds(model: str, batch: int, format: str) -> tuple[str, float] | None:
    """What a CPU of ours needs for a step, and which it is; None where nobody measured it."""
    if (model, format) != RACED or batch not in RACED_BATCHES:
        return None
    figure = open_store().figure(f"race.width_256.batch_{batch}.cpu")
    processor = re.search(r"[^,;]+, \d+ cores?(?=, \d+ threads?, PyTorch)", figure.source)
    if not figure.value or not processor:
        return None
    return processor[0].strip(), _digits(batch / figure.value)


def payload() -> dict[str, Any]:
    """Everything, as ``docs/assets/elements/forecast/choices.js`` reads it."""
    return {
        "rules": rules(),
        "host": list(HOST),
        "words": WORDS,
        "parts": PARTS,
        "formats": FORMATS,
        "layouts": LAYOUT_NAMES,
        "limits": LIMITS,
        "models": {name: _model_data(model) for name, model in MODELS.items()},
        "cards": {card.id: card_data(card) for card in read_cards().values()},
        "sweep": [
            [cell.width, cell.seconds, cell.batch, *_step_data(cell.step)] for cell in sweep()
        ],
        "cpu": [
            [*RACED, batch, *found]
            for batch in RACED_BATCHES
            if (found := cpu_seconds(RACED[0], batch, RACED[1]))
        ],
        "points": [list(astuple(point)) for point in published()],
    }


def _model_data(model: Model) -> dict[str, Any]:
    steps = [[one.batch, *_step_data(one.step)] for one in counted(model)]
    return {"name": model.name, "things": model.things, "steps": steps}


def _digits(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _shortened(step: Step) -> Step:
    """The step with counts that are short to write."""
    return replace(
        step,
        flop={format: int(_digits(flop)) for format, flop in step.flop.items()},
        bytes=int(_digits(step.bytes)),
        convolution_bytes=int(_digits(step.convolution_bytes)),
        peak_bytes=int(_digits(step.peak_bytes)),
    )


def _step_data(step: Step) -> list[Any]:
    return [
        step.format,
        int(step.channels_last),
        dict(step.flop),
        step.bytes,
        step.convolution_bytes,
        step.launches,
        step.peak_bytes,
    ]


def published() -> Iterator[Point]:
    """What others published of these models."""
    models = {network: name for name, model in MODELS.items() for network in model.networks}
    cards = read_cards()
    for file in SPEEDS:
        for point in points.read(file):
            if point.network in models and point.card in cards:
                yield Point(
                    models[point.network],
                    point.card,
                    point.format,
                    point.layout == "channels_last",
                    point.batch,
                    _digits(point.seconds),
                    point.source.who,
                )


def points_of(model: str, card: str, format: str) -> list[Point]:
    """What others published of a model on a card in a format."""
    asked = (model, card, format)
    return [point for point in published() if (point.model, point.card, point.format) == asked]
