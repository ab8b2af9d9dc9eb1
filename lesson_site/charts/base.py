"""What every chart consists of, and the HTML that it becomes."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Any

from lesson_site import vendor
from results.groups import group_of
from results.quantities import write
from results.store import Figure, Store, one_a_machine

LOG = logging.getLogger("mkdocs.lesson_site.charts")  # a child of MkDocs' own, so that it shows
NOTHING_MEASURED = "Nothing of this has been measured yet."

Cell = str | Figure
Row = Sequence[Cell]


@dataclass(frozen=True)
class Chart:
    """Everything that a figure on a page consists of.

    Attributes:
        title: What is shown.
        finding: What it says, computed from the values.
        svg: The drawing without its outer element.
        height: Its height in pixels.
        head: Titles of the table's columns.
        rows: The same values as a table; a cell is words or a named figure.
        source: Where and when they were measured.
        traces: The same values once more, for Plotly; its reference says what a trace may hold.
            ``customdata`` names the figure of each point, ``meta`` the number of its colour.
        layout: Axes and height of the interactive chart; the browser adds fonts and colours.
    """

    title: str
    finding: str
    svg: str
    height: int
    head: Sequence[str]
    rows: Sequence[Row]
    source: str
    traces: Sequence[dict[str, Any]] = ()
    layout: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Curve:
    """What one device reaches, such as FLOP/s, by size."""

    label: str
    rates: dict[int, Figure]

    @property
    def measured(self) -> dict[int, float]:
        """The sizes that were measured."""
        return {size: rate.value for size, rate in self.rates.items() if rate.value is not None}


def to_html(name: str, chart: Chart, number: int = 0, late: bool = False) -> str:
    """The chart as a ``figure`` element: drawing, table, and the finding as its caption, last.

    Args:
        name: The chart's name; with ``number`` it makes its ids unique on the page.
        chart: What to show.
        number: A number that no other block of the page has.
        late: Whether what makes it interactive comes only when the reader is near.
    """
    of = f"chart-{name}-{number}"
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in chart.head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in chart.rows)
    late_mark = ' data-late=""' if late else ""
    known = bool(chart.source) and not _is_empty(chart)
    source = f' <span class="chart-source">{escape(chart.source)}</span>' if known else ""
    return (
        f'<figure class="chart chart-{name}"><interactive-chart{_plot(chart)}{late_mark}>'
        f'<svg class="chart-drawing" width="100%" height="{chart.height}" role="img" '
        f'aria-labelledby="{of}-title" aria-describedby="{of}-finding">'
        f'<title id="{of}-title">{escape(chart.title)}</title>'
        f'<desc id="{of}-finding">{escape(chart.finding)}</desc>{chart.svg}</svg>'
        '<details class="chart-table" data-search-exclude="">'
        "<summary>The same values as a table</summary>"
        f'<div class="chart-scroll" tabindex="0" role="region" aria-label="{escape(chart.title)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
        f"</interactive-chart><figcaption>{escape(chart.finding)}{source}</figcaption></figure>"
    )


def with_noise(figure: Figure) -> str:
    """A figure's text, and whether its measurement was restless."""
    return f"{figure.text} (noisy)" if figure.noisy else figure.text


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return f"<td>{escape(cell)}</td>"
    return f'<td data-figure="{escape(cell.name)}">{escape(with_noise(cell))}</td>'


def _is_empty(chart: Chart) -> bool:
    """Whether none of its figures is measured; recorded values are no figures, and always there."""
    figures = [cell for row in chart.rows for cell in row if isinstance(cell, Figure)]
    return bool(figures) and not any(figure.known for figure in figures)


def _plot(chart: Chart) -> str:
    """What the browser needs to draw the chart itself; nothing where it can't."""
    size_kb = vendor.compressed_kb(vendor.PLOTLY)
    if size_kb is None:
        _say_once("charts are static only; `python -m lesson_site.vendor` fetches what draws them")
        return ""
    if not chart.traces:
        return ""
    plot = json.dumps(plotly_figure(chart), ensure_ascii=False, separators=(",", ":"))
    empty = ' data-empty=""' if _is_empty(chart) else ""
    return f' data-bundle="{vendor.PLOTLY}" data-kb="{size_kb}"{empty} data-plot="{escape(plot)}"'


def plotly_figure(chart: Chart) -> dict[str, Any]:
    """Data and layout as Plotly writes them, without its template, which is most of the bytes.

    Raises:
        ValueError: If Plotly doesn't know something in a trace or the layout.
    """
    from plotly import graph_objects  # takes a third of a second, so only builds with charts do it

    figure = graph_objects.Figure(list(chart.traces), chart.layout).to_plotly_json()
    figure["layout"].pop("template", None)
    return {"data": figure["data"], "layout": figure["layout"]}


@lru_cache
def _say_once(sentence: str) -> None:
    LOG.info(sentence)


# What the charts read


@dataclass(frozen=True)
class Source:
    """One result file, so that nothing on a chart comes from two machines.

    Attributes:
        store: The catalogue, with this file alone.
        where: Where and when it was measured; empty if nothing was.
    """

    store: Store
    where: str

    def figure(self, name: str) -> Figure:
        """A figure by its name."""
        return self.store.figure(name)

    def figures(self, names: Sequence[str]) -> list[Figure]:
        """Several figures."""
        return [self.store.figure(name) for name in names]


def measured_together(store: Store, *cases: str) -> Source:
    """The file of the machine that has the most of these cases.

    Raises:
        ValueError: If the cases are of several groups, so that they may lie in several files.
    """
    if not set(cases) <= set(group_of(cases[0])):
        raise ValueError(f"{' and '.join(cases)} are no group of results/groups.py")
    files = one_a_machine(store.results, cases[0])
    count, result = max(
        ((sum(bool(file.cases.get(case)) for case in cases), file) for file in files),
        key=lambda pair: pair[0],
        default=(0, None),
    )
    result = result if count else None
    only = Store(store.definitions.values(), [result] if result else [], store.citations)
    if result is None:
        return Source(only, "")
    commit = result.provenance.get("commit")
    code = f", code at {commit}" if commit else ""
    return Source(only, f"Medians, measured on {result.where}{code}.")


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


def noise_warning(figures: Sequence[Figure]) -> str:
    """A sentence if some of the values are noisy; else nothing."""
    noisy = sum(figure.noisy for figure in figures)
    if not noisy:
        return ""
    values = "1 value is" if noisy == 1 else f"{noisy} values are"
    return f" {values} noisy."
