"""Puts what readers measured into a chart and its table, beside what the chart says anyway.

A chart's finding, caption and quotients are made before, of our own results alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lesson_site.charts.base import DASH, Cell, Chart
from lesson_site.charts.description import (
    CARD,
    Description,
    Group,
    Mark,
    Plane,
    Row,
    Rows,
    Series,
    StandIn,
    Tile,
    Tiles,
    is_empty,
    marks_in,
)
from results.catalogue import Definition
from results.contributed import Contribution, best_of_each_card
from results.quantities import SPACE, write
from results.store import Figure

MOST = 2  # in a chart: one file of a card
ROOM = 34  # characters of a label for the card and the name, on a narrow telephone
KEY_ROOM = 41  # and of a curve's, with its own label
SHORTEST = 8
SHAPE = "▲"  # in words, as in a tile
MAKERS = ("NVIDIA ", "GeForce ", "Tesla ", "AMD ", "Intel(R) ", "Xeon(R) ")
Values = Callable[[Mark], Mark | None]


def with_contributed(
    chart: Chart, contributions: Sequence[Contribution], definitions: Mapping[str, Definition]
) -> Chart:
    """The chart with readers' points, their columns in its table, and where each was measured.

    Args:
        chart: What is shown.
        contributions: What readers gave, newest first.
        definitions: The catalogue by name.
    """
    names = {_measured_name(mark) for mark in marks_in(chart.description)}
    figures = [definitions[name] for name in sorted(names & definitions.keys())]
    shown = best_of_each_card(contributions, figures, MOST)
    if not shown or is_empty(chart.description):
        return chart
    description = chart.description
    readers = [_Reader(one, definitions) for one in shown]
    for reader in readers[:1] if isinstance(description, Tiles) else reversed(readers):
        description = _joined(description, reader)
    columns = [
        (column, reader)
        for column in range(len(chart.head))
        for reader in readers
        if any(reader.text(row[column]) for row in chart.rows)
    ]
    return replace(
        chart,
        description=description,
        head=(*chart.head, *(f"{_gpu(chart.head[at])}, {by.told()}" for at, by in columns)),
        rows=[(*row, *(by.text(row[at]) or DASH for at, by in columns)) for row in chart.rows],
        readers=[f"Measured by {one.name} on {one.where}." for one in shown],
    )


def _measured_name(mark: Mark) -> str:
    """The figure that would be measured there; none of what only this browser's reader knows."""
    return "" if mark.amount else mark.own or mark.name


def _gpu(label: str) -> str:
    """A label without the card of the forecasts, which did not measure it."""
    return label.replace(CARD, "GPU")


@dataclass(frozen=True)
class _Reader:
    """A reader's file, as a chart asks for it."""

    given: Contribution
    definitions: Mapping[str, Definition]

    def told(self, name: str = "") -> str:
        """Machine and reader, as short as a label needs it; of a CPU's figure the processor."""
        card = self._machine(name, max(SHORTEST, ROOM - len(self.given.name)))
        return f"{card}, measured by {self.given.name}"

    def key(self, label: str, name: str) -> str:
        """The same behind a curve's label, as far as there is room; the legend says the rest."""
        room = KEY_ROOM - len(label) - len(self.given.name)
        card = f"{self._machine(name, room)}, " if room >= SHORTEST else ""
        return f"{label}: {card}{self.given.name}"

    def _machine(self, name: str, room: int) -> str:
        """What measured the figure of this name, in so many characters at most."""
        definition = self.definitions.get(name)
        on_cpu = definition is not None and not definition.on_gpu and not definition.in_browser
        card = self.given.processor if on_cpu else self.given.machine
        for maker in MAKERS:
            card = card.removeprefix(maker)
        return card if len(card) <= room else f"{card[: room - 1].rstrip()}…"

    def mark(self, mark: Mark) -> Mark | None:
        """What the reader measured in the place of a mark; None if nothing."""
        definition = self.definitions.get(_measured_name(mark))
        found = definition and self.given.estimate(definition)
        if not definition or not found:
            return None
        source = f"{self.given.machine}, {self.given.software}, {self.given.date}"
        text = write(found.value, definition.unit, found.spread)
        return Mark(
            *(found.value, text, "measured", definition.name),
            source=source,
            noisy=found.noisy,
            by=self.given.name,
        )

    def text(self, cell: Cell) -> str:
        """What the reader measured in the place of a table's cell; empty if nothing."""
        if not isinstance(cell, Figure):
            return ""
        name = cell.measured if isinstance(cell, StandIn) else cell.name
        definition = self.definitions.get(name)
        return self.given.text(definition) if definition else ""


def _joined(description: Description, reader: _Reader) -> Description:
    if isinstance(description, Rows):
        groups = [_group(group, reader) for group in description.groups]
        return replace(description, groups=groups)
    if isinstance(description, Plane):
        series = [part for each in description.series for part in _series(each, reader)]
        return replace(description, series=series)
    return _tiles(description, reader)


def _group(group: Group, reader: _Reader) -> Group:
    """Below each of its rows the reader's."""
    rows = []
    for row in group.rows:
        mark = None if row.mark.by else reader.mark(row.mark)
        rows += (
            [row, Row(_gpu(row.label), row.color, mark, note=reader.told(mark.name))]
            if mark
            else [row]
        )
    return replace(group, rows=rows)


def _series(series: Series, reader: _Reader) -> list[Series]:
    """The curve, and the reader's points of the same."""
    if any(mark.by for _, mark in series.points):
        return [series]
    points = [(at, mark) for at, old in series.points if (mark := reader.mark(old))]
    if not points:
        return [series]
    label = reader.key(_gpu(series.label), points[0][1].name)
    return [series, Series(label, series.color, points, style="points")]


def _tiles(tiles: Tiles, reader: _Reader) -> Tiles:
    """A line more in each tile: the second time, a GPU's, or the first where there is none."""
    places = [at for at in (1, 0) if any(reader.mark(tile.marks[at]) for tile in tiles.tiles)]
    if not places:
        return tiles
    name = _gpu(tiles.names[places[0]])
    told = reader.told(next(m.name for t in tiles.tiles if (m := reader.mark(t.marks[places[0]]))))

    def joined(tile: Tile) -> Tile:
        mark = reader.mark(tile.marks[places[0]])
        words = [*tile.words, f"{SHAPE}{SPACE}{mark.text}"] if mark else tile.words
        return replace(tile, words=words, marks=[*tile.marks, mark or Mark(None)])

    note = f"{SHAPE}: {name}, {told}."
    return replace(
        tiles,
        tiles=[joined(tile) for tile in tiles.tiles],
        note="\n".join(filter(None, [tiles.note, note])),
        names=[*tiles.names, f"{name}, {told}"],
    )
