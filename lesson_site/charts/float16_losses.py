"""The float16 demonstration: loss of the four arms."""

import math

from lesson_site.charts.base import NOTHING_RECORDED, Chart, capital, listed
from lesson_site.charts.description import Below, Mark, Plane, Series
from results import recorded
from results.quantities import in_words
from results.store import Store

DEMONSTRATION = "gpu_training/float16_demonstration:print_demonstration"
TITLE = "Loss of four runs whose gradients are too small for float16"
ARMS = (
    ("float32", "float32", ""),
    ("mixed_precision", "mixed precision", "2 4"),
    ("all_float16", "all float16", "8 4"),
    ("autocast_without_scaler", "autocast without scaler", "2 5"),
)


def draw(_: Store) -> Chart:
    """Loss per epoch of the four arms with gradients below float16's range."""
    recording = recorded.read(DEMONSTRATION)
    if recording is None:
        return Chart(TITLE, NOTHING_RECORDED, _plane({}, {}), ("Run",), [], "")
    arms = recording.data["shrunk"]
    losses = {label: list(map(float, arms[name]["loss"])) for name, label, _ in ARMS}
    epochs = range(1, len(losses["float32"]) + 1)
    texts = {
        label: [recording.written(("shrunk", name, "loss", at - 1), ".4f") for at in epochs]
        for name, label, _ in ARMS
    }
    return Chart(
        TITLE,
        finding(losses, {label: row[-1] for label, row in texts.items()}),
        _plane(losses, texts),
        ("Run", *(f"Epoch {epoch}" for epoch in epochs)),
        [(label, *row) for label, row in texts.items()],
        recording.caption,
    )


def finding(losses: dict[str, list[float]], last: dict[str, str], learnt_below: float = 0.5) -> str:
    """Which runs learnt, and at which loss the others stayed.

    Args:
        losses: Of each run, those of its epochs.
        last: Of each run, the last one as it is written.
        learnt_below: How far a run's loss has to fall, as a share of the first one.
    """
    learnt = [label for label, values in losses.items() if values[-1] < learnt_below * values[0]]
    stuck = [label for label in losses if label not in learnt]
    if not stuck:
        return f"All {in_words(len(losses))} runs learn."
    if not learnt:
        return "None of the runs learns."
    low = listed([last[label] for label in learnt])
    high = min(losses[label][-1] for label in stuck)
    return (
        f"{capital(listed(learnt))} {'learn' if len(learnt) > 1 else 'learns'} (last loss {low}); "
        f"{listed(stuck)} {'stay' if len(stuck) > 1 else 'stays'} where they began, above "
        f"{math.floor(high * 10) / 10:.1f}."
    )


def _color(label: str, losses: dict[str, list[float]]) -> int:
    """One colour for the runs that coincide with the first, another for the rest."""
    return 1 if label in _coinciding(losses)[0] else 3


def _plane(losses: dict[str, list[float]], texts: dict[str, list[str]]) -> Plane:
    """A line for each run, labelled directly; runs that coincide share a label."""
    count = max(2, *map(len, losses.values())) if losses else 2
    below = Below("Epoch", 1, count, [(epoch, str(epoch)) for epoch in range(1, count + 1)])
    series = [
        Series(label, _color(label, losses), _points(values, texts[label]), _dash(label))
        for label, values in losses.items()
    ]
    notes = [
        (len(losses[together[0]]), losses[together[0]][-1], listed(together))
        for together in _coinciding(losses)
    ]
    return Plane(below, "Loss", "plain", series, key=False, notes=notes)


def _points(values: list[float], texts: list[str]) -> list[tuple[float, Mark]]:
    """Losses with their texts; recorded, not measured by the job, so no figure has their names."""
    marks = [Mark(value, text) for value, text in zip(values, texts, strict=True)]
    return list(enumerate(marks, 1))


def _coinciding(losses: dict[str, list[float]], tolerance: float = 0.05) -> list[list[str]]:
    """Runs whose losses lie on top of each other in a drawing of this size, together."""
    groups: list[list[str]] = []
    for label, values in losses.items():
        for group in groups:
            pairs = zip(values, losses[group[0]], strict=True)
            if all(abs(a - b) < tolerance for a, b in pairs):
                group.append(label)
                break
        else:
            groups.append([label])
    return groups


def _dash(label: str) -> str:
    return next(dash for _, of, dash in ARMS if of == label)
