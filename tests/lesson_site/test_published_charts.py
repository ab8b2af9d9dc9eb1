"""The charts of published rows: every mark is a cross, and the findings follow the rows."""

import pytest

from lesson_site.charts import CHARTS, channels_last, roofline, to_html
from lesson_site.charts.description import Plane, Rows, marks_in
from results.published import Source, tables
from results.store import Store

SOURCE = Source("lab", "A laboratory", "its rows", "https://example.org", "2024", "2026-11-23")
NAMES = ("channels_last", "roofline")


@pytest.mark.parametrize("name", NAMES)
def test_every_mark_and_cell_is_of_the_published_kind(name: str) -> None:
    """Nothing on these charts is passed off as ours."""
    chart = CHARTS[name](Store([]))
    html = to_html(name, chart)

    assert {"published"} == {mark.kind for mark in marks_in(chart.description)}
    assert html.count('data-kind="published"') == len(list(marks_in(chart.description)))
    assert 'data-figure=""' not in html


def test_each_network_is_in_one_row() -> None:
    """The counts add up to the networks that had the same batch in both layouts."""
    chart = channels_last.draw(Store([]))

    assert isinstance(chart.description, Rows)
    counts = [row.mark.value or 0 for row in chart.description.groups[0].rows]
    assert len(tables.read("channels_last").column("gain", {"same batch": True})) == sum(counts)


def test_the_layout_s_finding_follows_the_gains() -> None:
    """How many are slower, and the middle one."""
    said = channels_last.finding([0.5, 1.2, 1.4], SOURCE)

    assert said.startswith("channels_last slows 1 of 3 networks; half of them become at least 1.20")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.0, 0.8, "below 0.8 times"),
        (1.0, 1.1, "1 to 1.1 times"),
        (1.4, float("inf"), "1.4 times and more"),
    ],
)
def test_a_row_says_what_it_holds(low: float, high: float, words: str) -> None:
    """The first and the last are open."""
    assert words == channels_last.label(low, high)


def test_every_card_has_a_point_at_each_intensity() -> None:
    """So that the table has no hole and the curves can be compared."""
    chart = roofline.draw(Store([]))

    assert isinstance(chart.description, Plane)
    lengths = {len(series.points) for series in chart.description.series}
    assert {len(roofline.INTENSITIES)} == lengths


def test_the_roofline_s_finding_follows_the_rates() -> None:
    """The gain of the best rate, and where the first card's memory begins to have time to spare."""
    rates = {"A": {1.0: 1.0, 4.0: 9.5, 8.0: 10.0}, "B": {1.0: 1.0, 4.0: 10.0, 8.0: 20.0}}

    said = roofline.finding(rates, SOURCE).replace("\N{NO-BREAK SPACE}", " ")

    assert "10 times to 20 times as fast. The curve of the A bends near 4 FLOP a byte" in said


def test_products_lie_left_and_right_of_every_bend() -> None:
    """The lesson's last layer with 64 images waits for memory, a large product for arithmetic."""
    chart = roofline.draw(Store([]))
    assert isinstance(chart.description, Plane)
    curves = [{at: mark.value or 0 for at, mark in one.points} for one in chart.description.series]
    bends = [roofline.bend(of) for of in curves]

    def intensity(rows: int, inner: int, columns: int) -> float:
        numbers = rows * inner + inner * columns + rows * columns
        return 2 * rows * inner * columns / (4 * numbers)

    assert intensity(64, 128, 10) < min(bends)
    assert intensity(2048, 2048, 2048) > max(bends)
