"""The tables of what others published: a cell for each figure, its sources below."""

from collections.abc import Sequence

import pytest
from markdown import Markdown
from selectolax.lexbor import LexborHTMLParser

from lesson_site.errors import PageError
from lesson_site.published import table, tables
from results.published import Group, Published, Source, read_topics
from results.published.figure import as_printed, divided
from tests.pages import value_of

LAB = Source(
    "lab", "A laboratory", "its <table>", "https://example.org/a?b=1&c=2", "2024", "2026-11-23"
)
POST = Source(
    "post", "a user", "issue 1", "https://example.org/1", "", "2026-11-23", single_user=True
)


def figure(id: str, value: str, sources: Sequence[Source] = (LAB,), **fields: str) -> Published:
    """A measured figure, with what the test says of its setting."""
    return Published(f"net.{id}", "speed", as_printed(value), tuple(sources), "measured", **fields)


def drawn(*figures: Published, rows: str = "card", columns: str = "format") -> LexborHTMLParser:
    """The table of a group."""
    html = table(Group("net", "A network & more", rows, columns, figures))
    return LexborHTMLParser(html)


def texts(root: LexborHTMLParser, selector: str) -> list[str]:
    """The text of every such element, without no-break spaces."""
    return [e.text().replace("\N{NO-BREAK SPACE}", " ") for e in root.css(selector)]


V100 = figure("v100.float32", "2 per second", card="V100", format="float32", batch="8")
V100_HALF = figure("v100.float16", "5 per second", card="V100", format="float16", batch="16")
T4 = figure("t4.float32", "1 per second", card="T4", format="float32", batch="8")


def test_rows_and_columns_are_fields_of_the_setting() -> None:
    """What nobody published is a dash."""
    root = drawn(V100, V100_HALF, T4)

    assert ["Ran on", "float32", "float16"] == texts(root, "th")[:3]
    assert "–" == texts(root, "td")[-1]


def test_a_cell_names_its_figure_and_kind() -> None:
    """A reader's tools and ours find it by both."""
    cell = drawn(V100).css_first("td")

    assert "published.net.v100.float32" == value_of(cell, "data-figure")
    assert "published" == value_of(cell, "data-kind")


def test_what_differs_inside_a_row_is_said_in_its_cells() -> None:
    """Two batches never share a column silently."""
    small = texts(drawn(V100, V100_HALF, T4), "small")

    assert ["batch 8", "batch 16", "batch 8"] == small


def test_what_one_figure_alone_has_is_not_said_of_all() -> None:
    """A batch that the other figure's source does not give is that row's, and not the table's."""
    a100 = figure("a100", "9 per second", card="A100", format="float32")

    caption = texts(drawn(V100, a100), "figcaption")[0]

    assert "batch" not in caption.lower()
    assert "batch" in texts(drawn(V100, T4), "figcaption")[0].lower()


def test_what_differs_between_rows_is_said_in_their_heads() -> None:
    """Said once for the whole row."""
    a100 = figure("a100", "9 per second", card="A100", format="float32", batch="16")

    assert ["V100 batch 8", "A100 batch 16"] == texts(drawn(V100, a100), "th[scope=row]")


def test_what_all_share_is_said_once_below() -> None:
    """The caption holds the setting, and the source as a link with its year."""
    root = drawn(V100, T4)

    said = texts(root, "figcaption")[0]
    assert said.startswith("Batch 8. Published by A laboratory, its <table> (2024).")
    assert "https://example.org/a?b=1&c=2" == value_of(root.css_first("a"), "href")


def test_one_persons_post_is_called_so() -> None:
    """In the link itself, with the year or that there is none."""
    root = drawn(figure("cpu", "1 s", sources=[POST], card="CPU"))

    assert ["a user, issue 1 (undated, one person’s post)"] == texts(root, "a")


def test_our_own_division_is_called_so() -> None:
    """A ratio that the source does not print is not passed off as its own."""
    ratio = Published(
        "net.gain",
        "speed in float16",
        divided(V100_HALF.number, V100.number, "times"),
        (LAB,),
        "our division",
        card="V100",
        base="float32",
        label="gain",
    )

    said = texts(drawn(V100, V100_HALF, ratio), "figcaption")[0]

    assert "Ratios are against float32. Ratios are our division." in said


def test_ratios_that_are_all_of_a_table_say_their_setting() -> None:
    """Nothing else in it does."""
    ratios = [
        figure("a", "1.70 times", model="A", card="272 GPUs", base="without"),
        figure("b", "1.12 times", model="B", card="4,096 GPUs", base="without"),
    ]

    assert ["272 GPUs", "4,096 GPUs"] == texts(drawn(*ratios, rows="model", columns=""), "small")


def test_a_caveat_opens_on_request() -> None:
    """It says of which card it holds, where it does not hold for all."""
    careful = figure("t4", "1 per second", card="T4", format="float32", caveat="It was hot.")

    assert ["What it does not sayT4: It was hot."] == texts(drawn(V100, careful), "details")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"topic": "weather"}, "there is no topic 'weather'"),
        ({"topic": "memory", "only": "cliff weather"}, "the topic has no group 'weather'"),
    ],
)
def test_a_fence_that_names_nothing_stops_the_build(options: dict[str, str], problem: str) -> None:
    """With the page and its line."""
    with pytest.raises(PageError, match=rf"page\.md:7: lesson-published: {problem}"):
        tables("", "lesson-published", "", {**options, "line": "7"}, Markdown())


def test_every_group_can_be_drawn() -> None:
    """With one heading for each of its rows and columns, none of them empty."""
    for group in (group for groups in read_topics().values() for group in groups):
        root = LexborHTMLParser(table(group))

        assert "" not in texts(root, "th"), group.id
        assert len(group.figures) == len(root.css("[data-figure]"))
