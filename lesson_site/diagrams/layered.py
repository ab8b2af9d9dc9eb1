"""Where the nodes and arrows of a flowchart lie: layers, an order in each, and routes between them.

The usual four steps of a layered drawing: turn arrows that close a circle round, give every node
the layer after its last predecessor, sort each layer by its neighbours, and move nodes to where
their arrows are straight. A position has two numbers: ``main`` runs with the flow, ``cross``
across it; only the last step says which of them is x.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

STEM_PX = 16.0  # from a node to the first bend, long enough for an arrowhead
TRACK_PX = 12.0  # between two bends of one gap
APART_PX = 24.0  # between two nodes of a layer
LANE_PX = 18.0  # between a node and an arrow that passes beside it
PORT_PX = 16.0  # between two arrows that enter one node
BESIDE_PX = 6.0  # between an arrow and its label
MARGIN_PX = 2.0

Point = tuple[float, float]
Size = tuple[float, float]


@dataclass(frozen=True)
class Rect:
    """A rectangle by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: "Rect") -> bool:
        """Whether the two share more than a border."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


@dataclass(frozen=True)
class Arrow:
    """An arrow to be laid out, with the size of its label where it has one."""

    source: str
    target: str
    label: Size | None = None


@dataclass(frozen=True)
class Layout:
    """A finished drawing's geometry, in pixels.

    Attributes:
        boxes: Where each node lies.
        routes: The corners of each arrow, from its source to its target.
        labels: Where the label of each arrow lies, if it has one.
        width: Of all of it.
        height: Of all of it.
    """

    boxes: dict[str, Rect]
    routes: list[list[Point]]
    labels: list[Rect | None]
    width: float
    height: float


@dataclass
class _Item:
    """What takes a place in a layer: a node, or an arrow on its way through (no name)."""

    layer: int
    along: float  # its extent with the flow
    across: float
    name: str | None = None
    cross: float = 0.0


@dataclass
class _Leg:
    """The part of an arrow in one gap, between an item of one layer and an item of the next."""

    arrow: int
    upper: _Item
    lower: _Item
    upward: bool  # the arrow runs against the flow
    label: Size | None = None  # with the flow, across it
    start: float = 0.0  # cross position at the upper layer
    end: float = 0.0
    track: int = 0


@dataclass
class _Lane:
    """An arrow that runs back beside the nodes of several layers."""

    arrow: int
    source: _Item
    target: _Item
    side: int  # 1 or -1: on which side
    at: float  # its cross position
    label: Size | None
    source_beside: bool = True  # it leaves at the side, not into the gap after it
    target_beside: bool = True


def lay_out(sizes: Mapping[str, Size], arrows: Sequence[Arrow], *, horizontal: bool) -> Layout:
    """Place nodes of these sizes and route the arrows, downwards or to the right."""
    return _Work(sizes, arrows, horizontal).layout()


class _Work:
    def __init__(self, sizes: Mapping[str, Size], arrows: Sequence[Arrow], flat: bool) -> None:
        self.flat = flat
        self.arrows = arrows
        self.back = _back_arrows(list(sizes), arrows)
        self.layer_of = _layers(list(sizes), self._forward())
        self.items = {
            name: _Item(self.layer_of[name], *self._turned(size), name=name)
            for name, size in sizes.items()
        }
        self.layers: list[list[_Item]] = [[] for _ in range(max(self.layer_of.values()) + 1)]
        for name in sizes:
            self.layers[self.layer_of[name]].append(self.items[name])
        self.legs: list[_Leg] = []
        self.weights: dict[tuple[int, int], float] = {}
        # The room for labels in each gap; of each label, how far before the layer, and its low end
        self.rooms: list[float] = []
        self.rows: dict[int, tuple[float, float]] = {}
        self._cut_into_legs()

    def layout(self) -> Layout:
        """All steps after the layers."""
        self._order()
        self._position()
        self._ports()
        self._label_rows()
        lanes = self._lanes()
        return self._drawn(lanes, *self._main_positions(lanes))

    def _turned(self, size: Size) -> Size:
        """A size or point of the page as one along and across the flow, and the other way round."""
        return size if self.flat else (size[1], size[0])

    def _forward(self) -> list[tuple[str, str]]:
        return [
            (arrow.source, arrow.target)
            for index, arrow in enumerate(self.arrows)
            if index not in self.back
        ]

    def _cut_into_legs(self) -> None:
        """An arrow through several layers gets an item in each of them."""
        height, depth = _reach(list(self.items), self._forward())
        children, parents = defaultdict(list), defaultdict(list)
        for source, target in self._forward():
            children[source].append(height[target])
            parents[target].append(depth[source])
        for index, arrow in enumerate(self.arrows):
            upper, lower = self.items[arrow.source], self.items[arrow.target]
            upward = index in self.back
            if upward:
                upper, lower = lower, upper
                if lower.layer - upper.layer > 1:
                    continue  # it takes a lane
            chain = [upper]
            for layer in range(upper.layer + 1, lower.layer):
                item = _Item(layer, 0.0, 2.0)
                self.layers[layer].append(item)
                chain.append(item)
            chain.append(lower)
            # What leads furthest goes straight on; what branches off, or passes by, gives way
            spine = not upward and (
                children[arrow.source].count(height[arrow.target]) == 1
                and height[arrow.target] == max(children[arrow.source])
                and parents[arrow.target].count(depth[arrow.source]) == 1
                and depth[arrow.source] == max(parents[arrow.target])
            )
            size = self._turned(arrow.label) if arrow.label else None
            for place, (first, second) in enumerate(pairwise(chain)):
                last = place == len(chain) - 2
                leg = _Leg(index, first, second, upward, size if place == 0 else None)
                self.legs.append(leg)
                passing = not last and place > 0
                weight = 50.0 if spine or passing else 0.2 if upward else 1.0
                self.weights[id(first), id(second)] = weight

    def _order(self) -> None:
        """Sort each layer by the middle of its neighbours; keep the order with fewest crossings."""
        before, after = defaultdict(list), defaultdict(list)
        for leg in self.legs:
            before[id(leg.lower)].append(leg.upper)
            after[id(leg.upper)].append(leg.lower)
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        for sweep in range(8):
            down = sweep % 2 == 0
            for layer in self.layers if down else reversed(self.layers):
                self._sort(layer, before if down else after)
            if self._crossings() < fewest:
                best, fewest = [list(layer) for layer in self.layers], self._crossings()
        self.layers = best

    def _sort(self, layer: list[_Item], neighbours: Mapping[int, Sequence[_Item]]) -> None:
        """Sort a layer by the middle of each item's neighbours in the layer before or after."""
        place = self._places()

        def middle(item: _Item) -> float:
            near = neighbours.get(id(item))
            return sum(place[id(other)] for other in near) / len(near) if near else place[id(item)]

        layer.sort(key=middle)

    def _places(self) -> dict[int, float]:
        return {
            id(item): (index + 0.5) / len(layer)
            for layer in self.layers
            for index, item in enumerate(layer)
        }

    def _crossings(self) -> int:
        place = self._places()
        spans = [(leg.upper.layer, place[id(leg.upper)], place[id(leg.lower)]) for leg in self.legs]
        return sum(
            a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < 0
            for index, a in enumerate(spans)
            for b in spans[:index]
        )

    def _position(self) -> None:
        """Move the items of each layer towards their neighbours, without changing their order."""
        near: dict[int, list[tuple[_Item, float]]] = defaultdict(list)
        for leg in self.legs:
            weight = self.weights[id(leg.upper), id(leg.lower)]
            near[id(leg.upper)].append((leg.lower, weight))
            near[id(leg.lower)].append((leg.upper, weight))
        for layer in self.layers:
            _spread(layer, [0.0] * len(layer), [1.0] * len(layer))
        for sweep in range(12):
            step = 1 if sweep % 2 == 0 else -1
            for layer in self.layers[::step]:
                wanted, weights = [], []
                for item in layer:
                    # The first sweeps look one way only; the last ones at all neighbours
                    seen = [
                        (other, weight)
                        for other, weight in near[id(item)]
                        if sweep >= 6 or (item.layer - other.layer) * step > 0
                    ]
                    total = sum(weight for _, weight in seen)
                    middle = sum(o.cross * w for o, w in seen) / total if total else item.cross
                    wanted.append(middle)
                    weights.append(total or 0.01)
                _spread(layer, wanted, weights)

    def _ports(self) -> None:
        """Where arrows meet nodes: they leave in the middle, and enter side by side."""
        for leg in self.legs:
            leg.start, leg.end = leg.upper.cross, leg.lower.cross
        for item in self.items.values():
            entering = [leg for leg in self.legs if leg.lower is item]
            # Of two arrows between the same nodes, the one that returns lies outside
            aims = [leg.upper.cross for leg in entering]
            ties = [
                (1 if aim < item.cross else -1) * leg.upward
                for aim, leg in zip(aims, entering, strict=True)
            ]
            for leg, at in zip(entering, _ports(item, aims, ties), strict=True):
                leg.end = at
        for item in self.items.values():
            leaving = [leg for leg in self.legs if leg.upper is item]
            back = [leg for leg in leaving if leg.upward]
            for index, leg in enumerate(back):
                side = 1 if leg.lower.cross >= item.cross else -1
                leg.start = item.cross + side * PORT_PX * (index + 1)
            straight = [leg for leg in leaving if not leg.upward]
            if len(straight) == 1 and len(back) == 0:
                low, high = item.cross - item.across / 2, item.cross + item.across / 2
                if low + PORT_PX <= straight[0].end <= high - PORT_PX:
                    straight[0].start = straight[0].end

    def _lanes(self) -> list[_Lane]:
        lanes: list[_Lane] = []
        back = sorted((i for i in self.back if self._span(i) > 1), key=lambda i: (self._span(i), i))
        for index in back:
            arrow = self.arrows[index]
            source, target = self.items[arrow.source], self.items[arrow.target]
            tries = [self._lane(index, source, target, side, lanes) for side in (1, -1)]
            lanes.append(min(tries, key=lambda pair: pair[0])[1])
        return lanes

    def _span(self, index: int) -> int:
        arrow = self.arrows[index]
        return self.layer_of[arrow.source] - self.layer_of[arrow.target]

    def _lane(
        self, index: int, source: _Item, target: _Item, side: int, lanes: Sequence[_Lane]
    ) -> tuple[float, _Lane]:
        """An arrow back on one side, and how much it disturbs there."""
        label = self.arrows[index].label
        size = self._turned(label) if label else None
        passed = [i for layer in self.layers[target.layer : source.layer + 1] for i in layer]
        reach = [side * item.cross + item.across / 2 for item in passed]
        for lane in lanes:
            apart = lane.target.layer > source.layer or target.layer > lane.source.layer
            if lane.side == side and not apart:
                reach.append(side * lane.at + (BESIDE_PX + lane.label[1] if lane.label else 0.0))
        for leg in self.legs:
            if leg.label and target.layer <= leg.lower.layer <= source.layer + 1:
                low = self.rows[leg.arrow][1]
                reach.append(max(side * low, side * (low + leg.label[1])))
        at = side * (max(reach) + LANE_PX)
        beside = [
            not any(side * (o.cross - item.cross) > 0 for o in self.layers[item.layer] if o.name)
            for item in (source, target)
        ]
        cost = 1000.0 * (2 - sum(beside)) + abs(at - source.cross) + abs(at - target.cross)
        return cost, _Lane(index, source, target, side, at, size, *beside)

    def _main_positions(
        self, lanes: Sequence[_Lane]
    ) -> tuple[list[float], dict[tuple[int, int], int]]:
        """Where each layer begins, and the tracks of lanes in the gaps that they use."""
        count = len(self.layers)
        lane_tracks: dict[tuple[int, int], int] = {}
        starts, at = [], 0.0
        for gap in range(count + 1):
            legs = [leg for leg in self.legs if leg.lower.layer == gap]
            spans: dict[tuple[str, int], list[float]] = defaultdict(list)
            for leg in legs:
                if abs(leg.start - leg.end) > 0.5:
                    key = ("back", leg.arrow) if leg.upward else ("from", id(leg.upper))
                    spans[key] += [leg.start, leg.end]
            for lane in lanes:
                if not lane.target_beside and lane.target.layer == gap:
                    spans["lane", lane.arrow] += [lane.at, lane.target.cross]
                if not lane.source_beside and lane.source.layer == gap - 1:
                    spans["lane", lane.arrow] += [lane.at, lane.source.cross]
            tracks, used = _tracks(spans)
            for leg in legs:
                key = ("back", leg.arrow) if leg.upward else ("from", id(leg.upper))
                leg.track = tracks.get(key, 0)
            for (kind, number), track in tracks.items():
                if kind == "lane":
                    lane_tracks[number, gap] = track
            if 0 < gap < count or used:
                at += 2 * STEM_PX + max(0, used - 1) * TRACK_PX + self.rooms[gap]
            if gap < count:
                starts.append(at)
                at += max(item.along for item in self.layers[gap])
        return [*starts, at], lane_tracks

    def _label_rows(self) -> None:
        """Find the place of each label beside its leg, and the room that a gap needs for them."""
        for gap in range(len(self.layers) + 1):
            legs = [leg for leg in self.legs if leg.lower.layer == gap]
            self.rooms.append(self._label_rows_of(legs))

    def _label_rows_of(self, legs: Sequence[_Leg]) -> float:
        """Give each label of a gap a row and a side where it meets no other; the room they take."""
        labelled = [leg for leg in legs if leg.label]
        thick = max((leg.label[0] for leg in labelled if leg.label), default=0.0)
        taken: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for leg in sorted(labelled, key=lambda leg: leg.end):
            assert leg.label is not None
            wide = leg.label[1]
            outward = 1 if leg.end >= leg.upper.cross else -1
            tries = []
            for row in range(len(labelled)):
                for side in (outward, -outward):
                    low = leg.end + BESIDE_PX if side > 0 else leg.end - BESIDE_PX - wide
                    if any(low < b + 4 and a < low + wide + 4 for a, b in taken[row]):
                        continue
                    hits = sum(low < other.end < low + wide for other in legs if other is not leg)
                    tries.append((hits, row, side != outward, low))
            _, row, _, low = min(tries)
            taken[row].append((low, low + wide))
            self.rows[leg.arrow] = (row * (thick + 4.0), low)
        used = 1 + max((row for row, spans in taken.items() if spans), default=-1)
        return used * (thick + 4.0)

    def _drawn(
        self,
        lanes: Sequence[_Lane],
        starts: Sequence[float],
        lane_tracks: Mapping[tuple[int, int], int],
    ) -> Layout:
        thick = [max(item.along for item in layer) for layer in self.layers]
        middle = [start + along / 2 for start, along in zip(starts, thick, strict=False)]

        def track_at(gap: int, track: int) -> float:
            end = starts[gap - 1] + thick[gap - 1] if gap else 0.0
            return end + STEM_PX + track * TRACK_PX

        boxes, routes = {}, [list[Point]() for _ in self.arrows]
        labels: list[tuple[float, float, float, float] | None] = [None for _ in self.arrows]
        for name, item in self.items.items():
            start = middle[item.layer] - item.along / 2
            boxes[name] = (start, item.cross - item.across / 2, item.along, item.across)
        for leg in self.legs:
            bend = track_at(leg.lower.layer, leg.track)
            end = middle[leg.lower.layer] - leg.lower.along / 2
            routes[leg.arrow] += [
                (middle[leg.upper.layer] + leg.upper.along / 2, leg.start),
                (bend, leg.start),
                (bend, leg.end),
                (end, leg.end),
            ]
            if leg.label:
                before, low = self.rows[leg.arrow]
                along, across = leg.label
                top = starts[leg.lower.layer] - before - along - 4.0 - STEM_PX / 2
                labels[leg.arrow] = (top, low, along, across)
        for index in self.back:
            routes[index].reverse()
        for lane in lanes:
            source, target, side = lane.source, lane.target, lane.side
            leave, enter = middle[source.layer], middle[target.layer]
            if lane.source_beside:
                route = [(leave, source.cross + side * source.across / 2)]
            else:
                end, leave = (
                    leave + source.along / 2,
                    track_at(source.layer + 1, lane_tracks[lane.arrow, source.layer + 1]),
                )
                route = [(end, source.cross), (leave, source.cross)]
            route.append((leave, lane.at))
            if lane.target_beside:
                route += [(enter, lane.at), (enter, target.cross + side * target.across / 2)]
            else:
                start, enter = (
                    enter - target.along / 2,
                    track_at(target.layer, lane_tracks[lane.arrow, target.layer]),
                )
                route += [(enter, lane.at), (enter, target.cross), (start, target.cross)]
            routes[lane.arrow] = route
            if lane.label:
                along, across = lane.label
                near = max(leave - along - BESIDE_PX, (leave + enter - along) / 2)
                low = (leave + enter - along) / 2 if self.flat else near
                beside = lane.at + BESIDE_PX if side > 0 else lane.at - BESIDE_PX - across
                labels[lane.arrow] = (low, beside, along, across)
        return self._moved(boxes, routes, labels)

    def _moved(
        self,
        boxes: Mapping[str, tuple[float, float, float, float]],
        routes: Sequence[Sequence[Point]],
        labels: Sequence[tuple[float, float, float, float] | None],
    ) -> Layout:
        """Turn main and cross into x and y, and begin at the margin."""

        def rect(box: tuple[float, float, float, float]) -> Rect:
            return Rect(*self._turned(box[:2]), *self._turned(box[2:]))

        rects = {name: rect(box) for name, box in boxes.items()}
        tags = [rect(box) if box else None for box in labels]
        lines = [_corners([self._turned(point) for point in route]) for route in routes]
        all_rects = [*rects.values(), *(tag for tag in tags if tag)]
        points = [point for line in lines for point in line]
        points += [(r.x, r.y) for r in all_rects]
        points += [(r.x + r.width, r.y + r.height) for r in all_rects]
        left, top = (min(point[axis] for point in points) - MARGIN_PX for axis in (0, 1))
        right, bottom = (max(point[axis] for point in points) + MARGIN_PX for axis in (0, 1))

        def moved(r: Rect) -> Rect:
            return Rect(r.x - left, r.y - top, r.width, r.height)

        return Layout(
            {name: moved(r) for name, r in rects.items()},
            [[(x - left, y - top) for x, y in line] for line in lines],
            [moved(tag) if tag else None for tag in tags],
            right - left,
            bottom - top,
        )


def _back_arrows(names: Sequence[str], arrows: Sequence[Arrow]) -> set[int]:
    """The arrows that close a circle, as a walk finds them that follows the order of the text."""
    targets = {arrow.target for arrow in arrows}
    state: dict[str, str] = {}
    back: set[int] = set()

    def walk(name: str) -> None:
        state[name] = "open"
        for index, arrow in enumerate(arrows):
            if arrow.source == name:
                if state.get(arrow.target) == "open":
                    back.add(index)
                elif arrow.target not in state:
                    walk(arrow.target)
        state[name] = "done"

    for name in sorted(names, key=lambda name: name in targets):
        if name not in state:
            walk(name)
    return back


def _layers(names: Sequence[str], forward: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Each node after its last predecessor; a node without one right before what follows it."""
    _, depth = _reach(names, forward)
    followed: dict[str, list[str]] = defaultdict(list)
    for source, target in forward:
        followed[source].append(target)
    entered = {target for _, target in forward}
    return {
        name: min(depth[target] for target in followed[name]) - 1
        if followed[name] and name not in entered
        else depth[name]
        for name in names
    }


def _reach(
    names: Sequence[str], forward: Sequence[tuple[str, str]]
) -> tuple[dict[str, int], dict[str, int]]:
    """How many arrows the longest way from each node to an end has, and to it from a beginning."""
    height, depth = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for _ in names:
        for source, target in forward:
            height[source] = max(height[source], height[target] + 1)
            depth[target] = max(depth[target], depth[source] + 1)
    return height, depth


def _spread(layer: Sequence[_Item], wanted: Sequence[float], weights: Sequence[float]) -> None:
    """Put items as near as possible to where they want to be, in order and apart.

    Items that would touch form a block, which goes to the weighted mean of what its items want.
    """
    offsets = [0.0]
    for first, second in pairwise(layer):
        apart = APART_PX if first.name and second.name else LANE_PX
        offsets.append(offsets[-1] + (first.across + second.across) / 2 + apart)
    blocks: list[tuple[float, float, int]] = []  # where its first item goes, weight, how many
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        block = (want - offset, weight, 1)
        while blocks and blocks[-1][0] > block[0]:
            at, other, many = blocks.pop()
            total = other + block[1]
            block = ((at * other + block[0] * block[1]) / total, total, many + block[2])
        blocks.append(block)
    starts = [at for at, _, many in blocks for _ in range(many)]
    for item, start, offset in zip(layer, starts, offsets, strict=True):
        item.cross = start + offset


def _ports(item: _Item, sources: Sequence[float], ties: Sequence[int]) -> list[float]:
    """Where arrows from these cross positions enter a node: straight where they can."""
    room = item.across / 2 - PORT_PX
    if not sources:
        return []
    if len(sources) == 1:
        return [sources[0] if abs(sources[0] - item.cross) <= room else item.cross]
    order = sorted(range(len(sources)), key=lambda index: (sources[index], ties[index]))
    step = min(PORT_PX, 2 * max(room, 4.0) / max(1, len(sources) - 1))
    aims = [_port(item, sources[index], room) for index in order]
    for place in range(1, len(aims)):
        aims[place] = max(aims[place], aims[place - 1] + step)
    over = max(0.0, aims[-1] - item.cross - max(room, 4.0))
    aims = [aim - over for aim in aims]
    ports = [0.0] * len(sources)
    for index, aim in zip(order, aims, strict=True):
        ports[index] = aim
    return ports


def _port(item: _Item, source: float, room: float) -> float:
    if abs(source - item.cross) <= room:
        return source
    return item.cross + (room / 2 if source > item.cross else -room / 2)


def _tracks(
    spans: Mapping[tuple[str, int], Sequence[float]],
) -> tuple[dict[tuple[str, int], int], int]:
    """The track of each bend, so that no two on one track meet, and how many tracks there are."""
    tracks: dict[tuple[str, int], int] = {}
    taken: list[list[tuple[float, float]]] = []
    # What returns bends first, so that it lies inside of what leads there
    reach = {key: (key[0] != "back", max(ends) - min(ends)) for key, ends in spans.items()}
    for key in sorted(spans, key=lambda key: reach[key]):
        low, high = min(spans[key]) - 4, max(spans[key]) + 4
        free = [not any(low < b and a < high for a, b in others) for others in taken]
        tracks[key] = free.index(True) if True in free else len(taken)
        if tracks[key] == len(taken):
            taken.append([])
        taken[tracks[key]].append((low, high))
    return tracks, len(taken)


def _corners(points: Sequence[Point]) -> list[Point]:
    """A route without points that lie on the way between their neighbours."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) < 0.05:
            continue
        while len(kept) > 1 and _in_line(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _in_line(a: Point, b: Point, c: Point) -> bool:
    return any(abs(a[axis] - b[axis]) < 0.05 and abs(b[axis] - c[axis]) < 0.05 for axis in (0, 1))
