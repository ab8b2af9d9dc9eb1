"""The speed ladder: seconds per epoch, rung after rung, down to what the machine allows."""

from collections.abc import Sequence
from dataclasses import dataclass

from lesson_site.charts.base import (
    CARD,
    NOTHING_MEASURED,
    Chart,
    Source,
    is_forecast,
    measured_together,
    noise_warning,
    times,
    titled,
)
from lesson_site.charts.description import CARD as CARD_PLACE
from lesson_site.charts.description import Group, Row, Rows, mark_of
from results.store import Figure, Store

RUNGS = {
    "textbook": "The textbook loop",
    "pinned": "Workers, pinned memory",
    "resident": "Images prepared beforehand",
    "fused": "Fused optimizer",
    "autocast": "bfloat16 autocast",
    "compiled": "torch.compile",
    "graph": "Each step one CUDA graph",
    "whole_epoch": "The whole epoch in one go",
}
# Rungs of a GPU whose loop is counted, and which wait for no loader: step and format.
COUNTED = {
    "resident": "ladder_resident.float32",
    "fused": "ladder_fused.float32",
    "autocast": "ladder_autocast.bfloat16",
}
DEVICES = (("CPU", "cpu", 1), ("GPU", "cuda", 2))
EQUAL_WITHIN_POINTS = 0.3


@dataclass(frozen=True)
class Rung:
    """One way to run the same training.

    Attributes:
        device: ``CPU`` or ``GPU``.
        label: What is new in it.
        time: Seconds per epoch.
        speedup: How many times as fast as the first rung; None for that one.
        accuracy: Test accuracy after the same epochs, in percent.
        equal: Whether its accuracy is not below the first rung's by more than 0.3 points.
    """

    device: str
    label: str
    time: Figure
    speedup: Figure | None
    accuracy: Figure
    equal: bool = True

    @property
    def title(self) -> str:
        """Its label, with a warning where speed was bought with accuracy."""
        return self.label if self.equal else f"{self.label} (less accurate, so not equal)"


def draw(store: Store, card: str = CARD) -> Chart:
    """Seconds per epoch of every rung on a logarithmic axis, and the limit computed for each."""
    source = measured_together(store, "ladder", "matmul", "copies", card=card)
    rungs = [rung for _, device, _ in DEVICES for rung in _rungs(source, device)]
    limits = {label: source.figure(f"ladder.{device}_limit") for label, device, _ in DEVICES}
    name = source.card_name
    groups = [
        _group([rung for rung in rungs if rung.device == label], limits[label], color, name)
        for label, _, color in DEVICES
    ]
    return Chart(
        "Time of one MNIST epoch on the speed ladder",
        finding(rungs, limits).replace(CARD_PLACE, name),
        Rows(groups, "s", log=True),
        ("Rung", "Device", "Time per epoch", "Times as fast", "Test accuracy"),
        [
            (rung.title, rung.device, rung.time, rung.speedup or "the first rung", rung.accuracy)
            for rung in rungs
        ],
        source.where,
    )


def _group(rungs: Sequence[Rung], limit: Figure, color: int, card: str) -> Group:
    """A device's rungs, and the limit computed for it."""
    seconds = [rung.time for rung in rungs]
    title = titled("One epoch", seconds) if rungs[0].device == "GPU" else "One epoch, CPU"
    rows = [Row(rung.title, color, mark_of(rung.time)) for rung in rungs]
    return Group(title, rows, [Row("Limit", 3, mark_of(limit))], card)


def _rungs(source: Source, device: str) -> list[Rung]:
    """The rungs of a device that the catalogue lists, from the first to the last."""
    first = source.figure(f"ladder.{device}_textbook_accuracy").value
    listed = [name for name in RUNGS if f"ladder.{device}_{name}" in source.store.definitions]
    keys = [f"ladder.{device}_{name}" for name in listed]
    of_card = [
        f"forecast.{COUNTED[name]}.card.epoch" if device == "cuda" and name in COUNTED else ""
        for name in listed
    ]
    rungs = []
    for name, key, seconds in zip(listed, keys, source.or_forecasts(keys, of_card), strict=True):
        accuracy = source.figure(f"{key}_accuracy")
        equal = first is None or accuracy.value is None or not below(accuracy.value, first)
        speedup = source.figure(f"{key}_speedup") if name != "textbook" else None
        device_label = "CPU" if device == "cpu" else "GPU"
        rungs.append(Rung(device_label, RUNGS[name], seconds, speedup, accuracy, equal))
    return rungs


def below(accuracy: float, first: float) -> bool:
    """Whether an accuracy in percent has fallen too far to call the training the same."""
    return first - accuracy > EQUAL_WITHIN_POINTS


def finding(rungs: Sequence[Rung], limits: dict[str, Figure]) -> str:
    """The best rung of each device, what it is worth, and how far from the limit it stays."""
    if not any(rung.time.known for rung in rungs):
        return NOTHING_MEASURED
    told = [_best(device, rungs, limits.get(device)) for device, _, _ in DEVICES]
    sentences = list(filter(None, told))
    unequal = [rung for rung in rungs if not rung.equal]
    if unequal:
        names = ", ".join(f"{rung.label} ({rung.device})" for rung in unequal)
        sentences.append(f"Less accurate than the first rung, and so not counted: {names}.")
    return " ".join(sentences) + noise_warning([rung.time for rung in rungs])


def _best(device: str, rungs: Sequence[Rung], limit: Figure | None) -> str:
    timed = [
        (rung.time.value, rung)
        for rung in rungs
        if rung.device == device and rung.equal and rung.time.value is not None
    ]
    if not timed:
        return ""
    value, best = min(timed, key=lambda pair: pair[0])
    first_value, first = timed[0]
    if is_forecast([best.time]):
        return (
            f"Forecast for the {CARD_PLACE}: {first.time.text} an epoch on the rung "
            f"“{first.label}”, {first.time.band}."
        )
    if best is first:
        return f"On the {device} no rung is faster than the first, {best.time.text} an epoch."
    gain = ""
    if first.speedup is None:
        gain = f", {times(first_value / value)} as fast as the textbook loop"
    room = ""
    if limit and limit.value:
        room = f"; that is {times(value / limit.value)} its computed limit"
    how = f"{best.time.text} an epoch{gain}{room}"
    return f"On the {device} the best rung is “{best.label}” with {how}."
