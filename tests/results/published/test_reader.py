"""A room of published figures is read as it is written, and what is wrong in it is named."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from results.published import read, read_sources, read_topics, reader
from results.published.figure import Published, Quantity, Source, as_printed, divided, step_time
from results.published.reader import Group, PublishedError
from results.quantities import SPACE

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCES = f"""
[lab]
who = "A laboratory"
title = "its table"
address = "https://example.org/table"
published = "2024-07-24"
read = "2026-11-23"
licence = "MIT"

[post]
who = "a user"
title = "a post"
address = "https://github.com/a/b/blob/{COMMIT}/c.md"
read = "2026-11"
single_user = true
"""
SPEEDS = """
[[group]]
id = "net"
title = "A network"
rows = "card"
columns = "format"
source = "lab"
software = "PyTorch"
model = "a network"
batch = "8"
quantity = "speed"
how = "measured"
figures = [
  { id = "v100.float32", card = "V100", format = "float32", value = "20 per second" },
  { id = "v100.float16", card = "V100", format = "float16", value = "50 per second", \
    source = "post", how = "stated", software = "JAX", layout = "NCHW", setting = "cold", \
    caveat = "Hot.", label = "half" },
  { id = "a100.float32", card = "A100", format = "float32", value = "40.0 per second" },
  { id = "loss", value = "0.5", unitless = true, quantity = "loss", source = ["post", "lab"] },
]
divide = [
  { id = "gain", of = "float16", by = "float32", base = "float32", quantity = "gain" },
  { id = "more", of = "a100.float32", by = "v100.float32", way = "more", base = "V100" },
]
"""
STEPS = """
[[group]]
id = "counted"
title = "What we counted"
rows = "model"
table = "rows"
column = "seconds"
unit = "s"
model = "nets"
quantity = "time"
source = "lab"
figures = [
  { id = "middle", statistic = "median" },
  { id = "most", statistic = "highest", where = { kind = "a" } },
]

[[group]]
id = "again"
title = "What we divided"
rows = "card"
quantity = "time of a step"
figures = [
  { id = "step", per_second = "net.v100.float16", examples = 100 },
  { id = "middle", of = "net.a100.float32", by = "net.v100.float32", way = "more", base = "V100" },
  { id = "share", of = "net.v100.float32", by = "net.v100.float16", way = "share", base = "half", \
    source = "post", card = "two", model = "one" },
  { id = "both", of = "step", by = "counted.most", base = "counted" },
]
"""
TABLE = """{
  "what": "a net", "sources": ["lab"], "caveat": "", "columns": ["kind", "seconds"],
  "rows": [["a", 1.0], ["a", 2], ["b", 6]]
}"""
LAB = Source(
    *("lab", "A laboratory", "its table", "https://example.org/table", "2024-07-24", "2026-11-23"),
    licence="MIT",
)
POST = Source(
    *("post", "a user", "a post", f"https://github.com/a/b/blob/{COMMIT}/c.md", "", "2026-11"),
    single_user=True,
)
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a room of published figures, with the file of one of them changed in one place."""

    def room(name: str = "", old: str = "", new: str = "") -> Path:
        files = {
            "sources.toml": SOURCES,
            "topics/a_speeds.toml": SPEEDS,
            "topics/b_steps.toml": STEPS,
            "tables/rows.json": TABLE,
        }
        if name:
            assert old in files[name]
            files[name] = files[name].replace(old, new, 1)
        for file, text in files.items():
            path = tmp_path / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return room


FLOAT32 = Published(
    "net.v100.float32",
    "speed",
    as_printed("20 per second"),
    (LAB,),
    "measured",
    card="V100",
    software="PyTorch",
    model="a network",
    batch="8",
    format="float32",
)
FLOAT16 = Published(
    "net.v100.float16",
    "speed",
    as_printed("50 per second"),
    (POST,),
    "stated",
    card="V100",
    software="JAX",
    model="a network",
    batch="8",
    format="float16",
    layout="NCHW",
    setting="cold",
    caveat="Hot.",
    label="half",
)
A100 = Published(
    "net.a100.float32",
    "speed",
    as_printed("40.0 per second"),
    (LAB,),
    "measured",
    card="A100",
    software="PyTorch",
    model="a network",
    batch="8",
    format="float32",
)
LOSS = Published(
    "net.loss",
    "loss",
    as_printed("0.5"),
    (POST, LAB),
    "measured",
    software="PyTorch",
    model="a network",
    batch="8",
)
GAIN = Published(
    "net.v100.gain",
    "gain",
    divided(FLOAT16.number, FLOAT32.number, "times"),
    (LAB,),
    "our division",
    card="V100",
    software="PyTorch",
    model="a network",
    batch="8",
    base="float32",
)
FASTER = Published(
    "net.more",
    "speed",
    divided(A100.number, FLOAT32.number, "more"),
    (LAB,),
    "our division",
    software="PyTorch",
    model="a network",
    batch="8",
    format="float32",
    base="V100",
)
MIDDLE = Published(
    *("counted.middle", "time", Quantity(2.0, "s", f"2.00{SPACE}s"), (LAB,), "our count"),
    model="nets",
)
MOST = replace(MIDDLE, id="counted.most")
STEP = Published(
    "again.step",
    "time of a step",
    step_time(FLOAT16.number, 100),
    (POST,),
    "our division",
    card="V100",
    software="JAX",
    model="a network",
    batch="8",
    format="float16",
    layout="NCHW",
    setting="cold",
)
MORE = replace(FASTER, id="again.middle", quantity="time of a step")
SHARE = Published(
    "again.share",
    "time of a step",
    divided(FLOAT32.number, FLOAT16.number, "share"),
    (POST,),
    "our division",
    card="two",
    model="one",
    batch="8",
    base="half",
)
BOTH = Published(
    "again.both",
    "time of a step",
    divided(STEP.number, MOST.number, "times"),
    (POST, LAB),
    "our division",
    base="counted",
)


def test_a_room_is_read_as_it_is_written(write: Write) -> None:
    """What a figure says itself, what its group shares, and what both parts of a ratio have."""
    room = write()

    topics = read_topics(room)

    net = Group("net", "A network", "card", "format", (FLOAT32, FLOAT16, A100, LOSS, GAIN, FASTER))
    counted = Group("counted", "What we counted", "model", "", (MIDDLE, MOST))
    again = Group("again", "What we divided", "card", "", (STEP, MORE, SHARE, BOTH))
    assert {"a_speeds": (net,), "b_steps": (counted, again)} == topics
    figures = (*net.figures, *counted.figures, *again.figures)
    assert {figure.id: figure for figure in figures} == read(room)
    assert list(read(room)) == [figure.id for figure in figures]
    assert {"lab": LAB, "post": POST} == read_sources(room)


def test_what_is_written_without_quotes_is_read_as_words(write: Write) -> None:
    """Such as a batch that is a number, a value, and ids and their ends, which a rule names."""
    numbers = "base = 1, batch = 2, caveat = 3, label = 4, quantity = 5"
    rule = 'id = "gain", of = "float16", by = "float32", base = "float32", quantity = "gain"'
    figures = read(write("topics/a_speeds.toml", rule, f"id = 8, of = 16, by = 32, {numbers}"))

    found = figures["net.v100.float8"]

    said = (found.base, found.batch, found.caveat, found.label, found.quantity)
    assert ("1", "2", "3", "4", "5") == said
    assert GAIN.number == found.number
    assert LOSS == read(write("topics/a_speeds.toml", '"0.5"', "0.5"))["net.loss"]
    again = read_topics(write("topics/b_steps.toml", 'id = "again"', "id = 7"))["b_steps"][1]
    assert ("7", "7.step") == (again.id, again.figures[0].id)


def test_a_rule_divides_only_where_both_figures_are(write: Write) -> None:
    """An id that is the beginning of another one is not taken for half of a pair."""
    rule = 'id = "gain", of = "float16", by = "float32"'
    room = write("topics/a_speeds.toml", rule, 'id = ".gain", of = ".float16", by = ".float32"')
    path = room / "topics" / "a_speeds.toml"
    speeds = path.read_text(encoding="utf-8")
    path.write_text(speeds.replace('id = "loss"', 'id = "a100"'), encoding="utf-8")

    figures = read(room)

    assert GAIN == figures["net.v100.gain"]
    assert "net.a100.gain" not in figures


def test_a_cell_is_named_by_fields_of_its_figure() -> None:
    """Its row by what is compared where the field is empty, its column by a label if there is."""
    group = Group("net", "A network", "card", "format", ())
    values = Group("net", "A network", "card", "", ())

    assert ("V100", "float32") == group.cell(FLOAT32)
    assert ("V100", "half") == group.cell(FLOAT16) == values.cell(FLOAT16)
    assert ("V100", "") == values.cell(FLOAT32)
    assert ("time of a step, against counted", "") == group.cell(BOTH)


def test_a_room_is_read_again_only_after_a_change(write: Write) -> None:
    """Of a topic, a table or a source."""
    room = write()
    before = read_topics(room)

    assert before is read_topics(room)
    for name, old, new, changed in [
        ("topics/a_speeds.toml", "50 per", "60 per", "net.v100.gain"),
        ("tables/rows.json", "6]", "1.5]", "counted.middle"),
        ("sources.toml", "its table", "a table", "counted.most"),
    ]:
        figure, path = read(room)[changed], room / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        assert figure != read(room)[changed]


def expect_refused(ask: Callable[[Path], object], room: Path, at: str, problem: str) -> None:
    """A room is refused with the file, the line and the name of what is wrong, and with why."""
    with pytest.raises(PublishedError) as refused:
        ask(room)

    said = str(refused.value)
    assert said.startswith(f"{room}/{at}"), said
    assert problem in said


AT_MIDDLE = 'id = "middle", of'


@pytest.mark.parametrize(
    ("old", "new", "where", "problem"),
    [
        ('id = "counted"\n', "", "1: ", "it has no id"),
        ('title = "What we divided"\n', "", "18: again", "it has no title"),
        ('rows = "card"\n', "", "18: again", "it has no rows"),
        ('figures = [\n  { id = "step"', 'divide = [\n  { id = "step"', "18: again", "no figures"),
        ("[[group]]\n", "[[group]]\nsize = 1\n", "4: counted", "'size'; known are id, title, "),
        ('rows = "card"', 'rows = "card"\ncolumns = "size"', "18: again", "columns is 'size', "),
        ('rows = "card"', 'rows = "quantity"', "18: again", "which is none of card, software, "),
        ('  { id = "middle", statistic = "median" },', "1,", "3: counted", "figures is not a list"),
        ('id = "again"', 'id = "counted"', "3: counted", "another group has this id"),
        ('id = "again"', 'id = "net"', "18: net", "another group has this id"),
        (AT_MIDDLE, 'id = "step", of', "23: again.step", "this id is used twice"),
        (AT_MIDDLE, 'id = "mid dle", of', "24: again.mid dle", "an id has small letters"),
        (AT_MIDDLE, 'ids = "middle", of', "18: again", "'ids'; known are id, value, of, "),
        (
            AT_MIDDLE,
            'id = "middle", value = "1 s", of',
            "24: again.middle",
            "give one of value, of",
        ),
        (", examples = 100 }", " }", "23: again.step", "it has no examples"),
        ("examples = 100 ", "examples = [1] ", "23: again.step", "a value of the wrong kind: int"),
        ("net.v100.float16", "v100.float16", "23: again.step", "no figure 'v100.float16' before"),
        ('of = "net.a100.float32", ', 'value = "5" ,', "24: again.middle", "how is None; it is"),
        (', by = "counted.most"', "", "26: again.both", "it has no by"),
        (', base = "counted"', "", "26: again.both", "a ratio needs its base"),
        ('quantity = "time of a step"\n', "", "22: again.step", "it has no quantity"),
        ('source = "post", ', "source = [], ", "25: again.share", "it has no source"),
        ('source = "post", ', 'source = ["no"], ', "25: again.share", "'no' is not in sources"),
        ('unit = "s"\n', "", "12: counted.middle", "it has no unit"),
        ('column = "seconds"\n', "", "12: counted.middle", "it has no column"),
        (', statistic = "median"', "", "13: counted.middle", "it has no statistic"),
        ('source = "lab"\n', "", "12: counted.middle", "it has no source"),
    ],
)
def test_a_refused_figure_is_named_with_its_line(
    write: Write, old: str, new: str, where: str, problem: str
) -> None:
    """And what would be right, or what it has that can't be."""
    room = write("topics/b_steps.toml", old, new)

    expect_refused(read, room, f"topics/b_steps.toml:{where}: ", problem)


@pytest.mark.parametrize(
    ("old", "new", "where", "problem"),
    [
        ('of = "float16", ', "", "20: net.gain", "it has no of"),
        ('by = "float32", ', "", "20: net.gain", "it has no by"),
        ('id = "gain", ', "", "3: net", "it has no id"),
        ('of = "float16", ', 'of = "float8", ', "20: net.gain", "end on 'float8' and 'float32'"),
        ('by = "float32", ', 'by = "float8", ', "20: net.gain", "end on 'float16' and 'float8'"),
        ('of = "float16", ', 'of = "float16", a = 1, ', "3: net.v100.gain", "the unknown key 'a'"),
        ('id = "loss", value = "0.5"', 'id = 0, value = "x"', "3: net.0", "'x' is not a number"),
        ('id = "gain", of = "float16", ', "id = 0, ", "3: net.0", "it has no of"),
        ("unitless = true", "unitless = 1", "17: net.loss", "as in '20 ms'"),
        ("unitless = true, ", "", "17: net.loss", "as in '20 ms'"),
        ('["post", "lab"]', '["post", "la"]', "17: net.loss", "'la' is not in sources.toml"),
        ('{ id = "gain"', '1, { id = "gain"', "3: net", "divide is not a list of { key = value }"),
    ],
)
def test_a_refused_division_or_figure_of_another_file_is_named(
    write: Write, old: str, new: str, where: str, problem: str
) -> None:
    """A division by its rule, which has a line; what it makes has none of its own."""
    room = write("topics/a_speeds.toml", old, new)

    expect_refused(read, room, f"topics/a_speeds.toml:{where}: ", problem)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[[group]]", "a = 1\n[[group]]", "holds groups and nothing else"),
        ("[[group]]", "[group]", "holds groups and nothing else"),
        ("[[group]]", "[[groups]]", "holds groups and nothing else"),
        ("[[group]]", "[[group", "can't read "),
    ],
)
def test_a_file_of_no_groups_is_refused(write: Write, old: str, new: str, problem: str) -> None:
    """By its name."""
    room = write("topics/a_speeds.toml", old, new)

    with pytest.raises(PublishedError, match=problem) as refused:
        read(room)

    assert f"{room / 'topics' / 'a_speeds.toml'}" in str(refused.value)


def test_a_room_without_sources_is_refused(write: Write) -> None:
    """The file that is not there is named."""
    room = write()
    (room / "sources.toml").unlink()

    with pytest.raises(PublishedError, match=r"can't read .*sources\.toml: .*No such file"):
        read_sources(room)


class Today(date):
    """A day on which the laboratory's table has just been read."""

    @classmethod
    def today(cls) -> "Today":
        """It never passes."""
        return cls(2026, 11, 23)


AT_POST = f"https://github.com/a/b/blob/{COMMIT}/c.md"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('who = "a user"\n', "", "it has no who"),
        ('title = "a post"\n', "", "it has no title"),
        (f'address = "{AT_POST}"\n', "", "it has no address"),
        ('read = "2026-11"\n', "", "it has no read"),
        ('who = "a user"', 'who = " "', "who is empty"),
        ('title = "a post"', 'title = ""', "title is empty"),
        ('read = "2026-11"', 'read = ""', "read is empty"),
        ('who = "a user"', "who = 3", "who is 3; write it in quotes"),
        ("single_user = true", 'single_user = "yes"', "single_user is yes; write true"),
        ("single_user = true", "licence = true", "licence is True; write it in quotes"),
        ("single_user = true", "size = 1", "'size'; known are who, title, address, published, "),
        (AT_POST, "see https://example.org", "'see https://example.org' does not begin with"),
        (COMMIT, "main", "'main' is not a full commit"),
        (COMMIT, COMMIT[1:], f"'{COMMIT[1:]}' is not a full commit"),
        (f"blob/{COMMIT}", "tree/v1", "'v1' is not a full commit"),
        (f"blob/{COMMIT}", "raw/v1", "'v1' is not a full commit"),
        ('read = "2026-11"', 'read = "26-11"', "read is '26-11'; write a year, 2024-07 or"),
        ('read = "2026-11"', 'read = "2026-11-1"', "read is '2026-11-1'; write a year"),
        ('read = "2026-11"', 'read = "2026-11-24"', "read is 2026-11-24, which is still to come"),
        ("single", 'published = "2027"\nsingle', "published is 2027, which is still to come"),
        ("single", 'published = "May"\nsingle', "published is 'May'; write a year"),
    ],
)
def test_a_refused_source_is_named_with_its_line(
    write: Write, monkeypatch: pytest.MonkeyPatch, old: str, new: str, problem: str
) -> None:
    """The other one is as it should be, though it was read today."""
    monkeypatch.setattr(reader, "date", Today)
    room = write("sources.toml", old, new)

    expect_refused(read_sources, room, "sources.toml:10: post: ", problem)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (AT_POST, "https://github.com/a/b/issues/1"),
        (AT_POST, "https://github.com/a/b"),
        (AT_POST, f"https://github.com/a/b/raw/{COMMIT}/c/d.md"),
        (AT_POST, "https://example.org/github.com/a/b/blob/main/c"),
        ('read = "2026-11"', 'read = "2026"'),
        ('read = "2026-11"', 'read = "2026-11-22"\npublished = "2026-11-23"'),
        ("single_user = true", "single_user = false"),
    ],
)
def test_a_source_may_be_any_page_that_stays(
    write: Write, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    """With days as far as they are known."""
    monkeypatch.setattr(reader, "date", Today)

    assert {"lab", "post"} == set(read_sources(write("sources.toml", old, new)))
