"""What both kinds of diagrams share: boxes, arrows and letters as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lesson_site.diagrams.layered import Point, Rect
from lesson_site.diagrams.letters import LINE_PX

HEAD_PX = 8.0
ROUND_PX = 6.0
CORNER_PX = 3.0


@dataclass(frozen=True)
class Drawing:
    """The inside of an SVG, and its size in pixels."""

    inside: str
    width: float
    height: float


def figure(drawing: Drawing, title: str, text: str, number: int) -> str:
    """A drawing as an image with a name, above the sentence that says what it says."""
    of = f"diagram-{number}"
    width, height = short(drawing.width), short(drawing.height)
    return (
        f'<figure class="diagram"><svg viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-labelledby="{of}-title" aria-describedby="{of}-text">'
        f'<title id="{of}-title">{escape(title)}</title>{drawing.inside}</svg>'
        f'<figcaption id="{of}-text">{escape(" ".join(text.split()))}</figcaption></figure>'
    )


def arrows(routes: Sequence[Sequence[Point]], css: str = "arrow") -> str:
    """All arrows of one kind as one line and one set of heads, since elements are few."""
    if not routes:
        return ""
    lines = "".join(_line(route) for route in routes)
    heads = "".join(_head(route) for route in routes)
    return f'<path class="{css}" d="{lines}"/><path class="head" d="{heads}"/>'


def _line(route: Sequence[Point]) -> str:
    """The way along some corners, each of them rounded, as far as the arrowhead."""
    points = [*route[:-1], _towards(route[-1], route[-2], HEAD_PX - 1)]
    way = f"M{_at(points[0])}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        room = min(ROUND_PX, _distance(before, corner) / 2, _distance(corner, after) / 2)
        way += f"L{_at(_towards(corner, before, room))}"
        way += f"Q{_at(corner)} {_at(_towards(corner, after, room))}"
    return f"{way}L{_at(points[-1])}"


def _head(route: Sequence[Point]) -> str:
    tip, before = route[-1], _towards(route[-1], route[-2], HEAD_PX)
    x, y = (before[0] - tip[0]) * 0.5, (before[1] - tip[1]) * 0.5
    left, right = (before[0] + y, before[1] - x), (before[0] - y, before[1] + x)
    return f"M{_at(tip)}L{_at(left)}L{_at(right)}Z"


def _towards(point: Point, other: Point, distance: float) -> Point:
    share = distance / max(_distance(point, other), 0.01)
    return (point[0] + (other[0] - point[0]) * share, point[1] + (other[1] - point[1]) * share)


def _distance(one: Point, other: Point) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def boxes(rects: Sequence[Rect]) -> str:
    """The outlines of all boxes."""
    if not rects:
        return ""
    around = (_around(rect) for rect in rects)
    return f'<path class="box" d="{"".join(around)}"/>'


def _around(rect: Rect) -> str:
    across, down = short(rect.width - 2 * CORNER_PX), short(rect.height - 2 * CORNER_PX)
    turns = [
        f"a{CORNER_PX:.0f} {CORNER_PX:.0f} 0 0 1 {to}" for to in ("3 3", "-3 3", "-3 -3", "3 -3")
    ]
    start = _at((rect.x + CORNER_PX, rect.y))
    return f"M{start}h{across}{turns[0]}v{down}{turns[1]}h-{across}{turns[2]}v-{down}{turns[3]}Z"


def questions(rects: Sequence[Rect]) -> str:
    """The outlines of all questions, with pointed ends."""
    if not rects:
        return ""
    around = (f"M{'L'.join(_at(point) for point in _tips(rect))}Z" for rect in rects)
    return f'<path class="question" d="{"".join(around)}"/>'


def _tips(rect: Rect) -> list[Point]:
    left, right, middle = rect.x, rect.x + rect.width, rect.y + rect.height / 2
    top, bottom, tip = rect.y, rect.y + rect.height, rect.height / 3
    return [
        (left, middle),
        (left + tip, top),
        (right - tip, top),
        (right, middle),
        (right - tip, bottom),
        (left + tip, bottom),
    ]


def letters(x: float, y: float, lines: Sequence[str], css: str = "") -> str:
    """Lines of text, ``y`` being the top of the first one."""
    if not lines:
        return ""
    more = f' class="{css}"' if css else ""
    # Letters stand on a line that is about 0.73 of the line's height below its top
    places = [
        f'x="{short(x)}" y="{short(y + LINE_PX * (index + 0.73))}"' for index in range(len(lines))
    ]
    rows = [
        f" <tspan {place}>{escape(line)}</tspan>"
        for place, line in zip(places[1:], lines[1:], strict=True)
    ]
    # The space is for those who read or copy the text without its positions
    return f"<text {places[0]}{more}>{escape(lines[0])}{''.join(rows)}</text>"


def short(number: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{number:.1f}".removesuffix(".0").replace("-0.0", "0")


def _at(point: Point) -> str:
    return f"{short(point[0])} {short(point[1])}"
