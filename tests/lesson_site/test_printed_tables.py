"""Printed columns become tables: every cell is where it was, and what fits nowhere stops."""

import re

import pytest

from lesson_site.errors import PageError
from lesson_site.printed_tables import Table, parts_of, read_heads, text_html, to_html

TWO_LINES = """\
                   lost at    error
type, scale        layer 1    layer 1
12 layers
  float16, 1         99.9%     102.4%
  float16, 256        1.7%       4.3%
"""
SHORT = """\
saved         maps   float32
outputs         53   1,422.6
images                  19.3
"""
TWO = """\
one kind    loss
plain      0.001
short      0.002

after all: nothing

other kind  loss
plain      0.003
"""


def tables(text: str, heads: str) -> list[Table]:
    """The tables alone."""
    return [part for part in parts_of(text, read_heads(heads)) if isinstance(part, Table)]


def test_heads_take_the_place_of_the_printed_ones() -> None:
    """Printed lines that say nothing more are left out, and a line of one cell names rows."""
    (table,) = tables(TWO_LINES, "type, scale | lost at layer 1, % | error, %")

    assert [
        ["12 layers"],
        ["float16, 1", "99.9%", "102.4%"],
        ["float16, 256", "1.7%", "4.3%"],
    ] == table.rows


def test_a_row_keeps_its_cells_below_their_heads() -> None:
    """What a short row lacks is empty, wherever it is."""
    (table,) = tables(SHORT, "saved | maps | float32, MB")

    assert [["outputs", "53", "1,422.6"], ["images", "", "19.3"]] == table.rows


def test_each_table_has_its_heads_and_the_rest_is_text() -> None:
    """Two tables and a sentence between them stay in order."""
    first, between, second = parts_of(TWO, read_heads("one kind | loss\nother kind | loss"))

    assert isinstance(first, Table)
    assert isinstance(second, Table)
    assert "after all: nothing" == between
    assert [["plain", "0.001"], ["short", "0.002"]] == first.rows
    assert [["plain", "0.003"]] == second.rows


def test_tables_that_follow_without_an_empty_line_are_two() -> None:
    """The printed head of the next one ends the first."""
    text = TWO.replace("\nafter all: nothing\n\n", "")

    first, second = tables(text, "one kind | loss\nother kind | loss")

    assert 2 == len(first.rows)
    assert [["plain", "0.003"]] == second.rows


def test_lines_above_a_head_are_its_caption() -> None:
    """Without a head, a line over indented ones names them."""
    (headed,) = tables("all in MB\nname  loss\nplain  0.1\n", "name | loss")
    (plain,) = tables("gradients\n  lost\n    one  0.1\n", "what | share")

    assert ["all in MB"] == headed.caption
    assert ["gradients"] == plain.caption
    assert [["lost"], ["one", "0.1"]] == plain.rows


def test_a_unit_in_the_head_is_in_no_cell() -> None:
    """Cells keep the number, on both sides of a range, and other words."""
    text = "a  99.9%  1.5 GB\nb  8.4% to 12.3%  none\nc  inf%  2 GB\n"

    html = to_html(parts_of(text, read_heads("| lost, % | kept, GB")), "Printed")

    assert ["99.9", "1.5", "8.4 to 12.3", "none", "inf", "2"] == re.findall("<td>([^<]+)<", html)


def test_a_name_of_several_words_can_break_at_its_slashes() -> None:
    """Otherwise one long name makes a table wider than a phone."""
    html = to_html(parts_of("sign/fraction  1\n", read_heads("of | n")), "P")

    assert '<th scope="row">sign/<wbr>fraction</th>' in html


def test_a_long_head_can_part_where_its_author_or_its_code_lets_it() -> None:
    """A soft hyphen in a word that is printed without one; code behind a bracket or equal sign."""
    heads = read_heads("differ&shy;ence | zeros(device=x)")

    (table,) = parts_of("difference  zeros(device=x)\n0.1  0.2\n", heads)

    assert isinstance(table, Table)
    assert 1 == len(table.rows)
    html = to_html([table], "P")
    assert '<th scope="col">differ\N{SOFT HYPHEN}ence</th>' in html
    assert '<th scope="col">zeros(<wbr>device=<wbr>x)</th>' in html


def test_rows_and_columns_have_names_and_numbers_their_side() -> None:
    """Heads have a scope, code is code, and a column of words is marked."""
    html = to_html(parts_of("f(x)  stays  <1>\ny  goes  2\n", read_heads("`call` | it | n")), "P")

    assert '<th scope="row"><code>f(x)</code></th>' in html
    assert '<th scope="col" class="words">it</th>' in html
    assert '<td class="words">stays</td>' in html
    assert "&lt;1&gt;" in html


@pytest.mark.parametrize(
    ("text", "wraps"),
    [
        (f"a sentence of {'many ' * 20}words", True),
        ("short  columns", True),
        (f"a sentence of {'many ' * 20}words\nshort  columns", True),
        (f"long{' ' * 60}columns", False),
    ],
)
def test_only_long_columns_do_not_wrap(text: str, wraps: bool) -> None:
    """A sentence goes on in the next line; a row of columns stays one line."""
    assert wraps == text_html(text).startswith('<pre class="wraps">')


@pytest.mark.parametrize(
    ("text", "heads", "said"),
    [
        ("a  1\nb  2\n", "x | y | z", "no printed line has 3 cells"),
        ("a  1  2\nb  2  3  4\n", "x | y | z", "is not in one of 3 columns"),
        ("one\n\ntwo\n", "x | y", "no printed table is left"),
        ("a  1\n", "x | y\nu | v", "no printed table is left for the heads 'u | v'"),
        ("a      1\nb      2\nlong name  3  x\n", "x | y", "is not in one of 2 columns"),
    ],
)
def test_what_fits_no_table_stops(text: str, heads: str, said: str) -> None:
    """The message has the line or the heads."""
    with pytest.raises(PageError, match=re.escape(said)):
        parts_of(text, read_heads(heads))
