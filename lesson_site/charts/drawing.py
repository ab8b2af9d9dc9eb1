"""Static drawings: bars and lines as SVG.

Positions along the width are percentages and letters have a fixed size, so a drawing is as readable
on a telephone as on a wide screen. Colours are ``currentColor`` and the variables ``--chart-1`` …
of the style sheet, so both palettes work; nothing is said by colour alone. What has not been
measured is never a bar.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from results.quantities import write
from results.store import Figure

DASHES = ("", "8 4", "2 4", "8 4 2 4", "1 3")
GUTTER = 12.0  # percent of the width, left of a plane with lines, for the numbers of its axis


@dataclass(frozen=True)
class Axis:
    """Values and where they lie.

    Attributes:
        low: The value at its beginning.
        high: The value at its end.
        ticks: The values that are written.
        unit: How they are written.
        log: Whether equal distances are equal quotients.
    """

    low: float
    high: float
    ticks: Sequence[float]
    unit: str
    log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        low, high = (self.low, self.high)
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return (value - low) / (high - low)

    def write(self, tick: float) -> str:
        """A tick's text, without the unit's name where that is long."""
        if tick == 0:
            return "0"
        step = tick if self.log else abs(self.ticks[1] - self.ticks[0])
        return write(tick, self.unit, step).replace("FLOP/s", "")


def log_axis(values: Sequence[float], unit: str) -> Axis:
    """Whole decades around the values."""
    # A third of a decade at least, since a bar of almost no length would look like nothing
    low = math.floor(math.log10(min(values)) - 0.33) if values else 0
    high = max(low + 1, math.ceil(math.log10(max(values)))) if values else 1
    step = 1 if high - low <= 5 else 2
    return Axis(10.0**low, 10.0**high, [10.0**p for p in range(low, high + 1, step)], unit, True)


def linear_axis(values: Sequence[float], unit: str) -> Axis:
    """From zero to above the largest value, in round steps."""
    largest = max(values, default=1.0) or 1.0
    decade = 10.0 ** math.floor(math.log10(largest))
    step = next(s * decade for s in (0.2, 0.5, 1, 2) if largest / (s * decade) <= 5)
    count = math.ceil(largest / step - 1e-9)
    return Axis(0.0, count * step, [index * step for index in range(count + 1)], unit)


# Bars


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        group: What it belongs to; written once above the bars of a group.
        label: What it stands for; written above it with its value.
        figure: Its length, or that nothing has measured it.
        color: The number of its colour.
    """

    group: str
    label: str
    figure: Figure
    color: int


def bar_chart(
    bars: Sequence[Bar], axis: Axis, limits: Mapping[str, Figure] | None = None
) -> tuple[str, int]:
    """Horizontal bars, each under its label; unmeasured ones are words and an empty outline.

    A group of which nothing is measured has one outline for all of its bars.

    Args:
        bars: The bars, those of a group together.
        axis: Their common axis.
        limits: For a group, a value that its bars can't pass; drawn as a line through all of them.

    Returns:
        The drawing and its height in pixels.
    """
    limits = limits or {}
    parts: list[str] = []
    y, top, empty = 0, 0, False
    for index, bar in enumerate(bars):
        if index == 0 or bar.group != bars[index - 1].group:
            y += 32 if index else 16
            parts.append(text(0, y, bar.group, weight="bold"))
            top = y + 8
            group = [other for other in bars if other.group == bar.group]
            empty = not any(other.figure.known for other in group)
        elif empty:
            continue
        if empty:  # one outline says it for all bars of the group
            y += 21
            parts.append(text(0, y, bar.figure.text, css="chart-missing"))
            parts.append(_bar(bar, axis, y + 6))
            y += 20
            continue
        y += 21
        css = "" if bar.figure.known else "chart-missing"
        parts.append(text(0, y, f"{bar.label}: {bar.figure.text}", css=css))
        y += 6
        parts.append(_bar(bar, axis, y))
        y += 14
        last = index + 1 == len(bars) or bars[index + 1].group != bar.group
        limit = limits.get(bar.group)
        if last and limit and limit.value is not None:
            y += 22
            parts.append(_limit(limit, axis, top, y))
    if not any(bar.figure.known for bar in bars):
        return "".join(parts), y + 10
    y += 10
    for tick in axis.ticks:
        at = 100 * axis.share(tick)
        parts.insert(0, vertical(at, 24, y))
        anchor = "start" if at < 1 else "end" if at > 99 else "middle"
        parts.append(text(at, y + 15, axis.write(tick), anchor=anchor, size=12))
    y += 20
    if axis.log:
        y += 14
        parts.append(
            text(0, y, "Logarithmic axis: equal steps multiply by the same number.", size=12)
        )
    return "".join(parts), y + 6


def _bar(bar: Bar, axis: Axis, y: int) -> str:
    if bar.figure.value is None:
        return (
            f'<rect x="0.5" y="{y + 0.5}" width="99.5%" height="13" fill="none" '
            'stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="3 4"/>'
        )
    width = 100 * max(0.0, axis.share(bar.figure.value))
    return (
        f'<rect x="0" y="{y}" width="{width:.2f}%" height="14" '
        f'fill="var(--chart-{bar.color}, currentColor)"/>'
    )


def _limit(limit: Figure, axis: Axis, top: int, y: int) -> str:
    at = 100 * axis.share(limit.value or 0)
    line = vertical(at, top, y - 12, color="var(--chart-3, currentColor)", width=2, dash="6 3")
    anchor = "start" if at < 50 else "end"
    return line + text(at, y, f"Limit: {limit.text}", anchor=anchor, size=13, weight="bold")


# Lines


@dataclass(frozen=True)
class Line:
    """A curve.

    Attributes:
        label: What it shows.
        points: Its points, x and y.
        color: The number of its colour.
        dash: Its pattern, one of ``DASHES``, so that colour isn't needed.
    """

    label: str
    points: Sequence[tuple[float, float]]
    color: int
    dash: str = ""


def line_chart(
    lines: Sequence[Line], x: Axis, y: Axis, titles: tuple[str, str], key: bool = True
) -> tuple[str, int]:
    """Curves over a plane; the plane's corners are 12 and 96 % of the width.

    Args:
        lines: The curves.
        x: The axis below.
        y: The axis to the left.
        titles: What the two axes show.
        key: Whether to write below which pattern stands for which curve.

    Returns:
        The drawing and its height in pixels.
    """
    bottom = 230
    parts = [text(0, 12, titles[1], size=13, weight="bold")]
    for tick in y.ticks:
        at = y_of(y, tick)
        parts.append(
            f'<line x1="{GUTTER}%" x2="96%" y1="{at:.1f}" y2="{at:.1f}" stroke="currentColor" '
            'stroke-opacity="0.18"/>'
        )
        parts.append(text(0, at + 4, y.write(tick), size=12))
    for tick in x.ticks:
        parts.append(text(x_of(x, tick), bottom + 20, x.write(tick), anchor="middle", size=12))
    parts.append(text(GUTTER, bottom + 40, titles[0], size=13, weight="bold"))
    for line in lines:
        spots = [(x_of(x, a), y_of(y, b)) for a, b in line.points]
        parts += [_segment(*start, *end, line) for start, end in pairwise(spots)]
    height = bottom + 48
    if key:
        for index, line in enumerate(lines):
            parts.append(_key(line, 50 * (index % 2), height + 20 * (index // 2)))
        height += 20 * math.ceil(len(lines) / 2) + 4
    return "".join(parts), height


def _key(line: Line, left: float, top: float) -> str:
    """A piece of a curve with its name behind it; a drawing of its own, so that it holds pixels."""
    sample = _segment(0, 9, 100, 9, line)
    return (
        f'<svg x="{left}%" y="{top:.0f}" width="34" height="18">{sample}</svg>'
        f'<svg x="{left}%" y="{top:.0f}" width="50%" height="18">'
        f'<text x="42" y="14" font-size="13" fill="currentColor">{escape(line.label)}</text></svg>'
    )


def x_of(axis: Axis, value: float) -> float:
    """Percent of the width at which a value lies in a line chart."""
    return GUTTER + (96.0 - GUTTER) * axis.share(value)


def y_of(axis: Axis, value: float) -> float:
    """Pixels from the top at which a value lies in a line chart."""
    return 230 - 200 * axis.share(value)


def _segment(x1: float, y1: float, x2: float, y2: float, line: Line) -> str:
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return (
        f'<line x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1:.1f}" y2="{y2:.1f}" '
        f'stroke="var(--chart-{line.color}, currentColor)" '
        f'stroke-width="{4 if line.dash == "2 4" else 3}"{dash}/>'
    )


# What both share


def vertical(
    at: float,
    top: float,
    bottom: float,
    *,
    color: str = "currentColor",
    width: int = 1,
    dash: str = "",
) -> str:
    """A line from top to bottom; a thin grey one unless told otherwise."""
    more = f' stroke-dasharray="{dash}"' if dash else ' stroke-opacity="0.18"'
    return (
        f'<line x1="{at:.2f}%" x2="{at:.2f}%" y1="{top:.0f}" y2="{bottom:.0f}" '
        f'stroke="{color}" stroke-width="{width}"{more}/>'
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    size: int = 14,
    weight: str = "",
    css: str = "",
) -> str:
    """Letters at ``x`` percent of the width and ``y`` pixels from the top."""
    more = {"font-weight": weight, "class": css}
    if anchor != "start":
        more["text-anchor"] = anchor
    attributes = "".join(f' {name}="{value}"' for name, value in more.items() if value)
    return (
        f'<text x="{x:.2f}%" y="{y:.0f}" font-size="{size}" fill="currentColor"{attributes}>'
        f"{escape(words)}</text>"
    )
