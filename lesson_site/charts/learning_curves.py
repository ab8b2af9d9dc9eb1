"""Learning or memorising: both losses of the run that learns its images by heart."""

from collections.abc import Sequence
from typing import Any

from lesson_site.charts.base import NOTHING_RECORDED, Chart
from lesson_site.charts.description import Below, Mark, Plane, Series
from results import recorded
from results.recorded import Recording
from results.store import Store

RUN = "foundations/generalising:print_memorising"
TITLE = "Training loss and validation loss of one run"
EPOCHS = (1, 2, 3, 5, 10, 20, 30, 50)  # closer where the curves bend
TICKS = (1, 10, 20, 30, 50)
CURVES = (
    ("training", "training loss", 1, ".3f", "8 4"),
    ("validation", "validation loss", 3, ".2f", ""),
)


def draw(_: Store) -> Chart:
    """The losses of some epochs as two curves over the epochs."""
    recording = recorded.read(RUN)
    if recording is None:
        return Chart(TITLE, NOTHING_RECORDED, _plane(None), ("Epoch",), [], "")
    rows = [
        (str(epoch), *(_text(recording, name, epoch, form) for name, *_, form, _ in CURVES))
        for epoch in EPOCHS
    ]
    return Chart(
        TITLE,
        finding(recording.data["training"], recording.data["validation"]),
        _plane(recording),
        ("Epoch", *(label.capitalize() for _, label, *_ in CURVES)),
        rows,
        recording.caption,
    )


def finding(training: Sequence[float], validation: Sequence[float]) -> str:
    """Where the two curves part, and where they end."""
    lowest = min(validation)
    if validation[-1] <= lowest:
        return "Both losses end at their lowest."
    return (
        f"The training loss goes down to {training[-1]:.3f}; the validation loss turns at "
        f"{lowest:.2f} and climbs to {validation[-1]:.2f}."
    )


def _plane(recording: Recording | None) -> Plane:
    """Two curves, told apart by their pattern and named below."""
    below = Below("Epoch", 1, EPOCHS[-1], [(epoch, str(epoch)) for epoch in TICKS])
    series = [
        Series(label, color, _points(recording, name, form), dash)
        for name, label, color, form, dash in CURVES
        if recording
    ]
    return Plane(below, "Loss", "plain", series)


def _points(recording: Recording, name: str, form: str) -> list[tuple[float, Mark]]:
    losses: Any = recording.data[name]
    return [
        (epoch, Mark(losses[epoch - 1], _text(recording, name, epoch, form))) for epoch in EPOCHS
    ]


def _text(recording: Recording, name: str, epoch: int, form: str) -> str:
    return recording.written((name, epoch - 1), form)
