"""Published figures are read, divided and counted by us, and refused without what is needed."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results.published import PublishedError, read, read_topics, tables
from results.published.reader import FOLDER
from results.quantities import SPACE, UNITS
from results.store import FigureError, Store

SOURCE = """
[lab]
who = "A laboratory"
title = "its table"
address = "https://example.org/table"
published = "2024-07-24"
read = "2026-11-23"
"""
GROUP = """
[[group]]
id = "net"
title = "A network"
rows = "card"
source = "lab"
quantity = "time of a step"
how = "measured"
figures = [
  { id = "v100", card = "V100", value = "20 ms" },
  { id = "a100", card = "A100", value = "10.0 ms" },
]
"""
TABLE = '{"what": "", "sources": ["lab"], "caveat": "", "columns": ["c"], "rows": [[1], [2], [6]]}'
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a room of published figures, and say where it is."""

    def room(group: str = GROUP, source: str = SOURCE) -> Path:
        for folder in ("topics", "tables"):
            (tmp_path / folder).mkdir()
        (tmp_path / "topics" / "steps.toml").write_text(group, encoding="utf-8")
        (tmp_path / "tables" / "rows.json").write_text(TABLE, encoding="utf-8")
        (tmp_path / "sources.toml").write_text(source, encoding="utf-8")
        return tmp_path

    return room


def test_every_unit_of_a_published_number_is_one_of_ours() -> None:
    """No figure brings a unit that our own quantities cannot write."""
    units = {figure.unit for figure in read().values()}

    assert units <= set(UNITS)


def test_what_16_bits_gain_on_newer_cards_depends_on_the_network() -> None:
    """From an A100 to a B200 a gain shrinks towards nothing, or stays near two."""
    known = read()
    convolutions, products = (
        [known[f"lambda.{network}.{card}.gain"].value for card in ("a100_80gb", "h100", "b200")]
        for network in ("resnet50", "bert_large")
    )

    assert sorted(convolutions, reverse=True) == convolutions
    assert 1.1 > convolutions[-1]
    assert 1.8 < min(products)
    assert products[0] < products[1]


def test_utilisation_is_compared_over_settings_that_both_cards_have() -> None:
    """The same models, lengths and numbers of GPUs, each once, and no other rows."""
    table = tables.read("mfu")
    place = table.columns.index
    settings = {
        card: [
            row[place("model") : place("mfu")]
            for row in table.rows
            if (card, "bfloat16") == row[: place("model")]
        ]
        for card in ("A100 80GB", "H100 80GB")
    }
    both = set(settings["A100 80GB"]) & set(settings["H100 80GB"])
    marked = [row for row in table.rows if row[place("both cards")]]

    assert {"A100 80GB", "H100 80GB"} == {row[0] for row in marked}
    assert {"bfloat16"} == {row[1] for row in marked}
    for card in settings:
        chosen = [row[2:5] for row in marked if card == row[0]]
        assert sorted(both) == sorted(chosen)
    assert len(both) == read()["mfu.foundry.a100.runs"].value


def test_a_figure_takes_what_its_group_shares(write: Write) -> None:
    """Its own fields come first, the group's fill the rest."""
    figure = read(write())["net.v100"]

    assert ("V100", "time of a step", "A laboratory") == (
        figure.card,
        figure.quantity,
        figure.sources[0].who,
    )


def test_a_rule_divides_every_row_that_has_both(write: Write) -> None:
    """The ratio is ours, and keeps the field in which both figures agree."""
    rule = 'divide = [{ id = "gain", of = "v100", by = "a100", base = "an A100" }]'

    gain = read(write(GROUP + rule))["net.gain"]

    assert 2.0 == gain.value
    assert "our division" == gain.how
    assert "V100" not in gain.card


def test_a_median_is_counted_over_the_rows_of_a_table(write: Write) -> None:
    """The middle one of 1, 2 and 6."""
    row = 'table = "rows", statistic = "median", column = "c", unit = "plain" }\n]'

    median = read(write(GROUP.replace("\n]", '\n  { id = "m", ' + row)))["net.m"]

    assert 2.0 == median.value
    assert "our count" == median.how


def test_one_sentence_says_how_who_where_and_when(write: Write) -> None:
    """A reader learns from it what to look up."""
    said = read(write())["net.v100"].provenance

    assert (
        "measured by its source: A laboratory, its table (2024), "
        "https://example.org/table, read on 2026-11-23" == said
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('source = "lab"\n', ""), "it has no source"),
        (('source = "lab"', 'source = "elsewhere"'), "not in sources.toml"),
        (('source = "lab"', "source = []"), "it has no source"),
        (('"10.0 ms"', '"2.5 times"'), "a ratio needs its base"),
        (
            ('value = "10.0 ms"', 'of = "v100", by = "v100", way = "share"'),
            "a ratio needs its base",
        ),
        (('"10.0 ms"', '"10 furlongs"'), "the unit 'furlongs' is unknown"),
        (('"10.0 ms"', '"fast"'), "is not a number with a unit"),
        (('"10.0 ms"', '"10.0"'), "10.0 has no unit; write it behind the number"),
        (('id = "a100"', 'id = "v100"'), "this id is used twice"),
        (('id = "a100"', 'id = "A 100"'), "an id has small letters"),
        (('how = "measured"', 'how = "felt"'), "how is 'felt'"),
        (('quantity = "time of a step"\n', ""), "it has no quantity"),
        (('value = "10.0 ms"', 'of = "p100", by = "v100"'), "there is no figure 'p100'"),
        (('value = "10.0 ms"', 'colour = "red"'), "has the unknown key 'colour'"),
        (('source = "lab"', "source = 3"), "its source 3 is not in sources.toml"),
        (('rows = "card"', 'rows = "colour"'), "rows is 'colour', which is none of"),
        (('title = "A network"\n', ""), "net: it has no title"),
        (("[[group]]", "[group]"), "holds groups and nothing else"),
        (("\n]", '\n]\ndivide = [{ id = "gain", of = "x", by = "y" }]'), "end on 'x' and 'y'"),
        (("\n]", '\n]\ndivide = [{ id = "gain", of = "x" }]'), "net.gain: it has no by"),
        (("\n]", "\n]\ndivide = 3"), "divide is not a list"),
        ((', value = "10.0 ms"', ""), "give one of value"),
        (
            ('value = "10.0 ms"', 'table = "t", statistic = "median", column = "c", unit = "s"'),
            "there is no table 't'",
        ),
    ],
)
def test_a_bad_figure_is_refused(write: Write, change: tuple[str, str], reason: str) -> None:
    """The message names what is wrong with it."""
    room = write(GROUP.replace(*change))

    with pytest.raises(PublishedError, match=reason):
        read(room)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('who = "A laboratory"\n', ""), "it has no who"),
        (('address = "https://example.org/table"\n', ""), "it has no address"),
        (("https://example.org/table", "http://example.org"), "does not begin with https://"),
        (("example.org/table", "github.com/a/b/blob/main/c"), "'main' is not a full commit"),
        (("2024-07-24", "2999-07-24"), "which is still to come"),
        (('read = "2026-11-23"', 'read = "2999-01-01"'), "which is still to come"),
        (("2024-07-24", "last year"), "write a year"),
        (('"2024-07-24"', "2024-07-24"), "published is 2024-07-24; write it in quotes"),
        (('who = "A laboratory"', "single_user = 1"), "single_user is 1; write true"),
        (("[lab]", "lab = 1\n[other]"), "is not a source"),
    ],
)
def test_a_bad_source_is_refused(write: Write, change: tuple[str, str], reason: str) -> None:
    """A source that nobody could find again does not count as one."""
    room = write(source=SOURCE.replace(*change))

    with pytest.raises(PublishedError, match=reason):
        read(room)


def test_a_refusal_names_the_file_the_line_and_the_figure(write: Write) -> None:
    """So that one goes straight to it."""
    room = write(GROUP.replace("10.0 ms", "10.0 parsecs"))

    with pytest.raises(PublishedError) as refused:
        read(room)

    assert str(refused.value).startswith(f"{room / 'topics' / 'steps.toml'}:11: net.a100: ")


def test_an_id_of_another_file_is_not_used_again(write: Write) -> None:
    """Ids are unique over all topics."""
    room = write()
    shutil.copy(room / "topics" / "steps.toml", room / "topics" / "again.toml")

    with pytest.raises(PublishedError, match="net: another group has this id"):
        read(room)


def test_a_change_is_read_at_once(write: Write) -> None:
    """The preview shows a corrected figure without a restart."""
    room = write()
    before = read(room)["net.v100"].text
    (room / "topics" / "steps.toml").write_text(GROUP.replace("20 ms", "21.5 ms"))

    after = read(room)["net.v100"].text

    assert (f"20{SPACE}ms", f"21.5{SPACE}ms") == (before, after)


def test_every_source_is_used() -> None:
    """A source that no figure names is left over."""
    named = {
        line.strip("[]\n")
        for line in (FOLDER / "sources.toml").read_text(encoding="utf-8").splitlines()
        if line.startswith("[")
    }
    used = {source.id for figure in read().values() for source in figure.sources}

    assert set() == named - used


def test_a_table_has_one_figure_a_cell() -> None:
    """No two figures of a group share a row and a column, so none hides another."""
    for group in (group for groups in read_topics().values() for group in groups):
        cells = [group.cell(figure) for figure in group.figures]

        assert len(set(cells)) == len(cells), group.id


def test_a_page_names_a_published_figure_without_a_catalogue_entry() -> None:
    """The store gives it as it stands, as a figure of others."""
    figure = Store([]).figure("published.mnist.mlx.gpu")

    assert (0.136, f"0.136{SPACE}s", "published") == (figure.value, figure.text, figure.kind)


def test_claims_compare_published_figures() -> None:
    """Their values come together with those of the catalogue."""
    values = Store([]).values(["published.mnist.mlx.cpu", "published.mnist.mlx.gpu"])

    assert {"published.mnist.mlx.cpu": 0.088, "published.mnist.mlx.gpu": 0.136} == values


def test_a_name_that_nobody_published_is_refused() -> None:
    """The build stops there."""
    with pytest.raises(FigureError, match="is not published"):
        Store([]).figure("published.nobody")


ROWS: dict[str, Any] = {
    "what": "a network",
    "sources": ["lab", "post"],
    "caveat": "Old.",
    "columns": ["net", "batch", "gain"],
    "rows": [["a", 8, 0.5], ["b", 8, 1.0], ["c", 16, 2.5], ["a", 16, 4]],
}


def test_the_rows_of_a_table_are_chosen_by_their_cells(tmp_path: Path) -> None:
    """Every named column must have the cell that is asked for."""
    (tmp_path / "gains.json").write_text(json.dumps(ROWS), encoding="utf-8")

    table = tables.read("gains", tmp_path)

    rows = tuple(map(tuple, ROWS["rows"]))
    named = ("a network", ("net", "batch", "gain"), rows, ("lab", "post"), "Old.")
    assert tables.Table(*named) == table
    assert [0.5, 1.0, 2.5, 4.0] == table.column("gain")
    assert {float} == set(map(type, table.column("gain")))
    assert [0.5, 1.0] == table.column("gain", {"batch": 8})
    assert [1.0] == table.column("gain", {"batch": 8, "net": "b"})
    with pytest.raises(ValueError, match=re.escape("no row has {'batch': 9}")):
        table.column("gain", {"batch": 9})
    with pytest.raises(ValueError, match="no column 'card'; there are net, batch, gain"):
        table.column("gain", {"card": "a"})


def test_the_lesson_s_tables_are_read_where_no_folder_is_named() -> None:
    """All of them, as their files are called."""
    names = [path.stem for path in (FOLDER / "tables").glob("*.json")]

    assert names
    assert all(tables.read(name).rows for name in names)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("median", 1.75),
        ("lowest", 0.5),
        ("highest", 4.0),
        ("rows", 4.0),
        ("share below one", 0.25),
    ],
)
def test_statistics_of_a_column(name: str, value: float, tmp_path: Path) -> None:
    """Of 0.5, 1, 2.5 and 4; what is chosen has its own."""
    (tmp_path / "gains.json").write_text(json.dumps(ROWS), encoding="utf-8")
    table = tables.read("gains", tmp_path)

    found = tables.statistic(table, name, "gain", {})

    assert value == found
    assert isinstance(found, float)
    assert 0.5 == tables.statistic(table, "median", "gain", {"batch": 8, "net": "a"})
    with pytest.raises(ValueError, match="no statistic 'mean'; there are median, lowest"):
        tables.statistic(table, "mean", "gain", {})


def test_a_changed_table_is_read_again(tmp_path: Path) -> None:
    """And one that is not there is named beside those that are."""
    for name in ("gains", "again"):
        (tmp_path / f"{name}.json").write_text(json.dumps(ROWS), encoding="utf-8")
    before = tables.read("gains", tmp_path)
    (tmp_path / "gains.json").write_text(json.dumps({**ROWS, "caveat": "New."}), encoding="utf-8")
    os.utime(tmp_path / "gains.json", ns=(0, 0))

    assert ("Old.", "New.") == (before.caveat, tables.read("gains", tmp_path).caveat)
    with pytest.raises(ValueError, match="no table 'gain'; there are again, gains"):
        tables.read("gain", tmp_path)


def test_the_row_that_lacks_a_cell_is_named(tmp_path: Path) -> None:
    """By its number, with the file."""
    rows = [*ROWS["rows"][:1], ["b", 8]]
    (tmp_path / "gains.json").write_text(json.dumps({**ROWS, "rows": rows}), encoding="utf-8")

    with pytest.raises(ValueError, match=r"gains\.json: row 2 has 2 cells, not 3"):
        tables.read("gains", tmp_path)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (
            '{"what": "", "sources": [], "caveat": "", "columns": ["c"], "rows": [[1, 2]]}',
            "row 1 has 2 cells",
        ),
        (
            '{"what": "", "sources": [], "caveat": "", "columns": ["c"], "rows": [["x"]]}',
            "holds words",
        ),
        (
            '{"what": "", "sources": [], "caveat": "", "columns": ["d"], "rows": [[1]]}',
            "no column 'c'",
        ),
        ('{"what": "", "sources": [], "caveat": "", "columns": ["c"], "rows": []}', "no row has"),
        ('{"columns": []}', "can't read"),
        ('{"columns": 1}', "can't read"),
        ("{", "can't read"),
    ],
)
def test_a_bad_table_is_refused(write: Write, table: str, reason: str) -> None:
    """A figure that is counted over it says why."""
    row = 'table = "rows", statistic = "median", column = "c", unit = "plain" }\n]'
    room = write(GROUP.replace("\n]", '\n  { id = "m", ' + row))
    (room / "tables" / "rows.json").write_text(table, encoding="utf-8")

    with pytest.raises(PublishedError, match=rf"net\.m: .*{reason}"):
        read(room)
