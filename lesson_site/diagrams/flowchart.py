"""A flowchart: boxes and questions, laid out in layers."""

from collections.abc import Sequence

from lesson_site.diagrams.layered import BESIDE_PX, Arrow, Point, Rect, Size, lay_out
from lesson_site.diagrams.letters import LINE_PX, balanced, widest_px
from lesson_site.diagrams.source import Diagram, Node
from lesson_site.diagrams.svg import Drawing, arrows, boxes, letters, questions

INSIDE_X_PX, INSIDE_Y_PX = 12.0, 8.0
LABEL_PX = 130.0  # the longest line of a label


def flowchart(diagram: Diagram, *, horizontal: bool, text_px: float) -> Drawing:
    """Draw a flowchart with no line of a box wider than ``text_px``, where its words allow it."""
    texts = {name: _lines(node, text_px) for name, node in diagram.nodes.items()}
    sizes = {name: _size(diagram.nodes[name], texts[name]) for name in diagram.nodes}
    labels = [balanced(edge.label, LABEL_PX) for edge in diagram.edges]
    layout = lay_out(
        sizes,
        [
            Arrow(edge.source, edge.target, _label_size(label))
            for edge, label in zip(diagram.edges, labels, strict=True)
        ],
        horizontal=horizontal,
    )
    parts = []
    for dashed in (False, True):
        routes = [
            route
            for route, edge in zip(layout.routes, diagram.edges, strict=True)
            if edge.dashed == dashed
        ]
        parts.append(arrows(routes, "arrow dashed" if dashed else "arrow"))
    nodes = diagram.nodes
    parts.append(boxes([layout.boxes[name] for name in nodes if not nodes[name].question]))
    parts.append(questions([layout.boxes[name] for name in nodes if nodes[name].question]))
    for name in nodes:
        rect, (first, more) = layout.boxes[name], texts[name]
        middle = rect.x + rect.width / 2
        top = rect.y + (rect.height - LINE_PX * len(first + more)) / 2
        parts.append(letters(middle, top, first))
        parts.append(letters(middle, top + LINE_PX * len(first), more, "more"))
    for place, label, route in zip(layout.labels, labels, layout.routes, strict=True):
        if place is not None:
            parts.append(_label(place, label, route))
    return Drawing("".join(parts), layout.width, layout.height)


def _lines(node: Node, text_px: float) -> tuple[list[str], list[str]]:
    """The lines of a node's name, and those of what it says about itself."""
    first = balanced(node.lines[0], text_px)
    more = [line for text in node.lines[1:] for line in balanced(text, text_px)]
    return (first + more, []) if node.question else (first, more)


def _size(node: Node, lines: tuple[list[str], list[str]]) -> Size:
    both = [*lines[0], *lines[1]]
    height = LINE_PX * len(both) + 2 * INSIDE_Y_PX
    # The ends of a question take a third of its height each, of which its text uses a part
    ends = height / 3 if node.question else 0.0
    return widest_px(both) + 2 * INSIDE_X_PX + ends, height


def _label(place: Rect, lines: list[str], route: Sequence[Point]) -> str:
    """A label, next to its arrow even where its letters are not as wide as was thought."""
    if any(abs(x + BESIDE_PX - place.x) < 0.1 for x, _ in route):
        return letters(place.x, place.y, lines, "label start")
    right = place.x + place.width
    if any(abs(x - BESIDE_PX - right) < 0.1 for x, _ in route):
        return letters(right, place.y, lines, "label end")
    return letters(place.x + place.width / 2, place.y, lines, "label")


def _label_size(lines: list[str]) -> Size | None:
    return (widest_px(lines), LINE_PX * len(lines)) if lines else None
