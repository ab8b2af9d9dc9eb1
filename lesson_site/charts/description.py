"""What a chart is made of, once: Python draws it when the site is built, the browser later.

A description is plain data. ``drawing.py`` and ``docs/assets/elements/chart/drawing.js`` make the
same drawing of it, and a test compares them. There are three shapes: rows of marks beside one
another, curves over a plane, and tiles. Every mark says of which kind its value is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from results.store import Figure, Kind

DASHES = ("", "8 4", "2 4", "8 4 2 4", "1 3")
CARD = "{card}"  # in a group's title, where the name of the forecasts' card belongs


@dataclass(frozen=True)
class Mark:
    """One value.

    Attributes:
        value: In its base unit; None if nobody has it, and then nothing is drawn.
        text: The value with its unit.
        kind: Measured, published, forecast or exact.
        name: Its figure's name; may be empty.
        own: The name by which the reader's own value is found, where it is another one: a forecast
            stands for what their GPU may have measured.
        source: How it was found, in a few words.
        low: The lower end of a forecast's band.
        high: Its upper end.
        band: Both ends, written.
        noisy: Whether its measurement was restless.
        amount: Where the reader's own value is a rate, the work whose time is drawn.
        by: Which reader measured it, where it was not we.
    """

    value: float | None
    text: str = ""
    kind: Kind = "measured"
    name: str = ""
    own: str = ""
    source: str = ""
    low: float | None = None
    high: float | None = None
    band: str = ""
    noisy: bool = False
    amount: float = 0
    by: str = ""

    @property
    def look(self) -> str:
        """What its shape says of it: its kind, or that a reader gave it."""
        return "contributed" if self.by else self.kind


@dataclass(frozen=True)
class Row:
    """A mark on a line of its own, its label above it.

    Attributes:
        label: What it is.
        color: The number of its colour.
        mark: Its value.
        own: Whether the reader's machine measured it; only the browser knows such rows.
        note: A second line of its label, in smaller letters.
    """

    label: str
    color: int
    mark: Mark
    own: bool = False
    note: str = ""


@dataclass(frozen=True)
class Group:
    """Rows that belong together.

    Attributes:
        title: Written once above them; ``{card}`` in it, or in a row's label, is ``card``.
        rows: From top to bottom.
        limits: Values that none of the rows can pass, drawn as lines through all of them.
        card: The card of its forecasts, as readers call it.
        asked: Which row of the chart's check asks about these rows, from 1; 0 if none does.
    """

    title: str
    rows: Sequence[Row]
    limits: Sequence[Row] = ()
    card: str = ""
    asked: int = 0


@dataclass(frozen=True)
class Rows:
    """Rows of marks: bars from zero where the axis is linear, dots where it is logarithmic.

    Attributes:
        groups: From top to bottom.
        unit: One of ``results.quantities.UNITS``.
        log: Whether equal distances are equal quotients.
        check: The check of kind ``match`` that asks which row of a group is best, its options in
            the order of a group's rows; the browser draws what a reader predicted.
    """

    groups: Sequence[Group]
    unit: str
    log: bool = False
    check: str = ""
    shape: Literal["rows"] = "rows"


@dataclass(frozen=True)
class Series:
    """A curve, or points that belong together.

    Attributes:
        label: What it shows; ``{card}`` in it is the plane's ``card``.
        color: The number of its colour.
        points: Places along the lower axis, each with its mark.
        dash: Its pattern, one of ``DASHES``, so that colour isn't needed.
        style: ``line`` has a mark at each point, ``step`` stays level until the next one and has
            none, ``points`` are not joined.
        own: Whether the reader's machine measured it; only the browser knows such series.
    """

    label: str
    color: int
    points: Sequence[tuple[float, Mark]]
    dash: str = ""
    style: Literal["line", "step", "points"] = "line"
    own: bool = False


@dataclass(frozen=True)
class Below:
    """The axis below a plane, fixed beforehand.

    Attributes:
        title: What it shows.
        low: The value at its beginning.
        high: The value at its end.
        ticks: Values and how each is written.
        log: Whether equal distances are equal quotients.
        now: The tick that is under way, written bold.
    """

    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False
    now: float | None = None


@dataclass(frozen=True)
class Plane:
    """Curves over a plane; the axis to the left follows the values.

    Attributes:
        below: The axis below.
        title: What the axis to the left shows.
        unit: How its ticks are written: one of ``results.quantities.UNITS``, or ``short_count``.
        series: The curves.
        log: Whether the axis to the left is logarithmic.
        key: Whether to write below which pattern is which curve.
        notes: Words at places of the plane: x, y and the words, which end there.
        lead: From which place along the axis below something holds, and what.
        card: The card of its forecasts, as readers call it.
    """

    below: Below
    title: str
    unit: str
    series: Sequence[Series]
    log: bool = False
    key: bool = True
    notes: Sequence[tuple[float, float, str]] = ()
    lead: tuple[float, str] | None = None
    card: str = ""
    shape: Literal["plane"] = "plane"


@dataclass(frozen=True)
class Tile:
    """One cell of a table that is drawn.

    Attributes:
        column: Its place from the left, from 0.
        row: Its place from the top, from 0.
        color: The number of its colour.
        strength: How strong the colour is, 0 to 1; it only repeats what the words say.
        words: What it says, a line each; a line more says its forecast.
        marks: The values behind the words.
        frame: Whether it has a frame, though no forecast lies below its first value.
    """

    column: int
    row: int
    color: int
    strength: float
    words: Sequence[str]
    marks: Sequence[Mark]
    frame: bool = False


@dataclass(frozen=True)
class Tiles:
    """A table of tiles, each with its value in words.

    Attributes:
        titles: What columns and rows show.
        columns: The columns' heads.
        rows: The rows' heads.
        tiles: The cells.
        note: Lines below, which say how to read them.
        names: What the marks of a tile are; ``{card}`` in them and in the note is ``card``.
        card: The card of its forecasts, as readers call it.
    """

    titles: tuple[str, str]
    columns: Sequence[str]
    rows: Sequence[str]
    tiles: Sequence[Tile]
    note: str = ""
    names: Sequence[str] = ()
    card: str = ""
    shape: Literal["tiles"] = "tiles"


Description = Rows | Plane | Tiles


@dataclass(frozen=True)
class StandIn(Figure):
    """A forecast in the place of what no GPU has measured.

    Attributes:
        measured: The name of the figure that would be measured.
    """

    measured: str = ""


@dataclass(frozen=True)
class OwnTime(Figure):
    """The place of what only the reader measures: a time, of which their browser knows the rate.

    Attributes:
        amount: The work that takes this time.
    """

    amount: float = 0


def mark_of(figure: Figure) -> Mark:
    """A figure as a mark; the machine of what was measured is named once, below the chart."""
    own = figure.measured if isinstance(figure, StandIn) else ""
    if isinstance(figure, OwnTime):
        return Mark(None, name=figure.name, amount=figure.amount)
    if not figure.known:
        return Mark(None, kind=figure.kind, name=figure.name, own=own)
    detail = "; ".join(figure.source.split("; ")[:-1]) if figure.kind == "measured" else ""
    return Mark(
        figure.value,
        figure.text,
        figure.kind,
        figure.name,
        own,
        detail or figure.source.removeprefix("forecast "),
        figure.low,
        figure.high,
        figure.band,
        figure.noisy,
    )


def marks_in(description: Description) -> Iterator[Mark]:
    """Every mark, known or not, in the order in which a reader meets them."""
    if isinstance(description, Rows):
        for group in description.groups:
            yield from (row.mark for row in (*group.rows, *group.limits))
    elif isinstance(description, Plane):
        yield from (mark for series in description.series for _, mark in series.points)
    else:
        yield from (mark for tile in description.tiles for mark in tile.marks)


def is_empty(description: Description) -> bool:
    """Whether there is nothing to draw."""
    return all(mark.value is None for mark in marks_in(description))


def to_data(part: Any) -> Any:
    """A description as JSON has it: what equals its default is left out, ``shape`` stays.

    Numbers keep six digits, more than any drawing shows.
    """
    if is_dataclass(part):
        return {
            field.name: to_data(getattr(part, field.name))
            for field in fields(part)
            if field.name == "shape" or getattr(part, field.name) != field.default
        }
    if isinstance(part, (list, tuple)):
        return [to_data(each) for each in part]
    if isinstance(part, Mapping):
        return {name: to_data(each) for name, each in part.items()}
    return float(f"{part:.6g}") if isinstance(part, float) else part
