"""What every chart consists of, and the HTML that it becomes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from html import escape

from lesson_code.forecast.cards import read_cards
from lesson_site.apart import apart
from lesson_site.charts.description import CARD as CARD_PLACE
from lesson_site.charts.description import (
    Description,
    OwnTime,
    StandIn,
    is_empty,
    mark_of,
    marks_in,
    to_data,
)
from lesson_site.charts.drawing import draw, said, to_svg
from results.cases import together
from results.quantities import write
from results.reader_card import FIRST, on_card
from results.store import Figure, Store

NOTHING_MEASURED = "This chart has nothing to draw until somebody measures it."
NOTHING_RECORDED = "This chart has nothing to draw until somebody records it."
DASH = "–"
ALIKE = 1.1  # a quotient below this is called about the same
# Whose forecasts are drawn until the reader chooses another card, and what readers call it
CARD = FIRST
CARD_NAME = read_cards()[CARD].name

Cell = str | Figure
Row = Sequence[Cell]
Told = tuple[float | None, str, float | None, float | None, str]


@dataclass(frozen=True)
class Chart:
    """Everything that a figure on a page consists of.

    Attributes:
        title: What is shown.
        finding: What it says, computed from the values.
        description: What is drawn, by Python and later by the browser.
        head: Titles of the table's columns.
        rows: The same values as a table; a cell is words or a named figure.
        source: Where and when what is measured was measured.
        cards: By card, what it says and forecasts under the names of those that are drawn.
        readers: Where readers measured what it shows of theirs, a sentence each.
    """

    title: str
    finding: str
    description: Description
    head: Sequence[str]
    rows: Sequence[Row]
    source: str
    cards: Mapping[str, "CardForecasts"] = field(default_factory=dict)
    readers: Sequence[str] = ()


@dataclass(frozen=True)
class CardForecasts:
    """What takes the place of a chart's forecasts once the reader has chosen another card.

    Attributes:
        label: The card's name.
        finding: The caption.
        figures: Its forecasts: value, text, low, high and band. They come from the same operations
            as those in whose place they are; what is not forecast for it is not drawn.
    """

    label: str
    finding: str
    figures: Mapping[str, Told]


@dataclass(frozen=True)
class Curve:
    """What one device reaches, such as FLOP/s, by size."""

    label: str
    rates: dict[int, Figure]

    @property
    def measured(self) -> dict[int, float]:
        """The sizes that were measured."""
        return {size: rate.value for size, rate in self.rates.items() if rate.value is not None}


def to_html(name: str, chart: Chart, number: int = 0) -> str:
    """The chart as a ``figure`` element: drawing, table, and the finding as its caption, last.

    Args:
        name: The chart's name; with ``number`` it makes its ids unique on the page.
        chart: What to show.
        number: A number that no other block of the page has.
    """
    of = f"chart-{name}-{number}"
    data = {"chart": to_data(chart.description), "cards": to_data(chart.cards or {})}
    cards = ' data-cards=""' if chart.cards else ""  # the page offers a list of cards then
    check = getattr(chart.description, "check", "")
    asks = f' data-check="{escape(check)}"' if check else ""
    empty = is_empty(chart.description)
    source = (
        f' <span class="chart-source">{escape(_source(chart))}</span>' if _source(chart) else ""
    )
    nodes, height = ([], 0) if empty else draw(chart.description)
    hidden = ' hidden=""' if empty else ""
    return (
        f'<figure class="chart chart-{name}">'
        f"<interactive-chart{apart(data)}{cards}{asks}>"
        f'<div class="chart-frame"{hidden}>'
        f'<svg class="chart-drawing {chart.description.shape}" width="100%" height="{height}" '
        f'role="img" aria-labelledby="{of}-title" aria-describedby="{of}-finding">'
        f'<title id="{of}-title">{escape(chart.title)}</title>'
        f'<desc id="{of}-finding">{escape(chart.finding)}</desc>{to_svg(nodes)}</svg></div>'
        f'<p class="chart-readout"{hidden}></p>{_table(chart)}'
        f"</interactive-chart><figcaption>{escape(chart.finding)}{source}</figcaption></figure>"
    )


def _source(chart: Chart) -> str:
    """Where it was measured; nothing where everything drawn is a forecast or published."""
    marks = marks_in(chart.description)
    measured = any(mark.value is not None and mark.look == "measured" for mark in marks)
    return chart.source if measured else ""


def _table(chart: Chart) -> str:
    """The values once more, and below them what would measure those that are missing."""
    head = "".join(f'<th scope="col"{_words(title)}</th>' for title in chart.head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in chart.rows)
    needs = dict.fromkeys(
        cell.source
        for row in chart.rows
        for cell in row
        if isinstance(cell, Figure) and not cell.known
    )
    more = f"<p>{DASH}: {escape('; '.join(needs).replace('`', ''))}.</p>" if needs else ""
    more += "".join(f"<p>{escape(reader)}</p>" for reader in chart.readers)
    return (
        '<details class="chart-table" data-search-exclude="">'
        "<summary>The same values as a table</summary>"
        f'<div class="chart-scroll" tabindex="0" role="region" aria-label="{escape(chart.title)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}</details>"
    )


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return f"<td{_words(cell)}</td>"
    band = f", {cell.band}" if cell.band else ""
    text = f"{said(mark_of(cell))}{band}" if cell.known else DASH
    named = f' data-figure="{escape(cell.name)}"' if cell.name else ""
    if isinstance(cell, StandIn):
        named += f' data-own="{escape(cell.measured)}"'
    if isinstance(cell, OwnTime):
        named += f' data-amount="{cell.amount:g}"'
    return f'<td{named} data-kind="{cell.kind}">{escape(text)}</td>'


def _words(text: str) -> str:
    """The rest of a cell's opening and what it says; the browser puts another card's name in."""
    if CARD_PLACE not in text:
        return f">{escape(text)}"
    return f' data-words="{escape(text)}">{escape(text.replace(CARD_PLACE, CARD_NAME))}'


def with_cards(draw: Callable[[Store, str], Chart], store: Store) -> Chart:
    """A chart of the first card's forecasts, with those of every other card.

    Args:
        draw: Describes it for a card.
        store: Where figures come from.
    """
    chart = draw(store, CARD)
    if not any(mark.kind == "forecast" and mark.name for mark in marks_in(chart.description)):
        return chart
    others = [card for card in read_cards().values() if card.id != CARD]
    found = {card.id: _of_card(chart, draw(store, card.id), card.name) for card in others}
    return replace(chart, cards=found)


def _of_card(first: Chart, other: Chart, label: str) -> CardForecasts:
    """What a chart says for another card; its marks are in the order of the first one's."""
    pairs = zip(marks_in(first.description), marks_in(other.description), strict=True)
    figures = {
        mark.name: (its.value, its.text, its.low, its.high, its.band)
        for mark, its in pairs
        if mark.kind == "forecast" and mark.name and its.value is not None
    }
    return CardForecasts(label, other.finding, figures)


def forecast_of(store: Store, name: str) -> Figure | None:
    """A forecast; nothing where its card has no units for its format, for which memory needs none.

    Raises:
        FigureError: If nobody counted the step.
    """
    _, _, format, card, quantity = name.split(".")
    computes = format in read_cards()[card].peak
    return store.figure(name) if computes or quantity == "memory" else None


# What the charts read


@dataclass(frozen=True)
class Source:
    """One result file, so that nothing on a chart comes from two machines.

    Attributes:
        store: The catalogue, with this file alone.
        where: Where and when it was measured; empty if nothing was.
        card: The card of the forecasts that take the place of what no GPU has measured.
    """

    store: Store
    where: str
    card: str = CARD

    @property
    def card_name(self) -> str:
        """What readers call the card."""
        return read_cards()[self.card].name

    def figure(self, name: str) -> Figure:
        """A figure by its name."""
        return self.store.figure(name)

    def figures(self, names: Sequence[str]) -> list[Figure]:
        """Several figures."""
        return [self.store.figure(name) for name in names]

    def or_forecasts(self, names: Sequence[str], forecasts: Sequence[str]) -> list[Figure]:
        """What a GPU measured; where it measured none of them, their forecasts in their place.

        What this card does not have, such as a format, has no value, and may have one on another.

        Args:
            names: The measured figures' names.
            forecasts: Of each, its forecast's name with ``card`` in the card's place; empty where
                there is none.
        """
        measured = self.figures(names)
        if any(figure.known for figure in measured):
            return measured
        return [
            self._stand_in(on_card(name, self.card), figure) if name else figure
            for figure, name in zip(measured, forecasts, strict=True)
        ]

    def _stand_in(self, name: str, figure: Figure) -> Figure:
        found = forecast_of(self.store, name)
        if found is None:
            lacks = "the card has no units for this format"
            return StandIn(name, figure.what, None, DASH, lacks, "forecast", measured=figure.name)
        fields = {field.name: getattr(found, field.name) for field in dataclass_fields(Figure)}
        return StandIn(**fields, measured=figure.name)


def measured_together(store: Store, *cases: str, card: str = CARD) -> Source:
    """The file of the machine that has the most of these cases, and a card for forecasts.

    Raises:
        ValueError: If the cases are of several groups, so that they may lie in several files.
    """
    if not set(cases) <= set(together(cases[0])):
        raise ValueError(f"{' and '.join(cases)} are not measured in one run; none NEEDS the other")
    files = store.machines(cases[0])
    count, result = max(
        ((sum(bool(file.cases.get(case)) for case in cases), file) for file in files),
        key=lambda pair: pair[0],
        default=(0, None),
    )
    result = result if count else None
    only = Store(store.definitions.values(), [result] if result else [], store.citations)
    if result is None:
        return Source(only, "", card)
    commit = result.provenance.get("commit")
    code = f", code at {commit}" if commit else ""
    return Source(only, f"Medians, measured on {result.where}{code}.", card)


# What the findings are made of


def times(quotient: float) -> str:
    """A quotient in a sentence, with the two digits that a sentence needs."""
    return write(quotient, "times", quotient / 10)


def listed(words: Sequence[str]) -> str:
    """Words with commas, and "and" before the last."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def capital(text: str) -> str:
    """A sentence's beginning."""
    return text[0].upper() + text[1:]


def is_forecast(figures: Sequence[Figure]) -> bool:
    """Whether these are forecasts, since no GPU has measured any of them."""
    return any(figure.known and figure.kind == "forecast" for figure in figures)


def titled(title: str, figures: Sequence[Figure]) -> str:
    """A title that names the GPU: the card of the forecasts, or the one that measured."""
    return f"{title}, {CARD_PLACE}" if is_forecast(figures) else f"{title}, GPU"


def noise_warning(figures: Sequence[Figure]) -> str:
    """A sentence if some of the values are noisy; else nothing."""
    noisy = sum(figure.noisy for figure in figures)
    if not noisy:
        return ""
    values = "1 value is" if noisy == 1 else f"{noisy} values are"
    return f" {values} noisy."
