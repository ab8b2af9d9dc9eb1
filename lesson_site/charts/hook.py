"""The hook: one epoch of a tiny task and of MNIST, on two devices."""

from collections.abc import Sequence

from lesson_site.charts import plots
from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    measured_together,
    noise_warning,
    times,
)
from lesson_site.charts.drawing import Bar, bar_chart, log_axis
from results.store import Store

TASKS = (
    ("Tiny model, 100 samples", "tiny_epoch.samples_100"),
    ("MNIST model, 60,000 images", "mnist_epoch"),
)


def draw(store: Store) -> Chart:
    """Seconds per epoch of the tiny task and of MNIST, on CPU and GPU."""
    source = measured_together(store, "tiny_epoch", "mnist_epoch")
    bars = [
        Bar(task, label, source.figure(f"{name}.{device}"), color)
        for task, name in TASKS
        for label, device, color in (("CPU", "cpu", 1), ("GPU", "cuda", 2))
    ]
    values = [bar.figure.value for bar in bars if bar.figure.value is not None]
    axis = log_axis(values, "s")
    svg, height = bar_chart(bars, axis)
    labels = [task for task, _ in TASKS]
    traces = [
        plots.bar_trace(
            label, labels, [bar.figure for bar in bars if bar.label == label], color, label
        )
        for label, color in (("CPU", 1), ("GPU", 2))
    ]
    return Chart(
        "Time of one training epoch",
        finding(bars),
        svg,
        height,
        ("Task", "Device", "Time per epoch"),
        [(bar.group, bar.label, bar.figure) for bar in bars],
        source.where,
        traces,
        plots.bar_layout("Time per epoch", labels, axis, bars=2),
    )


def finding(bars: Sequence[Bar]) -> str:
    """One sentence for each task, and one for what is missing."""
    noise = noise_warning([bar.figure for bar in bars])
    if not any(bar.figure.known for bar in bars):
        return NOTHING_MEASURED
    if not any(bar.figure.known for bar in bars if bar.label == "GPU"):
        tiny, mnist = (bar.figure for bar in bars if bar.label == "CPU")
        missing = "The GPU’s times have not been measured yet."
        if tiny.value is None or mnist.value is None:
            return missing + noise
        return (
            f"On the CPU, the tiny epoch takes {tiny.text} and the MNIST epoch {mnist.text}, "
            f"{times(mnist.value / tiny.value)} as long. {missing}{noise}"
        )
    pairs = zip(bars[::2], bars[1::2], strict=True)
    return " ".join(_winner(cpu, gpu) for cpu, gpu in pairs) + noise


def _winner(cpu: Bar, gpu: Bar) -> str:
    slow, fast = cpu.figure.value, gpu.figure.value
    if slow is None or fast is None:
        return f"{cpu.group}: one of the two times has not been measured yet."
    winner, loser = ("GPU", "CPU") if fast < slow else ("CPU", "GPU")
    quotient = max(slow, fast) / min(slow, fast)
    if quotient < 1.1:
        return f"{cpu.group}: CPU and GPU take about the same time."
    return f"{cpu.group}: the {winner} is {times(quotient)} as fast as the {loser}."
