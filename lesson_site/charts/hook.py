"""The hook: one epoch of a tiny task, of MNIST and of a residual network, on two devices."""

from collections.abc import Sequence
from dataclasses import dataclass

from lesson_site.charts.base import (
    ALIKE,
    NOTHING_MEASURED,
    Chart,
    measured_together,
    noise_warning,
    times,
)
from lesson_site.charts.description import Group, OwnTime, Row, Rows, mark_of
from results.quantities import in_words
from results.store import Figure, Store

TASKS = (
    ("Tiny model, 100 samples", "tiny_epoch.samples_100"),
    ("MNIST model, 60,000 images", "mnist_epoch"),
    ("Residual network, steps of an epoch", "small_resnet.epoch"),
)
# What others measured of such models on both devices, until our job has timed each task on a GPU,
# in the order in which the check of the page asks about them, and the name of their GPU's time.
CHECK = "which-device-was-faster"
ELSEWHERE = (
    ("MNIST, a small dense network, M2 Pro", "mnist.mlx", "gpu"),
    ("Ten epochs, 100 hidden neurons", "width.narrow", "gpu"),
    ("Ten epochs, 1,000 hidden neurons", "width.wide", "gpu"),
    ("181 epochs, a thin residual network, P100", "cifar.resnet164", "p100"),
)
# What a reader raced in their browser, where they did: the steps of one epoch, and no loading.
RACED = "60,000 images, raced in your browser"
RACED_HOW = "a race in your browser would measure it"
RACE = "race.width_256.batch_64.browser_{device}"
IMAGES = 60_000


@dataclass(frozen=True)
class Epoch:
    """A task's epoch on both devices.

    Attributes:
        task: What is trained.
        cpu: Its seconds on the CPU.
        gpu: Its seconds on the GPU.
    """

    task: str
    cpu: Figure
    gpu: Figure


def draw(store: Store) -> Chart:
    """Seconds per epoch of each task, on CPU and GPU."""
    own, where = [], {}
    for task, name in TASKS:
        source = measured_together(store, name.partition(".")[0])
        own.append(Epoch(task, source.figure(f"{name}.cpu"), source.figure(f"{name}.cuda")))
        where[task] = source.where
    raced = Epoch(RACED, _own(store, "cpu"), _own(store, "gpu"))
    elsewhere = [] if all(epoch.gpu.known for epoch in own) else _published(store)
    groups = [
        *(_group(epoch) for epoch in (*own, raced)),
        *(_group(epoch, asked) for asked, epoch in enumerate(elsewhere, start=1)),
    ]
    return Chart(
        "Time of training epochs",
        finding(own, elsewhere),
        Rows(groups, "s", log=True, check=CHECK if elsewhere else ""),
        ("Task", "Device", "Time"),
        [
            (epoch.task, device, figure)
            for epoch in (*own, raced, *elsewhere)
            for device, figure in (("CPU", epoch.cpu), ("GPU", epoch.gpu))
        ],
        _caption(where),
    )


def _caption(where: dict[str, str]) -> str:
    """Where the tasks were measured, each said by itself if it was not on one machine."""
    tasks: dict[str, list[str]] = {}
    for task, place in where.items():
        if place:
            tasks.setdefault(place, []).append(task)
    if len(tasks) < 2:
        return next(iter(tasks), "")
    return " ".join(f"{'; '.join(of)}: {at[0].lower()}{at[1:]}" for at, of in tasks.items())


def _published(store: Store) -> list[Epoch]:
    return [
        Epoch(task, store.figure(f"published.{name}.cpu"), store.figure(f"published.{name}.{gpu}"))
        for task, name, gpu in ELSEWHERE
    ]


def _own(store: Store, device: str) -> OwnTime:
    """The reader's own time on a device, which only their browser knows."""
    figure = store.figure(RACE.format(device=device))
    return OwnTime(figure.name, figure.what, None, "", RACED_HOW, amount=IMAGES)


def _group(epoch: Epoch, asked: int = 0) -> Group:
    rows = [Row("CPU", 1, mark_of(epoch.cpu)), Row("GPU", 2, mark_of(epoch.gpu))]
    return Group(epoch.task, rows, asked=asked)


def finding(epochs: Sequence[Epoch], elsewhere: Sequence[Epoch] = ()) -> str:
    """One sentence for each task; without a GPU, the CPU's, and what others saw on both devices.

    Args:
        epochs: The tiny task, MNIST, and more.
        elsewhere: What others published.
    """
    figures = [figure for epoch in epochs for figure in (epoch.cpu, epoch.gpu)]
    noise = noise_warning(figures)
    said = list(filter(None, map(_winner, epochs)))
    tiny, mnist, *_ = (epoch.cpu for epoch in epochs)
    if not said and tiny.value and mnist.value:
        said = [
            f"On the CPU, the tiny epoch takes {tiny.text} and the MNIST epoch {mnist.text}, "
            f"{times(mnist.value / tiny.value)} as long."
        ]
    elif not said:
        said = [f"{figure.what}: {figure.text}." for figure in figures if figure.known]
    if elsewhere:
        tasks = [e.task for e in elsewhere if (e.gpu.value or 0) > (e.cpu.value or 0)]
        said.append(
            f"In {in_words(len(tasks))} of {in_words(len(elsewhere))} pairs that others published "
            f"the GPU took longer: {'; '.join(tasks)}."
        )
    return " ".join(said) + noise if said else NOTHING_MEASURED


def _winner(epoch: Epoch) -> str:
    """Who is faster, or nothing if one of the two times is missing."""
    slow, fast = epoch.cpu.value, epoch.gpu.value
    if slow is None or fast is None:
        return ""
    winner, loser = ("GPU", "CPU") if fast < slow else ("CPU", "GPU")
    quotient = max(slow, fast) / min(slow, fast)
    if quotient < ALIKE:
        return f"{epoch.task}: CPU and GPU take about the same time."
    return f"{epoch.task}: the {winner} is {times(quotient)} as fast as the {loser}."
