"""The same values as traces for Plotly: plain dictionaries, which Plotly's own package checks.

A trace's ``customdata`` names the figure of each of its points, and its ``meta`` the number of its
colour; the browser turns that into a colour of the palette, and finds a learner's own values by it.
"""

import math
from collections.abc import Sequence
from typing import Any

from lesson_site.charts.base import with_noise
from lesson_site.charts.drawing import Axis, Bar
from results.store import NOT_MEASURED, Figure

Trace = dict[str, Any]


def bar_trace(
    name: str, labels: Sequence[str], figures: Sequence[Figure], color: int, place: str = "first"
) -> Trace:
    """Horizontal bars, one for each label; what isn't measured has none, and the legend says so.

    Args:
        name: What the legend calls them.
        labels: The lines on which they lie.
        figures: Their lengths.
        color: The number of their colour.
        place: Traces that share lines have different places in them.
    """
    return {
        "type": "bar",
        "orientation": "h",
        "offsetgroup": place,
        "name": _name(name, figures),
        "y": list(labels),
        "x": [figure.value for figure in figures],
        "text": [figure.text if figure.known else "" for figure in figures],
        **_points(name, labels, figures, color),
    }


def line(
    name: str, x: Sequence[float], figures: Sequence[Figure], labels: Sequence[str], color: int
) -> Trace:
    """A curve with a mark at each point."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": _name(name, figures),
        "x": list(x),
        "y": [figure.value for figure in figures],
        **_points(name, labels, figures, color),
    }


def limit(name: str, labels: Sequence[str], figure: Figure) -> Trace:
    """A line across bars that none of them can pass."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": _name(name, [figure]),
        "y": list(labels),
        "x": [figure.value] * len(labels),
        "line": {"dash": "dash"},
        **_points(name, [""] * len(labels), [figure] * len(labels), 3),
    }


def hover(name: str, label: str, figure: Figure) -> str:
    """What a reader sees who points at a value: of what, how much, and how it was found."""
    detail = "; ".join(figure.source.split("; ")[:-1])
    return "<br>".join(filter(None, (label, name, with_noise(figure), detail)))


def _name(name: str, figures: Sequence[Figure]) -> str:
    return name if any(figure.known for figure in figures) else f"{name} ({NOT_MEASURED})"


def _points(
    name: str, labels: Sequence[str], figures: Sequence[Figure], color: int
) -> dict[str, Any]:
    return {
        "hovertext": [
            hover(name, label, figure) for label, figure in zip(labels, figures, strict=True)
        ],
        "hoverinfo": "text",
        "customdata": [figure.name for figure in figures],
        "meta": color,
    }


def bars_of(name: str, bars: Sequence[Bar], color: int) -> Trace:
    """The bars of a drawing that have one colour, each on a line of its own."""
    own = [bar for bar in bars if bar.color == color]
    return bar_trace(name, list(map(line_of, own)), [bar.figure for bar in own], color)


def line_of(bar: Bar) -> str:
    """What stands beside a bar that has a line of its own."""
    return f"{bar.group}: {bar.label}"


def bar_layout(title: str, lines: Sequence[str], axis: Axis, bars: int = 1) -> dict[str, Any]:
    """Axes for horizontal bars, the first at the top.

    Args:
        title: What the lower axis shows.
        lines: What stands beside the bars, from top to bottom.
        axis: The drawing's axis.
        bars: How many bars share a line.
    """
    return {
        "height": 130 + 34 * bars * len(lines),
        "xaxis": axis_layout(title, axis),
        "yaxis": {"autorange": "reversed", "categoryorder": "array", "categoryarray": list(lines)},
    }


def axis_layout(title: str, axis: Axis, before: float = 0.0) -> dict[str, Any]:
    """An axis with the drawing's ends and ticks; Plotly's powers of ten would need a style.

    Args:
        title: What it shows.
        axis: The drawing's axis.
        before: Room before its beginning, as a part of its length, for marks that lie there.
    """
    layout: dict[str, Any] = {"title": {"text": title}}
    if axis.log:
        layout["type"] = "log"
    ticks = list(axis.ticks)
    low, high = (math.log10(end) if axis.log else end for end in (axis.low, axis.high))
    room = high - low
    return layout | {
        "tickvals": ticks,
        "ticktext": [axis.write(tick) for tick in ticks],
        "range": [low - before * room, high + 0.04 * room],
    }
