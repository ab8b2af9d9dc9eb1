"""Readers' results are points in charts and a table on Compare, and nothing that we say."""

import re
from dataclasses import replace
from html import unescape
from itertools import count
from pathlib import Path

import pytest

from lesson_site.charts import CHARTS, described
from lesson_site.charts.base import Chart, to_html
from lesson_site.charts.contributed import MOST, with_contributed
from lesson_site.charts.description import CARD, Mark, Plane, Rows, Tiles, marks_in
from lesson_site.charts.drawing import draw, to_svg
from lesson_site.contributed import COLUMNS, LINES, readers_html
from lesson_site.page import Page
from results.contributed import Contribution
from results.store import Store, open_store
from tests.building import REPOSITORY
from tests.lesson_site import made_up
from tests.site.test_rooms import imports, modules

AT = Page(Path("docs/benchmarks/compare.md"), "benchmarks/compare/")
DRAWN = ("amp", "hook", "ladder", "matmul", "memory_peaks", "race", "sweep")
numbers = count()


def given(name: str = "Ada", machine: str = "Tesla T4", kind: str = "gpu") -> Contribution:
    """A file with everything that a machine can measure."""
    [result] = made_up.results(kind)
    at = {**result.provenance, "gpu": machine}
    return Contribution(
        name,
        machine,
        "A processor",
        "PyTorch 2.15.0",
        "2026-11-21",
        replace(result, provenance=at).where,
        f"ada/{next(numbers)}.json",
        result.cases,
    )


@pytest.fixture(scope="module")
def store() -> Store:
    """The store of this repository."""
    return open_store(REPOSITORY)


def readers_marks(chart: Chart) -> list[Mark]:
    """What readers measured, of all that is drawn."""
    return [m for m in marks_in(chart.description) if m.by and m.value is not None]


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_says_of_us_what_it_said(name: str, store: Store) -> None:
    """Its finding, its source, its forecasts and our marks are as they were."""
    before = described(name, store)

    after = with_contributed(before, [given()], store.definitions)

    ours = [m for m in marks_in(after.description) if not m.by and (m.name or m.value is not None)]
    old = [m for m in marks_in(before.description) if m.name or m.value is not None]
    assert (before.finding, before.source) == (after.finding, after.source)
    assert before.cards == after.cards
    assert old == ours
    assert [tuple(row) for row in before.rows] == [
        tuple(row[: len(before.head)]) for row in after.rows
    ]


@pytest.mark.parametrize("name", DRAWN)
def test_a_readers_value_is_a_triangle_with_a_name(name: str, store: Store) -> None:
    """Shape and words tell it from ours; the table has a column of it, and who measured where."""
    chart = with_contributed(described(name, store), [given()], store.definitions)

    html = unescape(to_html(name, chart))
    drawing = unescape(to_svg(draw(chart.description)[0]))
    assert readers_marks(chart)
    assert re.search("T4, (measured by )?Ada", drawing)
    assert "▲" in drawing if isinstance(chart.description, Tiles) else "contributed" in drawing
    assert re.search(r'<th scope="col">[^<]*, T4, measured by Ada</th>', html)
    assert "<p>Measured by Ada on Tesla T4, " in html
    assert not any(CARD in title for title in chart.head if "Ada" in title)


def test_no_quotient_is_drawn_to_a_readers_value(store: Store) -> None:
    """Our own rows are compared with our own alone."""
    chart = described("hook", store)
    ways = to_svg(draw(chart.description)[0]).count('class="way"')

    with_reader = with_contributed(chart, [given()], store.definitions)

    assert ways == to_svg(draw(with_reader.description)[0]).count('class="way"')


def test_a_reader_decides_no_tile(store: Store) -> None:
    """Frames and tints are those of our own measurements and forecasts."""
    chart = described("sweep", store)

    after = with_contributed(chart, [given()], store.definitions)

    assert frames(chart) == frames(after)


def frames(chart: Chart) -> list[tuple[str, str]]:
    """Class and tint of each tile."""
    drawing = to_svg(draw(chart.description)[0])
    return re.findall(r'<rect class="(tile[^"]*)".*?fill-opacity="([^"]*)"', drawing)


def test_a_chart_shows_one_file_of_a_card_and_few_cards(store: Store) -> None:
    """Anyone who gives many files takes no more room."""
    files = [given("Ada"), given("Eve"), *(given("Bo", f"Card {n}") for n in range(9))]

    chart = with_contributed(described("hook", store), files, store.definitions)

    assert isinstance(chart.description, Rows)
    notes = {row.note for group in chart.description.groups for row in group.rows if row.note}
    assert MOST == len(chart.readers)
    assert "T4, measured by Ada" in notes
    whose = [row.mark.by for row in chart.description.groups[0].rows]
    assert ["", "Ada", "Bo", "", "Ada", "Bo"] == whose
    assert not any("Eve" in note for note in notes)


def test_a_file_without_a_charts_figures_changes_nothing(store: Store) -> None:
    """So it is with a chart of recorded values."""
    empty = replace(given(), entries={})

    chart = described("hook", store)

    assert chart is with_contributed(chart, [empty], store.definitions)
    assert chart is with_contributed(chart, [], store.definitions)


def test_long_names_leave_room_for_each_other(store: Store) -> None:
    """A label fits on a telephone, and the name in it is whole."""
    long = given("Maximiliane Featherstone", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition")

    chart = with_contributed(described("hook", store), [long], store.definitions)

    assert isinstance(chart.description, Rows)
    notes = {row.note for group in chart.description.groups for row in group.rows if row.note}
    assert "RTX PRO 6…, measured by Maximiliane Featherstone" in notes
    assert max(map(len, notes)) < 50


def test_a_curves_key_has_the_readers_name(store: Store) -> None:
    """Whatever room is left is the card's; the triangle in the legend says the rest."""
    files = [given(), given("Maximiliane Featherstone", "Card")]

    chart = with_contributed(described("race", store), files, store.definitions)

    assert isinstance(chart.description, Plane)
    labels = [series.label for series in chart.description.series if series.style == "points"]
    assert {"GPU, PyTorch: T4, Ada", "CPU, PyTorch: A processor, Ada"} < set(labels)
    assert "GPU, PyTorch: Maximiliane Featherstone" in labels
    assert max(map(len, labels)) < 46


@pytest.mark.parametrize("name", ["hook", "sweep"])
def test_what_is_no_letter_of_html_stays_text(name: str, store: Store) -> None:
    """A card may have any sign that a file may."""
    strange = given("O'Neill", 'R&D "card"')

    chart = with_contributed(described(name, store), [strange], store.definitions)

    html = to_html(name, chart)
    assert "R&amp;D &quot;card&quot;" in html
    assert 'R&D "' not in html
    assert "R&amp;D &quot;card&quot;" in readers_html(
        [store.definitions["tiny_epoch.samples_100.cpu"]], [strange], AT
    )


# Compare your machine


def test_compare_has_a_column_of_each_reader(store: Store) -> None:
    """Marked with name, card, versions and day, and below it the samples."""
    figures = [store.definitions[f"mnist_epoch.{device}"] for device in ("cpu", "cuda")]

    html = readers_html(figures, [given()], AT)

    assert ("Tesla T4, measured by Ada <small>PyTorch 2.15.0, 2026-11-21</small></th>") in html
    assert '<td data-figure="mnist_epoch.cuda" data-kind="measured">7.00\N{NO-BREAK SPACE}s' in html
    assert '<a href="../../benchmarks/contributed/ada/' in html


def test_compare_tells_browsers_from_pytorch(store: Store) -> None:
    """Each has a table of its own, into which a reader's own machine of the same kind comes."""
    figures = [store.definitions["mnist_epoch.cpu"]]

    html = readers_html(figures, [given(), replace(given("Bo"), in_browser=True)], AT)

    assert ["PyTorch", "In a browser"] == re.findall(r'data-measurer="([^"]+)"', html)
    assert ["Ada", "Bo"] == re.findall(r"measured by (\w+) <small>", html)


def test_compare_shows_nothing_where_nobody_gave_anything(store: Store) -> None:
    """The page has its table of ours, and no empty one."""
    assert "" == readers_html([store.definitions["mnist_epoch.cpu"]], [], AT)


def test_compare_lists_files_that_have_no_column(store: Store) -> None:
    """The newest have one, and every file has its line."""
    files = [given("Bo", f"Card {n}") for n in range(COLUMNS + 3)]

    html = readers_html([store.definitions["mnist_epoch.cpu"]], files, AT)

    assert COLUMNS == html.count('<th scope="col" data-machine=')
    assert len(files) == html.count("All raw samples")


def test_compare_stays_light_with_a_thousand_files(store: Store) -> None:
    """The oldest are counted in one line."""
    files = [given("Bo", "Card")] * 1000

    html = readers_html([store.definitions["mnist_epoch.cpu"]], files, AT)

    assert LINES == html.count("All raw samples")
    assert f"<code>benchmarks/contributed</code>: {1000 - LINES}.</li>" in html


def test_nobody_else_reads_what_readers_gave() -> None:
    """Sentences, claims, ratios, verdicts and forecasts know our own results alone."""
    assert {
        "benchmarks/contribute.py",
        "lesson_site/charts/__init__.py",
        "lesson_site/charts/contributed.py",
        "lesson_site/contributed.py",
        "lesson_site/result_tables.py",
    } == {
        module.as_posix()
        for room in ("benchmarks", "graders", "lesson_code", "lesson_site", "results")
        for module in modules(room)
        if any(name.startswith("results.contributed") for name in imports(module))
    }
