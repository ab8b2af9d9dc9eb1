"""The float16 demonstration: loss of the four arms."""

import math

from lesson_site.charts.base import Chart, capital, listed
from lesson_site.charts.drawing import Axis, Line, line_chart, text, x_of, y_of
from lesson_site.charts.plots import Trace
from results import recorded
from results.quantities import in_words
from results.store import NOT_MEASURED, Store

DEMONSTRATION = "gpu_training/float16_demonstration:print_demonstration"
TITLE = "Loss of four runs whose gradients are too small for float16"
ARMS = (
    ("float32", "float32", ""),
    ("mixed_precision", "mixed precision", "2 4"),
    ("all_float16", "all float16", "8 4"),
    ("autocast_without_scaler", "autocast without scaler", "2 5"),
)
PLOTLY_DASHES = {"": "solid", "2 4": "dot", "8 4": "dash", "2 5": "dashdot"}


def draw(_: Store) -> Chart:
    """Loss per epoch of the four arms with gradients below float16's range."""
    recording = recorded.read(DEMONSTRATION)
    if recording is None:
        drawing = text(0, 20, f"The losses are {NOT_MEASURED}.")
        return Chart(TITLE, "Nothing of this has been recorded yet.", drawing, 30, ("Run",), [], "")
    arms = recording.data["shrunk"]
    losses = {label: list(map(float, arms[name]["loss"])) for name, label, _ in ARMS}
    epochs = range(1, len(losses["float32"]) + 1)
    texts = {
        label: [recording.written(("shrunk", name, "loss", at - 1), ".4f") for at in epochs]
        for name, label, _ in ARMS
    }
    svg, height = _lines(losses)
    return Chart(
        TITLE,
        finding(losses, {label: row[-1] for label, row in texts.items()}),
        svg,
        height,
        ("Run", *(f"Epoch {epoch}" for epoch in epochs)),
        [(label, *row) for label, row in texts.items()],
        recording.caption,
        [_trace(label, texts[label], losses) for label in losses],
        {
            "height": 380,
            "xaxis": {"title": {"text": "Epoch"}, "dtick": 1},
            "yaxis": {"title": {"text": "Loss"}, "rangemode": "tozero"},
        },
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


def _lines(losses: dict[str, list[float]]) -> tuple[str, int]:
    """A line for each run, labelled directly; runs that coincide share a label."""
    most = math.ceil(max(max(values) for values in losses.values()) * 2) / 2
    epochs = range(1, len(next(iter(losses.values()))) + 1)
    x = Axis(1, max(2, epochs[-1]), list(epochs), "count")
    y = Axis(0, most, range(math.floor(most) + 1), "plain")
    lines = [
        Line(label, list(zip(epochs, values, strict=True)), _color(label, losses), _dash(label))
        for label, values in losses.items()
    ]
    svg, height = line_chart(lines, x, y, ("Epoch", "Loss"), key=False)
    for together in _coinciding(losses):
        above = y_of(y, losses[together[0]][-1]) - 9
        at = x_of(x, epochs[-1])
        svg += text(at, above, listed(together), anchor="end", size=13, weight="bold")
    return svg, height


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


def _trace(label: str, texts: list[str], losses: dict[str, list[float]]) -> Trace:
    """A run for Plotly; recorded, not measured by the job, so no figure of a result file."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label,
        "x": list(range(1, len(texts) + 1)),
        "y": losses[label],
        "line": {"dash": PLOTLY_DASHES[_dash(label)]},
        "hovertext": [f"{label}<br>Epoch {at}: loss {text}" for at, text in enumerate(texts, 1)],
        "hoverinfo": "text",
        "meta": _color(label, losses),
    }


def _dash(label: str) -> str:
    return next(dash for _, of, dash in ARMS if of == label)
