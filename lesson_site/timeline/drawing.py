"""The first steps of a run as a picture; ``timeline/drawing.js`` draws the same.

Positions along the width are integers in a plane that is stretched; letters are not. What works is
filled, what waits is an outline, and long blocks carry their word.
"""

import math

from lesson_code.timeline.simulation import WAITS, Block, Run
from lesson_site.charts.drawing import Node
from lesson_site.timeline.words import LANES, SHORT, WORDS
from results.quantities import write
from results.timeline import Choice

WIDTH = 10_000
LETTER = 235  # of the width, on a telephone
LABEL, BAR, ROW, GAP = 16, 20, 9, 8  # heights in pixels
FEWEST, MORE = 3, 2  # steps that are shown, and how many more than workers
STEPS = (0.2, 0.5, 1.0, 2.0, 5.0)  # between ticks, times a power of ten
TICKS = 4


def steps_shown(choice: Choice) -> int:
    """So many that every worker has brought a batch."""
    return FEWEST if choice.images == "device" else max(FEWEST, choice.workers + MORE)


def window(run: Run, shown: int) -> float:
    """When the last of the steps that are shown has ended."""
    return max(b.end for b in run.blocks if b.step < shown and b.lane != "loader")


def blocks_shown(run: Run, shown: int) -> list[Block]:
    """The blocks of the steps that are shown, as they begin."""
    order = list(LANES)
    some = [block for block in run.blocks if block.step < shown]
    return sorted(some, key=lambda block: (block.start, order.index(block.lane), block.step))


def draw(run: Run, choice: Choice) -> tuple[list[Node], int]:
    """The picture's elements and its height in pixels."""
    shown = steps_shown(choice)
    end = window(run, shown)
    blocks = blocks_shown(run, shown)
    nodes: list[Node] = []
    y = 0
    for lane, name in LANES.items():
        here = [(number, block) for number, block in enumerate(blocks) if block.lane == lane]
        rows = max(1, choice.workers) if lane == "loader" else 1
        height = max(BAR, rows * ROW)
        y += LABEL
        label = name if here else WORDS["none"].format(lane=name)
        nodes.append(("text", {"x": "0", "y": str(y - 4)}, [label]))
        if not here:
            continue
        working = [b for b in run.blocks if b.lane == lane and b.kind not in WAITS]
        later = [b for b in working if b.step >= shown and b.start < end]
        inside = [_path(later, end, height / rows, {"class": "later"})] if later else []
        for number, block in here:
            waits = " wait" if block.kind in WAITS else ""
            named = {"class": f"{lane}{waits}", "data-block": str(number)}
            inside.append(_path([block], end, height / rows, named))
        plane = {"x": "0", "y": str(y), "width": "100%", "height": str(height)}
        plane |= {"viewBox": f"0 0 {WIDTH} {height}", "preserveAspectRatio": "none"}
        nodes.append(("svg", plane, inside))
        if rows == 1:
            nodes += [node for _, block in here for node in _word(block, end, y + height / 2 + 4)]
        y += height + GAP
    marks = ticks(end)
    for tick in marks:
        at = 100 * tick / end
        anchor = {"text-anchor": "end" if at > 90 else "middle"} if tick else {}
        where = {"x": f"{_whole(at)}%", "y": str(y + 8), **anchor}
        nodes.append(("text", where, [write(tick, "s", marks[1]) if tick else "0"]))
    return nodes, y + 14


def _path(blocks: list[Block], end: float, height: float, named: dict[str, str]) -> Node:
    """Blocks as one path: a rectangle for every stretch without a gap."""
    parts = []
    for block in blocks:
        top = _whole(block.row * height)
        bottom = _whole((block.row + 1) * height) - 1
        for start, stop in stretches(block.pieces):
            left, right = (min(WIDTH, _whole(WIDTH * moment / end)) for moment in (start, stop))
            parts.append(f"M{left} {top}H{right}V{bottom}H{left}Z")
    return ("path", {**named, "d": "".join(parts)}, [])


def stretches(pieces: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Pieces that follow each other without a gap, joined."""
    joined = [pieces[0]]
    for start, end in pieces[1:]:
        if start <= joined[-1][1]:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _word(block: Block, end: float, y: float) -> list[Node]:
    """The block's word, where it has room."""
    word = SHORT[block.kind]
    if WIDTH * (block.end - block.start) / end < LETTER * len(word):
        return []
    at = _whole(50 * (block.start + block.end) / end)
    return [("text", {"class": "word", "x": f"{at}%", "y": str(_whole(y))}, [word])]


def ticks(end: float) -> list[float]:
    """From zero in round steps, at most a few."""
    decade = float(f"1e{math.floor(math.log10(end))}")
    step = next(s * decade for s in STEPS if end / (s * decade) <= TICKS)
    return [index * step for index in range(math.floor(end / step) + 1)]


def _whole(value: float) -> int:
    """The nearest whole number, halves upwards: as a browser rounds."""
    return math.floor(value + 0.5)
