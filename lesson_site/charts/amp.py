"""Mixed precision: what it does to the time and the memory of a training step."""

from collections.abc import Sequence
from dataclasses import dataclass

from lesson_site.charts.base import (
    CARD,
    NOTHING_MEASURED,
    Chart,
    Source,
    is_forecast,
    listed,
    measured_together,
    noise_warning,
    times,
    titled,
)
from lesson_site.charts.description import CARD as CARD_PLACE
from lesson_site.charts.description import Group, Row, Rows, mark_of
from results.quantities import write
from results.store import Figure, Store

FLOAT32, MIXED = "float32", "float16 autocast"
FORMATS = {
    "float32": FLOAT32,
    "tf32": "float32, TF32 products",
    "bfloat16": "bfloat16 autocast",
    "float16": MIXED,
}
SETUPS = (  # model, its figures, formats, and the step that is forecast
    ("MNIST classifier", "amp.mnist.cpu", ("float32", "bfloat16"), ""),
    ("MNIST classifier", "amp.mnist.cuda", ("float32", "bfloat16", "float16"), "mnist_64"),
    ("Four layers of 4,096", "amp.large.cuda", tuple(FORMATS), "large_1024"),
    ("ResNet-18", "cnn_step.batch_128.cuda", ("float32", "tf32", "float16"), "resnet18_128"),
)
ALIKE = 1.1  # a quotient below this is called about the same


@dataclass(frozen=True)
class Step:
    """A training step of one model in one format.

    Attributes:
        model: The model.
        device: ``CPU`` or ``GPU``.
        format: The number format.
        time: Seconds.
        peak: Most bytes held on the GPU; None on a CPU, where they aren't counted.
    """

    model: str
    device: str
    format: str
    time: Figure
    peak: Figure | None


def draw(store: Store, card: str = CARD) -> Chart:
    """Seconds per step in float32 and in shorter formats, with the peak memory beside."""
    source = measured_together(store, "mixed_precision", "cnn_step", card=card)
    setups = [_steps(source, *setup) for setup in SETUPS]
    steps = [step for setup in setups for step in setup]
    return Chart(
        "Time of a training step in float32 and in mixed precision",
        finding(steps).replace(CARD_PLACE, source.card_name),
        Rows([_group(setup, source.card_name) for setup in setups], "s", log=True),
        ("Model", "Device", "Format", "Time per step", "Peak memory"),
        [
            (step.model, _place(step), step.format, step.time, step.peak or "not counted")
            for step in steps
        ],
        source.where,
    )


def _steps(
    source: Source, model: str, name: str, formats: Sequence[str], forecast: str
) -> list[Step]:
    """A model's steps on one device; forecasts where no GPU has measured them."""
    names = [f"{name}_{format}" for format in formats]
    labels = [FORMATS[format] for format in formats]
    if not forecast:
        seconds = source.figures(names)
        return [Step(model, "CPU", *of, None) for of in zip(labels, seconds, strict=True)]
    of_card = [f"forecast.{forecast}.{format}.card" for format in formats]
    seconds = source.or_forecasts(names, [f"{name}.time" for name in of_card])
    peaks = source.or_forecasts(
        [f"{name}_peak" for name in names], [f"{name}.memory" for name in of_card]
    )
    return [Step(model, "GPU", *of) for of in zip(labels, seconds, peaks, strict=True)]


def _group(steps: Sequence[Step], card: str) -> Group:
    first, color = steps[0], 1 if steps[0].device == "CPU" else 2
    seconds = [step.time for step in steps]
    title = f"{first.model}, CPU" if first.device == "CPU" else titled(first.model, seconds)
    rows = [Row(step.format, color, mark_of(step.time)) for step in steps]
    return Group(title, rows, card=card)


def _place(step: Step) -> str:
    return CARD_PLACE if is_forecast([step.time]) else step.device


def finding(steps: Sequence[Step]) -> str:
    """For each model, how much faster than float32 the shortest format is, and what it saves."""
    setups = dict.fromkeys((step.model, step.device) for step in steps)
    grouped = [[step for step in steps if (step.model, step.device) == setup] for setup in setups]
    sentences = [_compared(first, others[-1]) for first, *others in grouped]
    said = " ".join(filter(None, sentences))
    if not said:
        return NOTHING_MEASURED
    return said + noise_warning([step.time for step in steps])


def _compared(before: Step, after: Step) -> str:
    """One sentence on a model, or nothing if one of the two times is missing."""
    slow, quick = before.time.value, after.time.value
    if slow is None or quick is None:
        return ""
    if is_forecast([before.time, after.time]):
        both = [f"{step.time.text} in {step.format}" for step in (before, after)]
        return f"{before.model}, forecast for the {CARD_PLACE}: {listed(both)}."
    quotient = max(slow, quick) / min(slow, quick)
    if quotient < ALIKE:
        speed = "takes about as long as float32"
    elif quick < slow:
        speed = f"is {times(quotient)} as fast as float32"
    else:
        speed = f"takes {times(quotient)} as long as float32"
    where = f"{before.model}, {before.device}"
    return f"{where}: {after.format} {speed}{_memory(before.peak, after.peak)}."


def _memory(before: Figure | None, after: Figure | None) -> str:
    if before is None or after is None or not before.value or after.value is None:
        return ""
    saved = round(100 * (1 - after.value / before.value))
    if saved == 0:
        return " and holds as much memory at its peak"
    share = write(abs(saved), "percent")
    return f" and holds {share} {'less' if saved > 0 else 'more'} memory at its peak"
