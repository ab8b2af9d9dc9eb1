"""The pipeline: how much of an epoch goes into loading."""

from collections.abc import Sequence
from itertools import groupby

from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    Source,
    listed,
    measured_together,
    noise_warning,
)
from lesson_site.charts.description import Group, Mark, Row, Rows, mark_of
from results.quantities import write
from results.store import Figure, Store

LOADER = "mnist_epoch.loader_only"
EPOCHS = (
    ("Epoch on the CPU", "The whole epoch", "mnist_epoch.cpu", 1),
    ("Epoch on the CPU", "The loader alone", LOADER, 3),
    ("Epoch on the CPU", "Images prepared beforehand", "mnist_epoch.resident_cpu", 1),
    ("Epoch on the GPU", "The whole epoch", "mnist_epoch.cuda", 2),
    ("Epoch on the GPU", "The loader alone", LOADER, 3),
    ("Epoch on the GPU", "Images prepared beforehand", "mnist_epoch.resident_cuda", 2),
)


def draw(store: Store) -> Chart:
    """Seconds of an epoch with the loader, of the loader alone, and without it."""
    source = measured_together(store, "mnist_epoch")
    groups = [(title, list(epochs)) for title, epochs in groupby(EPOCHS, key=lambda of: of[0])]
    return Chart(
        "Time of an MNIST epoch with and without loading",
        finding(source.figures([name for _, _, name, _ in EPOCHS])),
        Rows([_group(source, *group) for group in groups], "s"),
        ("What", "Part", "Time"),
        [(title, label, source.figure(name)) for title, label, name, _ in EPOCHS],
        source.where,
    )


def _group(source: Source, title: str, epochs: Sequence[tuple[str, str, str, int]]) -> Group:
    # The loader is the CPU's; without a GPU's epoch beside it, it says nothing about one
    whole = any(source.figure(name).known for _, _, name, _ in epochs if name != LOADER)
    rows = [
        Row(label, color, mark_of(source.figure(name)) if whole or name != LOADER else Mark(None))
        for _, label, name, color in epochs
    ]
    return Group(title, rows)


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
    return " ".join(sentences) + noise_warning([*epochs[:4], epochs[5]])


def _share(part: float, whole: float) -> str:
    return write(round(100 * part / whole), "percent")
