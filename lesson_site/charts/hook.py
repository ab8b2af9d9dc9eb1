"""The hook: one epoch of a tiny task and of MNIST, on two devices."""

from collections.abc import Sequence
from dataclasses import dataclass

from lesson_site.charts.base import (
    CARD,
    CARD_NAME,
    NOTHING_MEASURED,
    Chart,
    Source,
    is_forecast,
    measured_together,
    noise_warning,
    times,
)
from lesson_site.charts.description import CARD as CARD_PLACE
from lesson_site.charts.description import Group, Row, Rows, mark_of
from results.store import Figure, Store

TASKS = (
    ("Tiny model, 100 samples", "tiny_epoch.samples_100", "tiny_epoch.samples_100"),
    ("MNIST model, 60,000 images", "mnist_epoch", "mnist_epoch"),
)
ALIKE = 1.1  # a quotient below this is called about the same


@dataclass(frozen=True)
class Epoch:
    """A task's epoch on both devices.

    Attributes:
        task: What is trained.
        cpu: Its seconds on the CPU.
        gpu: Its seconds on the GPU, measured or forecast.
    """

    task: str
    cpu: Figure
    gpu: Figure


def draw(store: Store) -> Chart:
    """Seconds per epoch of the tiny task and of MNIST, on CPU and GPU."""
    source = measured_together(store, "tiny_epoch", "mnist_epoch")
    epochs = _epochs(source)
    return Chart(
        "Time of one training epoch",
        finding(epochs),
        Rows([_group(epoch) for epoch in epochs], "s", log=True),
        ("Task", "Device", "Time per epoch"),
        [
            (epoch.task, device, figure)
            for epoch in epochs
            for device, figure in (("CPU", epoch.cpu), (_gpu(epoch), epoch.gpu))
        ],
        source.where,
    )


def _epochs(source: Source) -> list[Epoch]:
    names = [f"{name}.cuda" for _, name, _ in TASKS]
    gpus = source.or_forecasts(
        names, [f"forecast.{step}.float32.{CARD}.time" for *_, step in TASKS]
    )
    return [
        Epoch(task, source.figure(f"{name}.cpu"), gpu)
        for (task, name, _), gpu in zip(TASKS, gpus, strict=True)
    ]


def _gpu(epoch: Epoch) -> str:
    return CARD_NAME if is_forecast([epoch.gpu]) else "GPU"


def _group(epoch: Epoch) -> Group:
    gpu = CARD_PLACE if is_forecast([epoch.gpu]) else "GPU"
    rows = [Row("CPU", 1, mark_of(epoch.cpu)), Row(gpu, 2, mark_of(epoch.gpu))]
    return Group(epoch.task, rows, card=CARD_NAME)


def finding(epochs: Sequence[Epoch]) -> str:
    """One sentence for each task; without a GPU, what the CPU needs for both."""
    figures = [figure for epoch in epochs for figure in (epoch.cpu, epoch.gpu)]
    noise = noise_warning(figures)
    if not any(figure.known for figure in figures):
        return NOTHING_MEASURED
    said = [_winner(epoch) for epoch in epochs]
    if any(said):
        return " ".join(filter(None, said)) + noise
    tiny, mnist = (epoch.cpu for epoch in epochs)
    if tiny.value is None or mnist.value is None:
        known = [f"{figure.what}: {figure.text}." for figure in figures if figure.known]
        return " ".join(known) + noise
    return (
        f"On the CPU, the tiny epoch takes {tiny.text} and the MNIST epoch {mnist.text}, "
        f"{times(mnist.value / tiny.value)} as long.{noise}"
    )


def _winner(epoch: Epoch) -> str:
    """Who is faster; of a forecast only where its whole band lies on one side."""
    slow, fast = epoch.cpu.value, epoch.gpu.value
    if slow is None or fast is None:
        return ""
    if epoch.gpu.low is not None and epoch.gpu.high is not None:
        if epoch.gpu.high < slow:
            return f"{epoch.task}: by forecast a {CARD_NAME} is faster than this CPU."
        if epoch.gpu.low > slow:
            return f"{epoch.task}: by forecast this CPU is faster than a {CARD_NAME}."
        return f"{epoch.task}: too close to call by forecast, {epoch.gpu.band} on a {CARD_NAME}."
    winner, loser = ("GPU", "CPU") if fast < slow else ("CPU", "GPU")
    quotient = max(slow, fast) / min(slow, fast)
    if quotient < ALIKE:
        return f"{epoch.task}: CPU and GPU take about the same time."
    return f"{epoch.task}: the {winner} is {times(quotient)} as fast as the {loser}."
