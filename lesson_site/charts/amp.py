"""Mixed precision: what it does to the time and the memory of a training step."""

from collections.abc import Sequence
from dataclasses import dataclass

from lesson_site.charts import plots
from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    measured_together,
    noise_warning,
    times,
)
from lesson_site.charts.drawing import Bar, bar_chart, log_axis
from results.quantities import write
from results.store import Figure, Store

FLOAT32, MIXED = "float32", "float16 autocast"
FORMATS = {
    "float32": FLOAT32,
    "tf32": "float32, TF32 products",
    "bfloat16": "bfloat16 autocast",
    "float16": MIXED,
}
SETUPS = (
    ("MNIST classifier, CPU", "amp.mnist.cpu", ("float32", "bfloat16"), 1),
    ("MNIST classifier, GPU", "amp.mnist.cuda", ("float32", "bfloat16", "float16"), 2),
    ("Four layers of 4,096, GPU", "amp.large.cuda", tuple(FORMATS), 2),
    ("ResNet-18, GPU", "cnn_step.batch_128.cuda", ("float32", "tf32", "float16"), 2),
)
ALIKE = 1.1  # a quotient below this is called about the same


@dataclass(frozen=True)
class Step:
    """A training step of one model in one format.

    Attributes:
        setup: Model and device.
        format: The number format.
        time: Seconds.
        peak: Most bytes held on the GPU; None on a CPU, where they aren't counted.
        color: The number of its colour.
    """

    setup: str
    format: str
    time: Figure
    peak: Figure | None
    color: int


def draw(store: Store) -> Chart:
    """Seconds per step in float32 and in shorter formats, with the peak memory beside."""
    source = measured_together(store, "mixed_precision", "cnn_step")
    steps = [
        Step(
            setup,
            FORMATS[format],
            source.figure(f"{name}_{format}"),
            source.figure(f"{name}_{format}_peak") if name.endswith("cuda") else None,
            color,
        )
        for setup, name, formats, color in SETUPS
        for format in formats
    ]
    axis = log_axis([step.time.value for step in steps if step.time.value is not None], "s")
    bars = [Bar(step.setup, step.format, step.time, step.color) for step in steps]
    svg, height = bar_chart(bars, axis)
    return Chart(
        "Time of a training step in float32 and in mixed precision",
        finding(steps),
        svg,
        height,
        ("Model and device", "Format", "Time per step", "Peak memory"),
        [(step.setup, step.format, step.time, step.peak or "not counted") for step in steps],
        source.where,
        [plots.bars_of(device, bars, color) for device, color in (("CPU", 1), ("GPU", 2))],
        plots.bar_layout("Time per step", list(map(plots.line_of, bars)), axis),
    )


def finding(steps: Sequence[Step]) -> str:
    """For each model, how much faster than float32 the shortest format is, and what it saves."""
    if not any(step.time.known for step in steps):
        return NOTHING_MEASURED
    sentences, missing = [], []
    for setup in dict.fromkeys(step.setup for step in steps):
        first, *others = [step for step in steps if step.setup == setup]
        sentence = _compared(first, others[-1])
        if sentence:
            sentences.append(sentence)
        else:
            missing.append(setup)
    if missing:
        sentences.append(f"Not measured yet: {'; '.join(missing)}.")
    return " ".join(sentences) + noise_warning([step.time for step in steps])


def _compared(before: Step, after: Step) -> str:
    """One sentence on a model, or nothing if one of the two times is missing."""
    slow, quick = before.time.value, after.time.value
    if slow is None or quick is None:
        return ""
    quotient = max(slow, quick) / min(slow, quick)
    if quotient < ALIKE:
        speed = "takes about as long as float32"
    elif quick < slow:
        speed = f"is {times(quotient)} as fast as float32"
    else:
        speed = f"takes {times(quotient)} as long as float32"
    return f"{before.setup}: {after.format} {speed}{_memory(before.peak, after.peak)}."


def _memory(before: Figure | None, after: Figure | None) -> str:
    if before is None or after is None or not before.value or after.value is None:
        return ""
    saved = round(100 * (1 - after.value / before.value))
    if saved == 0:
        return " and holds as much memory at its peak"
    share = write(abs(saved), "percent")
    return f" and holds {share} {'less' if saved > 0 else 'more'} memory at its peak"
