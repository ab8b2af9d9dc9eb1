"""What the command prints and writes: a table of forecasts, and the file that the page takes.

Standard library only.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from math import ceil, floor
from typing import Any

from lesson_code.forecast.cards import Card
from lesson_code.forecast.formula import BAND, HOST, Host, Step, forecast, memory_fits

HEADS = ("card", "batch", "format", "a step", "between", "samples/s", "memory", "decides")
AT_MOST = Host(0.0, 0.0, HOST.high)  # where a GPU takes fewer launches than are counted
DASH = "–"
Way = Callable[[float], int]
NOTHING: Mapping[int, "Measured"] = {}
FILE_FORMAT, FILE_VERSION = "gpu-training.forecast", 1


@dataclass(frozen=True)
class Counted:
    """A step with one batch size in one format."""

    batch: int
    step: Step


@dataclass(frozen=True)
class Measured:
    """A step in float32 on this machine's CPU.

    Attributes:
        machine: The processor, and how many threads of it computed.
        batch: Samples of the batch that was timed.
        seconds: The median time of its step.
    """

    machine: str
    batch: int
    seconds: float


@dataclass(frozen=True)
class OnGPU:
    """A step on this machine's GPU.

    Attributes:
        machine: The GPU.
        batch: Samples of the batch.
        format: One of ``cards.FORMATS``.
        seconds: The median time of a step; None if its memory was not enough.
        peak_bytes: The most memory of tensors at one time; 0 if that is not known.
    """

    machine: str
    batch: int
    format: str
    seconds: float | None
    peak_bytes: int


def table(
    counted: Sequence[Counted],
    cards: Sequence[Card],
    measured: Mapping[int, Measured] = NOTHING,
    recurrent: bool = False,
    on_gpu: Sequence[OnGPU] = (),
) -> str:
    """Every step on every card, and below it on this machine's GPU and CPU.

    A batch and a format that all rows share are said once, above them.

    Args:
        counted: The steps.
        cards: Where they are forecast.
        measured: What was timed here for each batch size, if anything was.
        recurrent: Whether the model has recurrent layers, whose launches are not those counted.
        on_gpu: What was timed on this machine's GPU, if there is one.
    """
    rows = [_forecast_row(one, card, recurrent) for one in counted for card in cards]
    rows += map(_gpu_row, on_gpu)
    rows += [_measured_row(size, there) for size, there in measured.items()]
    (batch, format), *others = {row[1:3] for row in rows}
    rows = [HEADS, *rows]
    above = []
    if not others:
        above = [f"batch {batch}, {format}"]
        rows = [(row[0], *row[3:]) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([*above, *lines, "", *_notes(counted, cards, measured, recurrent, on_gpu)])


def _forecast_row(one: Counted, card: Card, recurrent: bool) -> tuple[str, ...]:
    step = one.step
    fits = "fits" if memory_fits(step, card) else "does not fit"
    asked, held = (card.name, str(one.batch), step.format), f"{memory(step.peak_bytes)}, {fits}"
    if not has_units(card, step.format):
        return *asked, DASH, DASH, DASH, held, f"no {step.format} units"
    result = forecast(step, card, AT_MOST if recurrent else HOST)
    return (
        *asked,
        duration(result.time),
        f"{duration(result.low, floor)} and {duration(result.high, ceil)}",
        digits(one.batch / result.time),
        held,
        "not known" if recurrent else decides(step, card),
    )


def decides(step: Step, card: Card) -> str:
    """What takes longest: work or launches, or both where that depends on the host."""
    result = forecast(step, card)
    work = result.arithmetic + result.traffic
    if not step.launches * HOST.low < work < step.launches * HOST.high:
        return result.binds
    larger = "arithmetic" if result.arithmetic > result.traffic else "traffic"
    return f"{larger} or launches"


def has_units(card: Card, format: str) -> bool:
    """Whether a card computes in a format; without TF32 it takes float32 for it."""
    return format == "tf32" or format in card.peak


def _measured_row(batch: int, measured: Measured) -> tuple[str, ...]:
    seconds = measured.seconds * batch / measured.batch
    scaled = "" if batch == measured.batch else f"scaled from a batch of {measured.batch}"
    rate = digits(measured.batch / measured.seconds)
    return ("this CPU", str(batch), "float32", duration(seconds), "measured", rate, "", scaled)


def _gpu_row(there: OnGPU) -> tuple[str, ...]:
    asked = "this GPU", str(there.batch), there.format
    if there.seconds is None:
        return *asked, DASH, DASH, DASH, "does not fit", ""
    held = memory(there.peak_bytes) if there.peak_bytes else ""
    rate = digits(there.batch / there.seconds)
    return *asked, duration(there.seconds), "measured", rate, held, ""


def _notes(
    counted: Iterable[Counted],
    cards: Sequence[Card],
    measured: Mapping[int, Measured],
    recurrent: bool,
    on_gpu: Sequence[OnGPU],
) -> list[str]:
    low, high = HOST.low * 1e6, HOST.high * 1e6
    notes = [
        "Forecast, not measured: from the operations of the step and the cards' data sheets.",
        f"Arithmetic and traffic may be off {BAND:g} times both ways, and a launch may take "
        f"{low:.0f} to {high:.0f} µs of the host.",
    ]
    notes += [
        f"{card.name}: off {card.band:g} times both ways. {card.note}".strip()
        for card in cards
        if card.band
    ]
    if untested := ", ".join(card.name for card in cards if not card.tested):
        notes.append(f"{untested}: no published speed was compared, so nothing tests the forecast.")
    if recurrent:
        notes.append(
            "Recurrent layers take fewer launches on a GPU than can be counted here: the upper "
            "end has all of them, and the rest has none."
        )
    convolves = any(one.step.convolution_bytes for one in counted if one.step.format == "float32")
    if convolves and any("tf32" in card.peak for card in cards):
        notes.append(
            "float32 is without TF32. PyTorch lets convolutions use TF32 where a card has it, "
            "unless you forbid it: --format tf32 forecasts that."
        )
    notes += [f"This GPU: {machine}." for machine in {there.machine for there in on_gpu}]
    return notes + [f"This CPU: {machine}." for machine in {m.machine for m in measured.values()}]


def duration(seconds: float, way: Way = round) -> str:
    """A time with the digits of a forecast, and its unit."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        text = digits(seconds * factor, way)
        if not text.startswith("0"):
            return f"{text} {unit}"
    return f"{digits(seconds * 1e6, way)} µs"


def digits(value: float, way: Way = round) -> str:
    """A positive number with what a forecast knows: one digit, or two where the first is a 1.

    Args:
        value: It.
        way: ``round``, or ``floor`` and ``ceil`` for the ends of a band.
    """
    mantissa, _, exponent = f"{value:.6e}".partition("e")
    two = mantissa.startswith("1")
    last = int(exponent) - two
    count = way(int(mantissa.replace(".", "")) / 10 ** (6 - two))
    if count == 20:
        count, last = 2, last + 1
    return f"{count * 10.0**last:,.{max(0, -last)}f}"


def memory(size: int) -> str:
    """Bytes with three digits."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB")):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"


def file_content(
    training: str,
    torch: str,
    counted: Iterable[Counted],
    measured: Mapping[int, Measured] = NOTHING,
) -> dict[str, Any]:
    """What the page *Forecast your GPU* reads, ready for JSON; of what was timed the largest."""
    content: dict[str, Any] = {
        "format": FILE_FORMAT,
        "version": FILE_VERSION,
        "model": training,
        "torch": torch.partition("+")[0],
        "date": date.today().isoformat(),
        "steps": [{"batch": one.batch, **asdict(one.step)} for one in counted],
    }
    if measured:
        largest = max(measured.values(), key=lambda there: there.batch)
        content["measured"] = {"format": "float32", **asdict(largest)}
    return content
