"""Draws a description as SVG; ``docs/assets/elements/chart/drawing.js`` does the same in a browser.

Positions along the width are percentages and letters have a fixed size, so a drawing is as readable
on a telephone as on a wide screen. The style sheet colours its classes in both palettes; nothing is
said by colour alone. A measured value is filled, a published one a cross, a forecast hollow with a
hatched band, an exact one square or outlined; what another reader measured is a triangle, and the
reader's own a diamond. What has no value is never a mark.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from lesson_site.charts.axis import Axis, axis_of
from lesson_site.charts.description import (
    CARD,
    Description,
    Group,
    Mark,
    Plane,
    Row,
    Rows,
    Series,
    Tile,
    Tiles,
)
from results.quantities import SPACE, rounded

Node = tuple[str, dict[str, str], list[Any]]
Place = tuple[float, float | None, float | None, float | None]  # along, and three heights

GUTTER = 12.0  # percent of the width, left of a plane, for the numbers of its axis
END = 95.0  # percent of the width, where a plane ends
TOP, BOTTOM = 30, 230  # pixels from the top, of a plane
HAIRS = 12  # lines of a hatched band between two points
KINDS = {
    "measured": "measured",
    "published": "published by others",
    "forecast": "forecast and its band",
    "exact": "exact",
    "contributed": "measured by readers",
}
POINTED = ("published", "contributed")  # never a bar
SHAPES = {
    "published": "M-5-5L5 5M-5 5L5-5",
    "exact": "M-5-5H5V5H-5Z",
    "contributed": "M0-7L7 5H-7Z",
    "own": "M0-7L7 0L0 7L-7 0Z",
}
LOG_NOTE = "Logarithmic axis: equal steps multiply alike."
HALF_LINE = 15  # letters for which half of a telephone has room, behind a sample
LARGE, SMALL = 6, 4  # radii of a mark, in pixels
ALIKE = 1.05  # a quotient below this is not written
BESIDE = 32  # percent of the width that the words of a band need


def draw(description: Description) -> tuple[list[Node], int]:
    """The drawing's elements and its height in pixels."""
    if isinstance(description, Rows):
        return _rows(description)
    if isinstance(description, Plane):
        return _plane(description)
    return _tiles(description)


def to_svg(nodes: Iterable[Node | str]) -> str:
    """Elements as markup."""
    return "".join(escape(node) if isinstance(node, str) else _element(*node) for node in nodes)


def _element(tag: str, attributes: dict[str, str], children: list[Any]) -> str:
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    inside = to_svg(children)
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def said(mark: Mark) -> str:
    """A value as its label says it: with its kind, where it is not measured by our job."""
    if mark.kind == "forecast":
        return f"forecast {mark.text}"
    if mark.kind == "published":
        return f"{mark.text}, published"
    return f"{mark.text} (noisy)" if mark.noisy else mark.text


# Rows


def _rows(description: Rows) -> tuple[list[Node], int]:
    shown = [
        (group, [row for row in group.rows if row.mark.value is not None])
        for group in description.groups
    ]
    shown = [(group, rows) for group, rows in shown if rows]
    every = [row for group, rows in shown for row in (*rows, *group.limits)]
    axis = axis_of(
        [v for row in every for v in _values(row.mark)], description.unit, description.log
    )
    nodes: list[Node] = []
    y = 0
    for index, (group, rows) in enumerate(shown):
        y += 32 if index else 16
        nodes.append(_text(0, y, group.title.replace(CARD, group.card), "strong"))
        more, y = _group(group, rows, axis, y)
        nodes += more
    y += 10
    for tick, words in axis.ticks:
        at = 100 * axis.share(tick)
        nodes.insert(0, _line(at, at, 24, y, "grid"))
        nodes.append(_text(at, y + 15, words, f"small {_anchor(at)}".strip()))
    y += 20
    if axis.log:
        y += 14
        nodes.append(_text(0, y, LOG_NOTE, "small"))
    legend, y = _legend([row.mark for row in every], y)
    return nodes + legend, y + 6


def _group(group: Group, rows: Sequence[Row], axis: Axis, y: int) -> tuple[list[Node], int]:
    """Its rows below its title, and its limits."""
    lines: list[Node] = []
    nodes: list[Node] = []
    top = y + 8
    firm = [row for row in rows if row.mark.look not in ("forecast", "contributed") and not row.own]
    alike = [row for row in firm if row.mark.kind == firm[0].mark.kind]
    for row in rows:
        y += 21
        label = row.label.replace(CARD, group.card)
        nodes.append(_text(0, y, f"{label}: {said(row.mark)}"))
        if row.note:
            y += 17
            nodes.append(_text(0, y, row.note, "small"))
        compared = axis.log and any(row is other for other in alike[1:])
        nodes += _marked(row, alike[0] if compared else None, axis, y + 13)
        y += 36 if _is_wide(row.mark, axis) else 20
    for limit in group.limits:
        if limit.mark.value is None:
            continue
        y += 22
        at = 100 * axis.share(limit.mark.value)
        lines.append(_line(at, at, top, y - 12, f"limit c{limit.color}"))
        anchor = "" if at < 50 else " end"
        nodes.append(_text(at, y, f"{limit.label}: {said(limit.mark)}", f"strong{anchor}"))
    return lines + nodes, y


def _marked(row: Row, base: Row | None, axis: Axis, y: int) -> list[Node]:
    """A row's mark around the height ``y``, and how many times the first row's value it is."""
    at = 100 * axis.share(row.mark.value or 0)
    nodes = [_line(0, 100, y, y, "track")] if axis.log else []
    if base:
        nodes += _ratio(base.mark.value or 1, row.mark.value or 1, axis, y)
    if not axis.log and row.mark.look not in POINTED:
        css = _css(row.mark, row.own)
        size = {"x": "0", "y": _number(y - 7), "width": f"{_number(at)}%", "height": "14"}
        nodes.append(("rect", {"class": f"bar {css} c{row.color}", **size}, []))
    elif not axis.log:
        nodes.append(_line(0, at, y, y, f"stem c{row.color}"))
    if row.mark.low is not None and row.mark.high is not None:
        low, high = (100 * axis.share(end) for end in (row.mark.low, row.mark.high))
        nodes.append(_line(low, high, y, y, f"band c{row.color}"))
        nodes += [_line(end, end, y - 7, y + 7, f"cap c{row.color}") for end in (low, high)]
        if _is_wide(row.mark, axis):
            nodes.append(_text((low + high) / 2, y + 21, row.mark.band, "small middle"))
        elif row.mark.kind == "forecast":
            nodes += _beside(low, high, y, row.mark.band, BESIDE, "")
    if axis.log or row.mark.look in POINTED:
        nodes.append(_point(at, y, _css(row.mark, row.own), row.color))
    return nodes


def _is_wide(mark: Mark, axis: Axis) -> bool:
    """Whether a forecast's band leaves no room for its words beside it, so that they go below."""
    if mark.kind != "forecast" or mark.low is None or mark.high is None:
        return False
    return 100 * axis.share(mark.low) < BESIDE and 100 * axis.share(mark.high) > 100 - BESIDE


def _ratio(first: float, value: float, axis: Axis, y: int) -> list[Node]:
    """The way from the first row's value to this one, and what it is divided or multiplied by."""
    quotient = max(first, value) / min(first, value)
    if quotient < ALIKE:
        return []
    left, right = sorted(100 * axis.share(end) for end in (first, value))
    words = f"{'÷' if value < first else '×'}{SPACE}{rounded(quotient, quotient / 10)}"
    return [_line(left, right, y, y, "way"), *_beside(left, right, y, words, 18, "strong")]


def _beside(left: float, right: float, y: float, words: str, room: int, css: str) -> list[Node]:
    """Words behind what lies from ``left`` to ``right``, or before it, or between its ends."""
    css = f"small {css}".rstrip()
    if right <= 100 - room:
        return [_text(right, y + 5, words, f"{css} after")]
    if left >= room:
        return [_text(left, y + 5, words, f"{css} before end")]
    if right - left >= 1.5 * room:
        return [_text((left + right) / 2, y + 5, words, f"{css} between middle")]
    return []


def _point(at: float, y: float, kind: str, color: int, size: int = LARGE) -> Node:
    """A mark at ``at`` percent of the width; a drawing of its own where it needs pixels."""
    css = f"point {kind} c{color}"
    if kind in SHAPES:
        shape = {"d": SHAPES[kind]} | ({"transform": "scale(0.7)"} if size < LARGE else {})
        place = {"x": f"{_number(at)}%", "y": _number(y), "overflow": "visible"}
        return ("svg", {"class": css, **place}, [("path", shape, [])])
    place = {"cx": f"{_number(at)}%", "cy": _number(y), "r": str(size)}
    return ("circle", {"class": css, **place}, [])


def _legend(marks: Sequence[Mark], y: int) -> tuple[list[Node], int]:
    """Which mark is of which kind, where more than one kind is drawn."""
    found = {mark.look for mark in marks if mark.value is not None}
    kinds = [kind for kind in KINDS if kind in found]
    if len(kinds) < 2:
        return [], y
    nodes: list[Node] = []
    for kind in kinds:
        y += 20
        sample: list[Node] = [_point(50, 9, kind, 0)]
        if kind == "forecast":
            sample = [_line(8, 92, 9, 9, "band c0"), *sample]
        nodes += _sample(0, y - 14, sample, KINDS[kind])
    return nodes, y


def _sample(left: float, top: int, sample: list[Node], words: str) -> list[Node]:
    """A piece of the drawing with its name behind it; drawings of their own hold their pixels."""
    place = {"x": f"{_number(left)}%", "y": str(top), "height": "18"}
    name: Node = ("text", {"class": "small", "x": "42", "y": "14"}, [words])
    return [
        ("svg", {**place, "width": "34"}, sample),
        ("svg", {**place, "width": f"{_number(100 - left)}%"}, [name]),
    ]


# Planes


def _plane(description: Plane) -> tuple[list[Node], int]:
    below = description.below
    x = Axis(below.low, below.high, below.ticks, below.log)
    known = [mark for series in description.series for _, mark in series.points]
    y = axis_of([v for mark in known for v in _values(mark)], description.unit, description.log)
    nodes: list[Node] = [
        *_lead(description.lead, x),
        _text(0, 12, description.title, "small strong"),
    ]
    for tick, words in y.ticks:
        at = _down(y, tick)
        nodes.append(_line(GUTTER, END, at, at, "grid"))
        nodes.append(_text(0, at + 4, words, "small"))
    for tick, words in x.ticks:
        css = "small strong middle" if tick == below.now else "small middle"
        nodes.append(_text(_along(x, tick), BOTTOM + 20, words, css))
    nodes.append(_text(GUTTER, BOTTOM + 40, below.title, "small strong"))
    shown = [
        series
        for series in description.series
        if any(m.value is not None for _, m in series.points)
    ]
    stretched = [path for series in shown for path in _paths(series, x, y)]
    if stretched:
        place = {"x": f"{_number(GUTTER)}%", "y": "0", "width": f"{_number(END - GUTTER)}%"}
        frame = {"height": str(BOTTOM), "viewBox": f"0 0 1000 {BOTTOM}"}
        still = {"preserveAspectRatio": "none", "overflow": "visible"}
        nodes.append(("svg", {**place, **frame, **still}, stretched))
    for series in shown:
        if series.style != "step":
            nodes += [
                _point(
                    _along(x, at), _down(y, mark.value), _css(mark, series.own), series.color, SMALL
                )
                for at, mark in series.points
                if mark.value is not None
            ]
    if description.lead:
        at = _along(x, description.lead[0])
        start, css = (at, "small strong after") if at <= 50 else (END, "small strong end")
        nodes.append(_text(start, BOTTOM - 8, description.lead[1], css))
    for at, value, words in description.notes:
        nodes.append(_text(_along(x, at), _down(y, value) - 9, words, "small strong end"))
    height = BOTTOM + 48
    if description.key:
        keys = [_key(series, description.card) for series in shown]
        across = 2 if all(len(words) <= HALF_LINE for _, words in keys) else 1
        for index, key in enumerate(keys):
            nodes += _sample(50 * (index % across), height + 20 * (index // across), *key)
        height += 20 * math.ceil(len(shown) / across) + 4
    legend, height = _legend(known, height - 8)
    return nodes + legend, height + 8


def _lead(lead: tuple[float, str] | None, x: Axis) -> list[Node]:
    """The part of the plane in which something holds."""
    if lead is None:
        return []
    at = _along(x, lead[0])
    size = {"width": f"{_number(END - at)}%", "height": str(BOTTOM - TOP)}
    return [
        ("rect", {"class": "lead", "x": f"{_number(at)}%", "y": str(TOP), **size}, []),
        _line(at, at, TOP - 4, BOTTOM, "edge"),
    ]


def _along(axis: Axis, value: float) -> float:
    """Percent of the width at which a value lies in a plane."""
    return GUTTER + (END - GUTTER) * axis.share(value)


def _down(axis: Axis, value: float) -> float:
    """Pixels from the top at which a value lies in a plane."""
    return BOTTOM - (BOTTOM - TOP) * axis.share(value)


def _paths(series: Series, x: Axis, y: Axis) -> list[Node]:
    """A series' bands and its curve, an element each, in a drawing that is 1,000 wide."""
    places = [_place(at, mark, x, y) for at, mark in series.points]
    paths: list[Node] = []
    hatched = series.style == "line" and any(m.kind == "forecast" for _, m in series.points)
    hairs = _hairs(places, hatched)
    if hairs:
        css = "hatch" if hatched else "whisker"
        paths.append(("path", {"class": f"{css} c{series.color}", "d": hairs}, []))
    if series.style == "points":
        return paths
    curve, joined = "", False
    for at, value, *_ in places:
        if value is None:
            joined = False
            continue
        to = f"{_number(at)} {_number(value)}"
        if joined and series.style == "step":
            to = f"{_number(at)}V{_number(value)}"
        curve += f"{'H' if series.style == 'step' else 'L'}{to}" if joined else f"M{to}"
        joined = True
    dash = {"stroke-dasharray": series.dash} if series.dash else {}
    return [*paths, ("path", {"class": f"curve c{series.color}", "d": curve, **dash}, [])]


def _place(at: float, mark: Mark, x: Axis, y: Axis) -> Place:
    value, low, high = (None if each is None else _down(y, each) for each in _three(mark))
    return 1000 * x.share(at), value, low, high


def _hairs(places: Sequence[Place], hatched: bool) -> str:
    """Upright lines from low to high: one at each point, and where hatched some in between."""
    parts = []
    ends = [(at, low, high) for at, _, low, high in places if low is not None and high is not None]
    for (at, low, high), (to, to_low, to_high) in pairwise(ends):
        for step in range(HAIRS if hatched else 1):
            part = step / HAIRS
            parts.append(
                (at + part * (to - at), low + part * (to_low - low), high + part * (to_high - high))
            )
    parts += ends[-1:]
    return "".join(f"M{_number(at)} {_number(low)}V{_number(high)}" for at, low, high in parts)


def _key(series: Series, card: str) -> tuple[list[Node], str]:
    dash = {"stroke-dasharray": series.dash} if series.dash else {}
    place = {"x1": "0", "x2": "100%", "y1": "9", "y2": "9"}
    first = next(mark for _, mark in series.points if mark.value is not None)
    sample: list[Node] = []
    if series.style != "points":
        sample.append(("line", {"class": f"curve c{series.color}", **place, **dash}, []))
    if series.style != "step":
        sample.append(_point(50, 9, _css(first, series.own), series.color, SMALL))
    kind = f" ({first.kind})" if first.kind in ("published", "forecast") else ""
    return sample, f"{series.label.replace(CARD, card)}{kind}"


# Tiles


def _tiles(description: Tiles) -> tuple[list[Node], int]:
    left, top = 15.0, 46
    lines = max((len(_words(tile)) for tile in description.tiles), default=1)
    tall = 20 + 18 * lines
    wide = (100 - left) / max(1, len(description.columns))
    nodes: list[Node] = [
        _text(left, 14, description.titles[0], "small strong"),
        _text(0, 36, description.titles[1], "small strong"),
    ]
    for column, words in enumerate(description.columns):
        nodes.append(_text(left + (column + 0.5) * wide, 36, words, "small middle"))
    for row, words in enumerate(description.rows):
        nodes.append(_text(0, top + row * tall + tall / 2 + 4, words, "small"))
    for tile in description.tiles:
        nodes += _tile(tile, left + tile.column * wide, top + tile.row * tall, wide, tall)
    y = top + len(description.rows) * tall
    for line in description.note.replace(CARD, description.card).splitlines():
        y += 18
        nodes.append(_text(0, y, line, "small"))
    return nodes, y + 8


def _words(tile: Tile) -> list[str]:
    """What a tile says, its forecasts last; the note says what the hollow square means."""
    forecasts = [m for m in tile.marks if m.kind == "forecast" and m.value is not None]
    return [*tile.words, *(f"□{SPACE}{mark.text}" for mark in forecasts)]


def _is_framed(tile: Tile) -> bool:
    """Whether somebody wins here: by measurement, or by a forecast with its whole band."""
    first = next((m.value for m in tile.marks if m.look == "measured" and m.value), None)
    highs = [m.high for m in tile.marks if m.kind == "forecast" and m.high is not None]
    return tile.frame or (first is not None and any(high < first for high in highs))


def _tile(tile: Tile, x: float, y: float, wide: float, tall: float) -> list[Node]:
    place = {"x": f"{_number(x + 0.4)}%", "y": _number(y + 2)}
    size = {"width": f"{_number(wide - 0.8)}%", "height": _number(tall - 4)}
    tint = {"fill-opacity": _number(0.06 + 0.3 * tile.strength)}
    css = f"tile framed c{tile.color}" if _is_framed(tile) else f"tile c{tile.color}"
    first = y + tall / 2 + 5 - 9 * (len(_words(tile)) - 1)
    return [
        ("rect", {"class": css, **place, **size, **tint}, []),
        *(
            _text(x + wide / 2, first + 18 * line, words, "inside middle")
            for line, words in enumerate(_words(tile))
        ),
    ]


# What all share


def _values(mark: Mark) -> list[float]:
    """Everything of a mark that its axis has to hold."""
    return [value for value in _three(mark) if value is not None]


def _three(mark: Mark) -> tuple[float | None, float | None, float | None]:
    if mark.value is None:
        return None, None, None
    return mark.value, mark.low, mark.high


def _css(mark: Mark, own: bool) -> str:
    """What it looks like: as ``look`` says, or a diamond for the reader's own."""
    return "own" if own else mark.look


def _number(value: float) -> str:
    """A place with two decimals at most; written as a browser writes it, so no ``:.2f``."""
    return f"{math.floor(value * 100 + 0.5) / 100:.12g}"


def _line(x1: float, x2: float, y1: float, y2: float, css: str) -> Node:
    across = {"x1": f"{_number(x1)}%", "x2": f"{_number(x2)}%"}
    return ("line", {"class": css, **across, "y1": _number(y1), "y2": _number(y2)}, [])


def _anchor(at: float) -> str:
    return "" if at < 1 else "end" if at > 99 else "middle"


def _text(x: float, y: float, words: str, css: str = "") -> Node:
    """Letters at ``x`` percent of the width and ``y`` pixels from the top."""
    place = {"x": f"{_number(x)}%", "y": _number(y)}
    return ("text", {"class": css, **place} if css else place, [words])
