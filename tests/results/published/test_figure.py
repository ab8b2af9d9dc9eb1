"""A published figure is read as printed, divided as fine as it allows, and says what it is."""

import re
from math import isclose
from typing import get_args

import pytest

from results.published.figure import (
    WAYS,
    How,
    Published,
    Quantity,
    Source,
    as_printed,
    divided,
    step_time,
)
from results.quantities import SPACE

LAB = Source("lab", "A laboratory", "its table", "https://example.org/t", "2024-07", "2026-11-23")
POST = Source(
    "post", "a user", "a post", "https://example.org/p", "", "2026-11-24", single_user=True
)
HALF_A_GIBIBYTE = 536_870_912


def same(found: Quantity, expected: Quantity) -> bool:
    """Whether two quantities are one, but for what a computer rounds."""
    return (
        (expected.unit, expected.text) == (found.unit, found.text)
        and isclose(expected.value, found.value, rel_tol=1e-9, abs_tol=1e-12)
        and isclose(expected.error, found.error, rel_tol=1e-9)
    )


@pytest.mark.parametrize(
    ("printed", "value", "unit", "error"),
    [
        ("2.5 s", 2.5, "s", 0.05),
        ("20 ms", 0.02, "s", 0.000_5),
        ("7.25 µs", 0.000_007_25, "s", 0.000_000_005),
        ("24 minutes", 1440, "s", 30),
        ("1.5 hours", 5400, "s", 180),
        ("18 days", 1_555_200, "s", 43_200),
        ("12 bytes", 12, "bytes", 0.5),
        ("80 MB", 80_000_000, "megabytes", 500_000),
        ("14,949.0 MiB", 15_675_162_624, "megabytes", 52_428.8),
        ("1.2 GB", 1_200_000_000, "gigabytes", 50_000_000),
        ("2 GiB", 4 * HALF_A_GIBIBYTE, "gigabytes", HALF_A_GIBIBYTE),
        ("900 GB/s", 900_000_000_000, "bytes_per_s", 500_000_000),
        ("3.35 TB/s", 3_350_000_000_000, "bytes_per_s", 5_000_000_000),
        ("1,555 GiB/s", 3110 * HALF_A_GIBIBYTE, "bytes_per_s", HALF_A_GIBIBYTE),
        ("19.5 GFLOP/s", 19_500_000_000, "flop_per_s", 50_000_000),
        ("989 TFLOP/s", 989_000_000_000_000, "flop_per_s", 500_000_000_000),
        ("1,218.01 per second", 1218.01, "samples_per_s", 0.005),
        ("2.26 times", 2.26, "times", 0.005),
        ("80 %", 80, "percent", 0.5),
        ("502 MWh", 502, "plain", 0.5),
        ("24.7 tonnes", 24.7, "plain", 0.05),
        ("5 kg", 0.005, "plain", 0.000_5),
        ("4,096", 4096, "plain", 0.5),
    ],
)
def test_a_number_is_read_as_its_source_prints_it(
    printed: str, value: float, unit: str, error: float
) -> None:
    """Shown with its own digits and commas, in the base unit, half a last digit uncertain."""
    expected = Quantity(value, unit, printed.replace(" ", SPACE), error)

    assert same(as_printed(printed.replace(",", "")), expected)


@pytest.mark.parametrize("printed", ["fast", "-1 s", "1,000 s", "1. s", ".5 s", "1  s", "1 ", "1s"])
def test_what_is_no_number_with_a_unit_is_refused(printed: str) -> None:
    """A number has no sign and no commas, and one space before its unit."""
    with pytest.raises(ValueError, match=re.escape(f"{printed!r} is not a number with a unit")):
        as_printed(printed)


def test_an_unknown_unit_is_refused_with_those_that_are_known() -> None:
    """So that one finds how it is written."""
    with pytest.raises(ValueError, match=r"'furlongs' is unknown; .* s, ms, .* tonnes, kg$"):
        as_printed("10 furlongs")


@pytest.mark.parametrize(
    ("of", "by", "way", "text"),
    [
        ("833 per second", "369 per second", "times", f"2.26{SPACE}times"),
        ("0.11 s", "0.016 s", "times", f"7{SPACE}times"),
        ("149 s", "12 s", "times", f"12{SPACE}times"),
        ("8681 MiB", "14949 MiB", "less", f"42{SPACE}%"),
        ("66.03 s", "57.82 s", "more", f"14{SPACE}%"),
        ("794.5 TFLOP/s", "989 TFLOP/s", "share", f"80{SPACE}%"),
    ],
)
def test_a_division_is_as_fine_as_its_parts(of: str, by: str, way: str, text: str) -> None:
    """Digits that the rounding of the printed numbers would move are left out."""
    ratio = divided(as_printed(of), as_printed(by), way)

    assert text == ratio.text


@pytest.mark.parametrize(
    ("of", "by", "way", "value", "text", "error"),
    [
        # 3 ± 0.06 over 2 ± 0.02: the errors add up to a fiftieth and a hundredth.
        ((3, 0.06), (2, 0.02), "times", 1.5, "1.5 times", 0.045),
        ((3, 0.06), (2, 0.02), "share", 1.5, "150 %", 0.045),
        ((3, 0.06), (2, 0.02), "more", 0.5, "50 %", 0.045),
        ((3, 0.06), (2, 0.02), "less", -0.5, "-50 %", 0.045),
        # Exact numbers have three digits, and two in percent.
        ((2, 0), (3, 0), "times", 2 / 3, "0.667 times", 0),
        ((8000, 0), (3, 0), "times", 8000 / 3, "2,670 times", 0),
        ((2, 0), (3, 0), "share", 2 / 3, "67 %", 0),
        ((1, 0), (300, 0), "share", 1 / 300, "0.33 %", 0),
        ((2, 0), (2, 0), "more", 0, "0 %", 0),
        # Two fifths of the error are just below 0.1, and just above it.
        ((10, 0.7455), (3, 0), "times", 10 / 3, "3.3 times", 0.2485),
        ((10, 0.7545), (3, 0), "times", 10 / 3, "3 times", 0.2515),
        # In percent, just below 1, and just above it.
        ((1, 0.07455), (3, 0), "share", 1 / 3, "33 %", 0.02485),
        ((1, 0.07545), (3, 0), "share", 1 / 3, "30 %", 0.02515),
    ],
)
def test_a_ratio_is_uncertain_as_far_as_both_numbers_are(
    of: tuple[float, float],
    by: tuple[float, float],
    way: str,
    value: float,
    text: str,
    error: float,
) -> None:
    """What is more or less has the error of the whole ratio, and is shown in percent."""
    unit = "times" if way == "times" else "share"

    ratio = divided(Quantity(of[0], "s", "", of[1]), Quantity(by[0], "s", "", by[1]), way)

    assert same(ratio, Quantity(value, unit, text.replace(" ", SPACE), error)), ratio


@pytest.mark.parametrize(
    ("of", "by", "way", "problem"),
    [
        ("1 s", "2 GB", "times", f"1{SPACE}s and 2{SPACE}GB have different units"),
        ("1 s", "0 s", "times", "one of the two figures is zero"),
        ("0 s", "1 s", "times", "one of the two figures is zero"),
        ("1 s", "2 s", "half", "the way 'half' is none of times, share, more, less"),
    ],
)
def test_what_is_no_ratio_is_refused(of: str, by: str, way: str, problem: str) -> None:
    """Such as seconds over bytes."""
    with pytest.raises(ValueError, match=f"^{problem}$"):
        divided(as_printed(of), as_printed(by), way)


@pytest.mark.parametrize(
    ("speed", "examples", "value", "text", "error"),
    [
        ("224.96 per second", 32, 32 / 224.96, "142 ms", 32 / 224.96 * 0.005 / 224.96),
        ("50 per second", 10, 0.2, "200 ms", 0.002),
        ("1.00 per second", 3, 3, "3.00 s", 0.015),
    ],
)
def test_a_step_takes_its_examples_over_the_speed(
    speed: str, examples: int, value: float, text: str, error: float
) -> None:
    """It is as uncertain as the speed."""
    expected = Quantity(value, "s", text.replace(" ", SPACE), error)

    assert same(step_time(as_printed(speed), examples), expected)


@pytest.mark.parametrize("speed", ["2 s", "0 per second"])
def test_what_is_no_speed_has_no_step(speed: str) -> None:
    """A time is none, and neither is no example a second."""
    shown = speed.replace(" ", SPACE)

    with pytest.raises(ValueError, match=f"^{shown} is not a number of examples a second$"):
        step_time(as_printed(speed), 32)


def test_a_source_is_named_with_its_year() -> None:
    """Or without one; and as one person's post where it is."""
    assert ("2024", "undated") == (LAB.year, POST.year)
    assert "A laboratory, its table (2024)" == LAB.named
    assert "a user, a post (undated, one person’s post)" == POST.named
    assert ("", False) == (LAB.licence, LAB.single_user)


def test_a_figure_says_what_it_was_measured_on_and_by_whom() -> None:
    """All of its setting in one line, all of its sources in another."""
    figure = Published(
        "net.gain",
        "speed",
        as_printed("2.5 times"),
        (LAB, POST),
        "our division",
        card="a V100",
        software="PyTorch",
        model="a network",
        batch="8",
        format="float16",
        layout="NCHW",
        setting="without augmentation",
        base="float32",
        caveat="It was hot.",
    )

    assert (2.5, "times", f"2.5{SPACE}times") == (figure.value, figure.unit, figure.text)
    assert "speed, against float32" == figure.compared
    assert (
        "speed, against float32: "
        "a network, batch 8, float16, NCHW, without augmentation, a V100" == figure.what
    )
    assert (
        f"{WAYS['our division']} with PyTorch: "
        "A laboratory, its table (2024), https://example.org/t, read on 2026-11-23; "
        "a user, a post (undated, one person’s post), https://example.org/p, read on 2026-11-24"
        ". It was hot" == figure.provenance
    )
    assert figure.single_user


def test_a_figure_says_nothing_of_what_it_does_not_know() -> None:
    """No field of its setting needs to be given, nor is there always something to compare with."""
    figure = Published("net.time", "time of a step", as_printed("20 ms"), (LAB,), "measured")

    assert "time of a step" == figure.compared == figure.what
    assert (
        f"{WAYS['measured']}: "
        "A laboratory, its table (2024), https://example.org/t, read on 2026-11-23"
        == figure.provenance
    )
    assert "" == figure.label
    assert not figure.single_user


def test_how_a_figure_was_obtained_is_said_of_each_way() -> None:
    """Each in words of its own, so that what we computed is not passed off as its source's."""
    said = {
        how: Published("a", "time", as_printed("20 ms"), (LAB,), how).provenance
        for how in get_args(How)
    }

    assert all(sentence.startswith(f"{WAYS[how]}: ") for how, sentence in said.items())
    assert len(said) == len(set(said.values())) == len(WAYS)
