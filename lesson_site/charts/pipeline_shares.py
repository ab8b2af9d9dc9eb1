"""The pipeline: how much of an epoch goes into loading."""

from collections.abc import Sequence
from dataclasses import replace

from lesson_site.charts import plots
from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    listed,
    measured_together,
    noise_warning,
)
from lesson_site.charts.drawing import Bar, bar_chart, linear_axis
from results.quantities import write
from results.store import Figure, Store

EPOCHS = (
    ("Epoch on the CPU", "The whole epoch", "mnist_epoch.cpu", 1),
    ("Epoch on the CPU", "The loader alone", "mnist_epoch.loader_only", 3),
    ("Epoch on the CPU", "Images prepared beforehand", "mnist_epoch.resident_cpu", 1),
    ("Epoch on the GPU", "The whole epoch", "mnist_epoch.cuda", 2),
    ("Epoch on the GPU", "The loader alone", "mnist_epoch.loader_only", 3),
    ("Epoch on the GPU", "Images prepared beforehand", "mnist_epoch.resident_cuda", 2),
)


def draw(store: Store) -> Chart:
    """Seconds of an epoch with the loader, of the loader alone, and without it."""
    source = measured_together(store, "mnist_epoch")
    bars = [Bar(group, label, source.figure(name), color) for group, label, name, color in EPOCHS]
    if not bars[3].figure.known and not bars[5].figure.known:
        # The loader is the CPU's; without a GPU's epoch beside it, it says nothing about one
        bars[4] = replace(bars[4], figure=bars[3].figure)
    values = [bar.figure.value for bar in bars if bar.figure.value is not None]
    axis = linear_axis(values, "s")
    svg, height = bar_chart(bars, axis)
    return Chart(
        "Time of an MNIST epoch with and without loading",
        finding([bar.figure for bar in bars]),
        svg,
        height,
        ("What", "Part", "Time"),
        [(bar.group, bar.label, bar.figure) for bar in bars],
        source.where,
        [
            plots.bars_of(name, bars, color)
            for name, color in (("CPU", 1), ("GPU", 2), ("The loader alone", 3))
        ],
        plots.bar_layout("Time", list(map(plots.line_of, bars)), axis),
    )


def finding(epochs: Sequence[Figure]) -> str:
    """The loader's share of each device's epoch.

    Args:
        epochs: Whole, loader and prepared on the CPU; the same on the GPU.
    """
    if not any(figure.known for figure in epochs):
        return NOTHING_MEASURED
    sentences = []
    loader = epochs[1]
    shares = [
        f"{_share(loader.value, whole.value)} of the {device}’s"
        for device, whole in (("CPU", epochs[0]), ("GPU", epochs[3]))
        if loader.value is not None and whole.value is not None
    ]
    if shares:
        sentences.append(
            f"The loader alone takes {loader.text}, as long as {listed(shares)} epoch."
        )
    if not epochs[3].known:
        sentences.append("The GPU’s epoch has not been measured yet.")
    return " ".join(sentences) + noise_warning([*epochs[:4], epochs[5]])


def _share(part: float, whole: float) -> str:
    return write(round(100 * part / whole), "percent")
