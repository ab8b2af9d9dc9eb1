"""The pipeline: how much of an epoch goes into loading, and what workers change."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.quantities import write
from lesson_site.charts import plots
from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    listed,
    measured_together,
    noise_warning,
    times,
)
from lesson_site.charts.drawing import Bar, bar_chart, linear_axis
from lesson_site.figure_store import Figure, Store

EPOCHS = (
    ("Epoch on the CPU", "The whole epoch", "mnist_epoch.cpu", 1),
    ("Epoch on the CPU", "The loader alone", "mnist_epoch.loader_only", 3),
    ("Epoch on the CPU", "Images prepared beforehand", "mnist_epoch.resident_cpu", 1),
    ("Epoch on the GPU", "The whole epoch", "mnist_epoch.cuda", 2),
    ("Epoch on the GPU", "The loader alone", "mnist_epoch.loader_only", 3),
    ("Epoch on the GPU", "Images prepared beforehand", "mnist_epoch.resident_cuda", 2),
)
WORKERS = (0, 1, 2, 4, 8)
ALONE = "Loading with workers"


def draw(store: Store) -> Chart:
    """Seconds of an epoch with the loader, of the loader alone, and without it."""
    source = measured_together(store, "mnist_epoch", "loader")
    epochs = [Bar(group, label, source.figure(name), color) for group, label, name, color in EPOCHS]
    if not epochs[3].figure.measured and not epochs[5].figure.measured:
        # The loader is the CPU's; without a GPU's epoch beside it, it says nothing about one
        epochs[4] = replace(epochs[4], figure=epochs[3].figure)
    workers = [
        Bar(ALONE, _workers(count), source.figure(f"loader.workers_{count}"), 3)
        for count in WORKERS
    ]
    bars = [*epochs, *workers]
    values = [bar.figure.value for bar in bars if bar.figure.value is not None]
    axis = linear_axis(values, "s")
    svg, height = bar_chart(bars, axis)
    return Chart(
        "Time of an MNIST epoch with and without loading",
        finding([bar.figure for bar in epochs], [bar.figure for bar in workers]),
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


def _workers(count: int) -> str:
    return "No workers" if count == 0 else "1 worker" if count == 1 else f"{count} workers"


def finding(epochs: Sequence[Figure], workers: Sequence[Figure]) -> str:
    """The loader's share of each device's epoch, and what the best number of workers is worth.

    Args:
        epochs: Whole, loader and prepared on the CPU; the same on the GPU.
        workers: The loader without workers, and with each number of them.
    """
    if not any(figure.measured for figure in (*epochs, *workers)):
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
    if not epochs[3].measured:
        sentences.append("The GPU’s epoch has not been measured yet.")
    sentences.append(_best_workers(workers))
    return " ".join(sentences) + noise_warning([*epochs[:4], epochs[5], *workers])


def _share(part: float, whole: float) -> str:
    return write(round(100 * part / whole), "percent")


def _best_workers(workers: Sequence[Figure]) -> str:
    alone, *more = workers
    timed = [
        (figure.value, count)
        for figure, count in zip(more, WORKERS[1:], strict=True)
        if figure.value is not None
    ]
    if alone.value is None or not timed:
        return "The loader’s workers have not been measured yet."
    value, count = min(timed)
    if alone.value / value < 1.1:
        return "No number of workers is clearly faster than none."
    return f"With {_workers(count)} it is {times(alone.value / value)} as fast as with none."
