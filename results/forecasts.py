"""Forecast figures: what a counted step of the lesson takes on a card that nobody measured.

``results/steps.json`` has the counts, ``lesson_code/forecast`` the cards and the formula. A figure
is called ``forecast.STEP.FORMAT.CARD.QUANTITY``, such as ``forecast.mnist_64.float32.t4.time``.
"""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from lesson_code.accounting import batches_per_epoch
from lesson_code.forecast.cards import FORMATS, Card, CardError, read_cards
from lesson_code.forecast.formula import GAIN_BAND, HOST, Host, Step, forecast
from results import quantities
from results.timeline import read_models, trip_of

STEPS = Path("results/steps.json")
MNIST_IMAGES = 60_000
GB = 1e9
PREFIX = "forecast"


class ForecastError(ValueError):
    """A name that no forecast has, or counts that can't be read; the message says what to do."""


@dataclass(frozen=True)
class CountedStep:
    """A step that pages may name.

    Attributes:
        name: How figures call it, such as ``mnist_64``.
        what: What it is, in words.
        batch: Samples of a batch.
        step: What it is made of.
    """

    name: str
    what: str
    batch: int
    step: Step


@dataclass(frozen=True)
class ForecastFigure:
    """A forecast, ready for a page.

    Attributes:
        name: As a page calls it.
        what: What it is, in words.
        value: In the base unit.
        low: The lower end of its band; equal to the value where it is counted and has none.
        high: The upper end.
        unit: One of ``quantities.UNITS``.
        text: The value with its unit, with as many digits as the band supports.
        source: What it is computed from.
    """

    name: str
    what: str
    value: float
    low: float
    high: float
    unit: str
    text: str
    source: str


def write_steps(counted: Iterable[CountedStep], torch: str, path: Path = STEPS) -> None:
    """Write the counts, one step a line.

    Raises:
        OSError: If the file can't be written.
    """
    lines = [
        json.dumps({"name": one.name, "what": one.what, "batch": one.batch, **asdict(one.step)})
        for one in counted
    ]
    head = f'{{"version": 1, "torch": {json.dumps(torch)}, "steps": [\n'
    path.write_text(head + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def read_steps(path: Path = STEPS) -> dict[tuple[str, str], CountedStep]:
    """The counted steps by their name and format.

    Raises:
        ForecastError: If the file can't be read, or a step in it lacks a count.
    """
    return _read(path)[0]


def counted_with(path: Path = STEPS) -> str:
    """The version of PyTorch whose operations were counted.

    Raises:
        ForecastError: As ``read_steps``.
    """
    return _read(path)[1]


Counted = tuple[dict[tuple[str, str], CountedStep], str]


def _read(path: Path) -> Counted:
    try:
        return _read_once(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise ForecastError(
            f"can't read {path}: {problem}; `python -m benchmarks count` writes it"
        ) from None


@lru_cache(maxsize=4)
def _read_once(path: Path, _: int) -> Counted:
    content = json.loads(path.read_text(encoding="utf-8"))
    found = [_counted(entry) for entry in content["steps"]]
    return {(one.name, one.step.format): one for one in found}, str(content["torch"])


def _counted(entry: dict[str, object]) -> CountedStep:
    step = Step(**{field.name: entry[field.name] for field in fields(Step)})  # type: ignore[arg-type]
    return CountedStep(str(entry["name"]), str(entry["what"]), int(str(entry["batch"])), step)


def figure(name: str, steps: Path = STEPS) -> ForecastFigure:
    """The forecast of that name; worked out again only after the counts have changed.

    Raises:
        ForecastError: If there is none, or its counts or its card can't be read.
    """
    try:
        changed = steps.stat().st_mtime_ns
    except OSError:
        changed = 0  # reading them says it
    return _figure_once(name, steps, changed)


@lru_cache(maxsize=4096)
def _figure_once(name: str, steps: Path, _: int) -> ForecastFigure:
    try:
        prefix, of, format, card_id, quantity = name.split(".")
    except ValueError:
        prefix = ""
    if prefix != PREFIX:
        raise ForecastError(
            f"{name!r} is not the name of a forecast; such a name is "
            f"{PREFIX}.STEP.FORMAT.CARD.QUANTITY"
        )
    try:
        cards = read_cards()
    except CardError as problem:
        raise ForecastError(str(problem)) from None
    _require(card_id, cards, "card", name)
    _require(quantity, QUANTITIES, "quantity", name)
    _require(format, FORMATS, "format", name)
    counted = _step(of, format, name, steps)
    try:
        return QUANTITIES[quantity](name, counted, cards[card_id], steps)
    except ForecastError:
        raise  # it says the name already
    except ValueError as problem:
        raise ForecastError(f"{name}: {problem}") from None


def times_the_arithmetic(of: str, than: str) -> float:
    """Floating-point operations of a counted step over those of another, both in float32.

    Raises:
        ForecastError: If one of them was not counted.
    """
    steps = [_step(name, "float32", name, STEPS).step for name in (of, than)]
    more, less = (sum(step.flop.values()) for step in steps)
    return more / less


def _step(of: str, format: str, name: str, path: Path) -> CountedStep:
    """A step in a format; in TF32 it does what it does in float32."""
    steps = read_steps(path)
    key = of, "float32" if format == "tf32" else format
    if key not in steps:
        _require(of, {step for step, _ in steps}, "step", name)
        there = [format for step, format in steps if step == of]
        raise ForecastError(f"{name}: {of} was counted in {', '.join(there)}, not in {format}")
    counted = steps[key]
    return replace(counted, step=replace(counted.step, format=format))


def _require(asked: str, known: Collection[str], what: str, name: str) -> None:
    if asked not in known:
        near = get_close_matches(asked, known, 3) or sorted(known)[:3]
        raise ForecastError(f"{name}: there is no {what} {asked!r}; there is {', '.join(near)}")


def _time(name: str, counted: CountedStep, card: Card, _: Path) -> ForecastFigure:
    result = forecast(counted.step, card)
    return _figure(
        name, "seconds of a step", counted, card, "s", result.time, result.low, result.high
    )


def _rate(name: str, counted: CountedStep, card: Card, _: Path) -> ForecastFigure:
    result = forecast(counted.step, card)
    value, low, high = (counted.batch / s for s in (result.time, result.high, result.low))
    return _figure(name, "samples in a second", counted, card, "samples_per_s", value, low, high)


def _epoch(name: str, counted: CountedStep, card: Card, _: Path) -> ForecastFigure:
    """As many steps as an epoch of MNIST has, when its images are on the card already."""
    result = forecast(counted.step, card)
    steps = batches_per_epoch(MNIST_IMAGES, counted.batch)
    value, low, high = (steps * seconds for seconds in (result.time, result.low, result.high))
    what = f"seconds of {steps} steps, an epoch of MNIST that is on the card"
    return _figure(name, what, counted, card, "s", value, low, high)


def _sent_rate(name: str, counted: CountedStep, card: Card, _: Path) -> ForecastFigure:
    """As in the race: a step begins with the trip of its batch of MNIST, which Python waits for."""
    result = forecast(counted.step, card)
    trip = trip_of(read_models()["mnist"].sample_bytes * counted.batch)
    times = (result.time + trip.likely, result.high + trip.worst, result.low + trip.best)
    value, low, high = (counted.batch / seconds for seconds in times)
    what = "samples in a second, each batch sent to the GPU within its step"
    found = _figure(name, what, counted, card, "samples_per_s", value, low, high)
    return replace(found, source=f"{found.source}, with the trip of the batch")


def _memory(name: str, counted: CountedStep, card: Card, _: Path) -> ForecastFigure:
    peak = float(counted.step.peak_bytes)
    unit = "gigabytes" if peak >= GB else "megabytes"
    return _figure(name, "most memory of a step", counted, card, unit, peak, peak, peak)


def _launches(name: str, counted: CountedStep, card: Card, _: Path) -> ForecastFigure:
    launches = float(counted.step.launches)
    return _figure(name, "launches of a step", counted, card, "count", launches, launches, launches)


def _gain(name: str, counted: CountedStep, card: Card, steps: Path) -> ForecastFigure:
    """How many times as fast as float32; what both share of host and card cancels out.

    So a card whose times have a wider band has none for its gains.
    """
    plain = _step(counted.name, "float32", name, steps)
    low, value, high = (
        forecast(plain.step, card, Host(likely=s)).time
        / forecast(counted.step, card, Host(likely=s)).time
        for s in HOST
    )
    low, high = min(low, high) / GAIN_BAND, max(low, high) * GAIN_BAND
    return _figure(name, "times as fast as float32", counted, card, "times", value, low, high)


QUANTITIES: dict[str, Callable[[str, CountedStep, Card, Path], ForecastFigure]] = {
    "time": _time,
    "rate": _rate,
    "epoch": _epoch,
    "sent_rate": _sent_rate,
    "memory": _memory,
    "launches": _launches,
    "gain": _gain,
}


def _figure(
    name: str,
    quantity: str,
    counted: CountedStep,
    card: Card,
    unit: str,
    value: float,
    low: float,
    high: float,
) -> ForecastFigure:
    step = counted.step
    text = quantities.write(value, unit, quantities.coarse(value) if low < high else 0.0)
    source = (
        f"forecast from the {step.operations:,} operations of the step and the rates of the card"
        if low < high
        else f"counted from the {step.operations:,} operations of the step"
    )
    what = f"{quantity}: {counted.what}, {step.format}, {card.name}"
    return ForecastFigure(name, what, value, low, high, unit, text, source)
