"""Numbers with their units, as pages and commands write them."""

import pytest

from results import quantities

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("value", "unit", "spread", "text"),
    [
        (8.437, "s", 0.0, "8.44 s"),
        (8.437, "s", 0.31, "8.4 s"),
        (8.437, "s", 2.0, "8 s"),
        (8.437, "s", 90.0, "8 s"),
        (0.0124, "s", 0.0002, "12.4 ms"),
        (0.0000021, "s", 0.0, "2.10 µs"),
        (0.9999, "s", 0.01, "1.00 s"),
        (0.96, "s", 0.2, "1.0 s"),
        (0.00096, "s", 0.0002, "1.0 ms"),
        (71.42, "percent", 0.0, "71.4 %"),
        (71.42, "percent", 2.5, "71 %"),
        (1.234, "percent", 0.0, "1.2 %"),
        (123.46, "percent", 0.0, "123.5 %"),
        (0.9996, "share", 0.0, "100.0 %"),
        (1.0, "share", 0.0, "100 %"),
        (0.0003, "share", 0.0, "0.0300 %"),
        (1.4286, "times", 0.05, "1.43 times"),
        (1.4286, "times", 0.12, "1.4 times"),
        (6385.0, "times", 600.0, "6,400 times"),
        (0.0004, "times", 0.0, "0.000400 times"),
        (188_160_000, "megabytes", 0.0, "188 MB"),
        (12_460_889_600, "gigabytes", 0.0, "12.5 GB"),
        (12_460_889_600, "hundredths_of_gigabytes", 0.0, "12.46 GB"),
        (60_000, "samples", 0.0, "60,000 samples"),
        (61_234, "samples", 2_000.0, "61,000 samples"),
        (5, "epochs", 0.0, "5"),
        (940_584, "bytes", 0.0, "940,584 bytes"),
        (235_146, "count", 0.0, "235,146"),
        (4.25e13, "flop_per_s", 1e12, "42 TFLOP/s"),
        (1e12, "flop_per_s", 0.0, "1.00 TFLOP/s"),
        (999.0, "flop_per_s", 0.0, "999 FLOP/s"),
        (3.1e9, "bytes_per_s", 0.0, "3.10 GB/s"),
        (2.5e6, "bytes_per_s", 0.0, "2.50 MB/s"),
        (151_234.0, "samples_per_s", 900.0, "151,000 per second"),
        (0.42, "points", 0.0, "0.42 points"),
        (-0.0612, "points", 0.0, "−0.06 points"),
        (0.0042, "points", 0.0, "0.00420 points"),
        (0.42, "points", 0.3, "0.4 points"),
        (0.01, "points", 0.0, "0.01 points"),
        (1.46, "points", 0.0, "1.5 points"),
        (1.46e-7, "plain", 0.0, "1.5 × 10⁻⁷"),
        (3.14e23, "plain", 0.0, "3.14 × 10²³"),
        (1e15, "plain", 0.0, "1.00 × 10¹⁵"),
        (0.001, "plain", 0.0, "0.00100"),
        (0.0, "plain", 0.0, "0"),
        (0.5321, "plain", 0.02, "0.53"),
    ],
)
def test_numbers_keep_the_digits_that_their_spread_supports(
    value: float, unit: str, spread: float, text: str
) -> None:
    """Three digits at most, fewer when the runs lay apart, and a space that does not break."""
    assert text.replace(" ", NBSP).replace(f"per{NBSP}second", "per second") == quantities.write(
        value, unit, spread
    )


@pytest.mark.parametrize("unit", quantities.UNITS)
@pytest.mark.parametrize("value", [0.0, 3e-7, 0.0042, 0.5, 6.789, 940_584.0, 4.25e13, 1.5e16])
def test_what_is_written_can_be_read(unit: str, value: float) -> None:
    """To the digits that are there, in the base unit; a share in percent; less than 0 as more."""
    wanted = 100 * value if unit == "share" else value
    exact = unit in ("count", "plain", "epochs") or wanted > 1e6
    tolerance = {"bytes": 0.5, "megabytes": 0.5, "hundredths_of_gigabytes": 5e6}.get(unit, 0.0)

    text = quantities.write(value, unit)

    below = quantities.write(-value, unit)
    assert not value or f"-{text}" == below.replace("−", "-")
    read = quantities.read(text)
    assert -read == quantities.read(below)
    assert read == pytest.approx(wanted, rel=0.05 if exact else 0.01, abs=tolerance)


@pytest.mark.parametrize(
    ("smallest", "value", "largest", "spread", "unit", "written"),
    [
        (74.3, 81.7, 81.9, 5.0, "percent", ("74.3 %", "82 %")),
        (81.6, 81.7, 90.2, 5.0, "percent", ("81.6 %", "90.2 %")),
        (82.4, 82.4, 90.2, 5.0, "percent", ("82 %", "90.2 %")),
        (7.7, 8.0, 8.3, 0.3, "s", ("7.70 s", "8.30 s")),
        (8.0, 8.0, 8.0, 0.3, "s", ("8.00 s", "8.00 s")),
        (8.0, 9.0, 10.5, 2.0, "s", ("8.00 s", "10.5 s")),
        (0.9994, 1.04, 1.2, 0.1, "s", ("999 ms", "1.20 s")),
    ],
)
def test_a_range_holds_the_written_value(
    smallest: float,
    value: float,
    largest: float,
    spread: float,
    unit: str,
    written: tuple[str, str],
) -> None:
    """An end that the rounded value would overstep is written as the value is."""
    expected = tuple(text.replace(" ", NBSP) for text in written)

    assert expected == quantities.write_range(smallest, largest, unit, value, spread)


@pytest.mark.parametrize("unit", quantities.UNITS)
def test_every_unit_can_write_every_size(unit: str) -> None:
    """Zero, small and large numbers have a text short enough for a result file."""
    for value in (0.0, 1e-9, 0.5, 1.0, 12345.678, 1e17, -3.0):
        assert 0 < len(quantities.write(value, unit, value / 10 if value > 0 else 0.0)) <= 60


def test_numbers_that_are_none_are_refused() -> None:
    """Neither NaN nor an unknown unit reaches a page."""
    with pytest.raises(ValueError, match="no finite number"):
        quantities.write(float("nan"), "s")
    with pytest.raises(ValueError, match="furlong"):
        quantities.write(1.0, "furlong")


def test_small_counts_are_words() -> None:
    """As in a sentence."""
    words = "no one two three four five six seven eight nine 10"

    assert words.split() == [quantities.in_words(count) for count in range(11)]


@pytest.mark.parametrize(
    ("value", "spread"),
    [
        *((1.2, 0.12), (0.5, 0.5), (1.97, 1.97), (9.97, 9.97), (9.94, 9.94)),
        *((9.999996, 9.999996), (9.9999996, 0.99999996)),
    ],
)
def test_a_second_digit_is_for_what_begins_with_a_1_and_stays_so(
    value: float, spread: float
) -> None:
    """1.97 becomes 2, and 9.97 becomes 10, which says no more than its one digit.

    What is 10 in all the digits that decide is a 10.
    """
    assert spread == quantities.coarse(value)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.030, 0.161, f"30 to 170{quantities.SPACE}ms"),
        (0.00027, 0.00154, f"200{quantities.SPACE}µs to 1.6{quantities.SPACE}ms"),
        (1.68, 3.78, f"1.6 to 4{quantities.SPACE}times"),
    ],
)
def test_a_band_has_one_digit_and_its_unit_once(low: float, high: float, text: str) -> None:
    """Two digits where the first is a 1, and both units where they differ."""
    unit = "times" if high > 1 else "s"

    assert text == quantities.write_band(low, high, unit)
