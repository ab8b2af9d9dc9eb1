"""The table of forecasts and the page's file say what was counted, forecast and timed."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from math import ceil, floor

import pytest

from lesson_code.forecast import report
from lesson_code.forecast.cards import Card
from lesson_code.forecast.formula import ARITHMETIC_SHARE, BAND, BANDWIDTH_SHARE, HOST, Step
from lesson_code.forecast.report import (
    Counted,
    Measured,
    decides,
    digits,
    duration,
    file_content,
    has_units,
    memory,
    table,
)
from results.quantities import coarse, outward, rounded

# A second for 1,000 operations, and for 100 bytes.
CARD = Card(
    id="mine",
    name="My card",
    memory_bytes=10_000_000,
    bandwidth=100 / BANDWIDTH_SHARE,
    peak={"float32": 1000 / ARITHMETIC_SHARE, "float16": 1000 / ARITHMETIC_SHARE},
    sources={},
    tested=True,
)
OTHER = replace(CARD, id="other", name="Other", peak={"float32": 4000 / ARITHMETIC_SHARE})
STEP = Step("float32", {"float32": 3000}, 100, 0, 1000, 900, 2_000_000, 9_000_000)
CPU = Measured("Processor, 4 threads", 16, 2.0)


def parts(text: str) -> tuple[list[list[str]], str]:
    """The cells of a table, its first lines included, and the notes below it."""
    lines, _, notes = text.partition("\n\n")
    return [re.split(r"\s{2,}", line) for line in lines.splitlines()], notes


def test_a_table_by_hand() -> None:
    """Four seconds, off 1.5 times both ways; what a card can't compute has dashes."""
    narrow = replace(STEP, format="float16", flop={"float16": 3000}, peak_bytes=9_100_001)
    steps = [Counted(64, STEP), Counted(8, narrow)]

    rows, _ = parts(table(steps, [CARD, OTHER], {32: CPU, 16: CPU}))

    assert [
        ["card", "batch", "format", "a step", "between", "samples/s", "memory", "decides"],
        ["My card", "64", "float32", "4 s", "2 s and 6 s", "16", "9 MB, fits", "arithmetic"],
        ["Other", "64", "float32", "1.8 s", "1.1 s and 3 s", "40", "9 MB, fits", "traffic"],
        [
            "My card",
            "8",
            "float16",
            "4 s",
            "2 s and 6 s",
            "2",
            "9.1 MB, does not fit",
            "arithmetic",
        ],
        ["Other", "8", "float16", "–", "–", "–", "9.1 MB, does not fit", "no float16 units"],
        ["this CPU", "32", "float32", "4 s", "measured", "8", "scaled from a batch of 16"],
        ["this CPU", "16", "float32", "2 s", "measured", "8"],
    ] == rows


def test_what_all_rows_share_is_said_once() -> None:
    """Above them; a CPU that was timed with the same batch shares it too."""
    rows, _ = parts(table([Counted(16, STEP)], [CARD, OTHER], {16: CPU}))

    above, heads, *others = rows
    assert ["batch 16, float32"] == above
    assert ["card", "a step", "between", "samples/s", "memory", "decides"] == heads
    assert [["My card", "4 s"], ["Other", "1.8 s"], ["this CPU", "2 s"]] == [r[:2] for r in others]


@pytest.mark.parametrize(("batch", "format"), [(32, "float32"), (16, "float16")])
def test_what_differs_in_one_row_is_said_in_each(batch: int, format: str) -> None:
    """Its batch alone, or its format alone."""
    rows, _ = parts(table([Counted(batch, replace(STEP, format=format))], [CARD], {16: CPU}))

    assert [["card", "batch", "format"], ["My card", str(batch), format]] == [
        row[:3] for row in rows[:2]
    ]


def test_columns_begin_below_each_other() -> None:
    """Each is as wide as its widest cell, with two spaces between, and no line ends in one."""
    lines = table([Counted(16, STEP)], [CARD, OTHER], {32: CPU}).partition("\n\n")[0].splitlines()

    begins = [[cell.start() for cell in re.finditer(r"(?:^|(?<=  ))\S", line)] for line in lines]
    assert begins[0] == begins[1] == begins[2]
    assert all(line == line.rstrip() for line in lines)
    assert "My card   16     float32  4 s" == lines[1][:29]


def notes(cards: Sequence[Card] = (CARD,), recurrent: bool = False, *there: Measured) -> list[str]:
    """Those below a table, one a line."""
    measured = dict(enumerate(there))
    return parts(table([Counted(16, STEP)], cards, measured, recurrent))[1].splitlines()


def test_notes_say_how_far_a_forecast_may_be_off() -> None:
    """Both ways, for how long a launch may take, and what is known of a card with its own band."""
    wide = replace(CARD, name="Wide", band=2.5, note="A note.")
    noted = replace(CARD, name="Noted", note="A note.")
    bare = replace(CARD, name="Bare", band=3.0)

    common, own = notes()[:2], notes([CARD, wide, noted, bare])

    assert common == own[:2] == notes()
    numbers = re.findall(r"\d+(?:\.\d+)?", " ".join(common))
    assert [f"{BAND:g}", f"{HOST.low * 1e6:.0f}", f"{HOST.high * 1e6:.0f}"] == numbers
    assert 2 == len(own[2:])
    assert re.fullmatch(r"Wide: .*\b2\.5\b.* A note\.", own[2])
    assert re.fullmatch(r"Bare: .*\b3\b.*\S", own[3])


def test_cards_without_compared_speeds_are_named() -> None:
    """All in one note, after those on bands, and no other card."""
    new, wide = (replace(CARD, name=name, tested=False) for name in ("New", "New, wide"))

    found = notes([new, replace(CARD, name="Wide", band=2.5), CARD, replace(wide, band=3.0)])

    assert ["Wide", "New, wide"] == [note.partition(":")[0] for note in found[2:4]]
    assert ["New, New, wide"] == [note.partition(":")[0] for note in found[4:]]


@pytest.mark.parametrize(
    ("format", "moved", "has_tf32", "noted"),
    [
        ("float32", 50, True, True),
        ("float32", 50, False, False),
        ("float32", 0, True, False),
        ("float16", 50, True, False),
    ],
)
def test_convolutions_in_float32_are_said_to_be_without_tf32(
    format: str, moved: int, has_tf32: bool, noted: bool
) -> None:
    """Where a card has it, since PyTorch would use it: in the last of the notes."""
    card = replace(CARD, peak=CARD.peak | ({"tf32": 1.0} if has_tf32 else {}))
    step = replace(STEP, format=format, convolution_bytes=moved)

    found = parts(table([Counted(16, STEP), Counted(16, step)], [OTHER, card]))[1].splitlines()

    assert notes() == found[: len(notes())]
    assert noted == any("--format tf32" in note for note in found[len(notes()) :])


def test_a_processor_that_was_timed_is_named_once() -> None:
    """By its name and its threads, in the last of the notes."""
    assert [CPU.machine in line for line in notes([CARD], False, CPU, replace(CPU, batch=8))] == [
        *(False for _ in notes()),
        True,
    ]


def test_launches_of_recurrent_layers_are_an_upper_end() -> None:
    """They are in the upper end of the forecast alone, and a note tells which end that is."""
    step = replace(STEP, launches=1_000_000)  # 10 to 62 seconds

    counted, recurrent = (
        parts(table([Counted(64, step)], [CARD], recurrent=whether)) for whether in (False, True)
    )

    assert ["My card", "20 s", "10 s and 70 s", "3", "9 MB, fits", "launches"] == counted[0][-1]
    assert ["My card", "4 s", "2 s and 70 s", "16", "9 MB, fits", "not known"] == recurrent[0][-1]
    assert counted[1].splitlines() == recurrent[1].splitlines()[:-1] == notes()


@pytest.mark.parametrize(
    ("format", "has"), [("float32", True), ("tf32", True), ("float16", False), ("bfloat16", False)]
)
def test_a_card_without_tf32_takes_float32_for_it(format: str, has: bool) -> None:
    """But nothing for another format."""
    assert has == has_units(OTHER, format)


def test_the_file_has_each_step_and_the_largest_batch_that_was_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the day, and a version of PyTorch that is without its build."""

    class Today(date):
        @classmethod
        def today(cls) -> date:
            """A day in June."""
            return date(2025, 6, 7)

    monkeypatch.setattr(report, "date", Today)
    large = replace(CPU, batch=32, seconds=1.0)
    steps = [Counted(8, STEP), Counted(16, replace(STEP, channels_last=True))]
    of_steps = {
        "format": "float32",
        "flop": {"float32": 3000},
        "bytes": 100,
        "convolution_bytes": 0,
        "launches": 1000,
        "operations": 900,
        "weight_bytes": 2_000_000,
        "peak_bytes": 9_000_000,
    }
    content = {
        "format": "gpu-training.forecast",
        "version": 1,
        "model": "my_model:training",
        "torch": "2.9.1",
        "date": "2025-06-07",
        "steps": [
            {"batch": 8, **of_steps, "channels_last": False},
            {"batch": 16, **of_steps, "channels_last": True},
        ],
    }
    timed = {
        "format": "float32",
        "machine": "Processor, 4 threads",
        "batch": 32,
        "seconds": 1.0,
    }

    assert content == file_content("my_model:training", "2.9.1+cu130", steps)
    assert {**content, "measured": timed} == file_content(
        "my_model:training", "2.9.1", steps, {8: CPU, 64: large, 16: CPU}
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.24, "1.2 s"),
        (1.96, "2 s"),
        (0.96, "1.0 s"),
        (0.0194, "19 ms"),
        (0.00064, "600 µs"),
        (1800.0, "1,800 s"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    """A forecast has one digit, or two where the first is a 1."""
    assert text == duration(seconds)


def test_digits_are_those_of_the_page() -> None:
    """The command writes a number and the ends of a band as the site does."""
    draw = random.Random(5)
    for _ in range(1000):
        value = 10 ** draw.uniform(-2, 5)
        low, high = outward(value, up=False), outward(value, up=True)

        assert rounded(value, coarse(value)) == digits(value)
        assert rounded(low, coarse(low)) == digits(value, floor)
        assert rounded(high, coarse(high)) == digits(value, ceil)


@pytest.mark.parametrize(
    ("arithmetic", "traffic", "launches", "says"),
    [
        (0.0, HOST.low / 2, 1, "launches"),
        (0.0, HOST.low, 1, "launches"),
        (0.0, HOST.likely, 1, "traffic or launches"),
        (0.0, 2 * HOST.high, 1, "traffic"),
        (HOST.likely, HOST.low, 1, "arithmetic or launches"),
        (HOST.likely, HOST.likely, 1, "traffic or launches"),
        (HOST.high, HOST.low, 1, "arithmetic"),
        (HOST.low / 3, HOST.low / 2, 1, "launches"),
        (0.0, HOST.likely, 3, "launches"),
        (0.0, 2 * HOST.high, 3, "traffic or launches"),
    ],
)
def test_what_decides(arithmetic: float, traffic: float, launches: int, says: str) -> None:
    """Both are named where it depends on the host which of them it is."""
    many = 1_000_000  # times as much of everything, for whole numbers of bytes
    step = Step(
        "float32",
        {"float32": round(many * 1000 * arithmetic)},
        bytes=round(many * 100 * traffic),
        convolution_bytes=0,
        launches=many * launches,
        operations=1,
        weight_bytes=0,
        peak_bytes=0,
    )

    assert says == decides(step, CARD)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (24e9, "24 GB"),
        (1e9, "1 GB"),
        (1e9 - 1, "1e+03 MB"),
        (4.91e6, "4.91 MB"),
        (1e6, "1 MB"),
        (2048, "2.05 kB"),
        (512, "0.512 kB"),
    ],
)
def test_memory(size: float, text: str) -> None:
    """In the largest unit that is not more than it."""
    assert text == memory(int(size))
