"""A sequence of messages: who sends what to whom, from top to bottom."""

from lesson_site.diagrams.layered import MARGIN_PX, Point, Rect
from lesson_site.diagrams.letters import LINE_PX, balanced, widest_px
from lesson_site.diagrams.source import Diagram
from lesson_site.diagrams.svg import Drawing, arrows, boxes, letters, short

COLUMN_PX = 92.0
SELF_PX = 26.0


def sequence(diagram: Diagram) -> Drawing:
    """Draw the participants side by side and their messages below one another."""
    names = list(diagram.nodes)
    heads = [balanced(" ".join(diagram.nodes[name].lines), COLUMN_PX - 16) for name in names]
    column = max([COLUMN_PX, *(widest_px(lines) + 14 for lines in heads)])
    middles = {name: MARGIN_PX + column * (index + 0.5) for index, name in enumerate(names)}
    width = column * len(names) + 2 * MARGIN_PX
    head = LINE_PX * max(len(lines) for lines in heads) + 12
    y = MARGIN_PX + head + 10
    texts, routes = [], {False: list[list[Point]](), True: list[list[Point]]()}
    for message in diagram.edges:
        start, end = middles[message.source], middles[message.target]
        lines = balanced(message.label, max(abs(end - start), 1.4 * column) - 14)
        half = widest_px(lines) / 2
        middle = min(max((start + end) / 2, half + MARGIN_PX), width - half - MARGIN_PX)
        texts.append(letters(middle, y, lines, "label"))
        y += LINE_PX * len(lines) + 6
        if start == end:
            route = [(start, y), (start + SELF_PX, y), (start + SELF_PX, y + 14), (end, y + 14)]
            y += 14
        else:
            route = [(start, y), (end, y)]
        routes[message.dashed].append(route)
        y += 14
    lifelines = "".join(
        f"M{short(middles[name])} {short(MARGIN_PX + head)}V{short(y)}" for name in names
    )
    parts = [f'<path class="lifeline" d="{lifelines}"/>']
    parts += [arrows(routes[False]), arrows(routes[True], "arrow dashed"), *texts]
    places = [Rect(middles[name] - column / 2 + 3, MARGIN_PX, column - 6, head) for name in names]
    parts.append(boxes(places))
    for name, lines in zip(names, heads, strict=True):
        top = MARGIN_PX + (head - LINE_PX * len(lines)) / 2
        parts.append(letters(middles[name], top, lines))
    return Drawing("".join(parts), width, y + MARGIN_PX)
