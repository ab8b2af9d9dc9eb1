"""Of a number that differs from processor to processor a page shows what holds."""

import pytest

from results.held_digits import Range, admits, held, leaves, numbers, ranges_of, shown, words


@pytest.mark.parametrize(
    ("printed", "low", "high", "expected"),
    [
        ("0.2058", 0.2058, 0.2058, "0.2058"),
        ("0.2058", 0.2057, 0.2058, "0.206"),
        ("0.2058", 0.1741, 0.2058, "0.14–0.24"),
        ("97.3", 97.1, 97.2, "97"),
        ("12", 11, 12, "10–13"),
        ("1,234", 1200, 1234, "1,160–1,270"),
        ("4713.515039", 4713.515035, 4713.515039, "4713.5150"),
        ("+0.312", 0.312, 0.313, "+0.31"),
        ("-0.312", -0.313, -0.312, "-0.31"),
        ("0.01", -0.01, 0.01, "-0.03 to 0.03"),
        ("0.001", 0.0, 0.001, "0.000–0.002"),
        ("0.0006", 0.00060862, 0.00060866, "0.0006"),
        ("0.4", 0.2, 0.4, "0.0–0.6"),
        ("2.34e-07", 2.33e-07, 2.34e-07, "2.3e-07"),
        ("2.34e-07", 1.1e-07, 2.34e-07, "0–4e-07"),
        ("2.34e-07", 2e-07, 2.4e-07, "1e-07–3e-07"),
    ],
)
def test_the_digits_that_hold_are_shown(
    printed: str, low: float, high: float, expected: str
) -> None:
    """Over a range that is three times as wide as the one seen; else the range itself."""
    assert expected == held(printed, Range(low, high))


@pytest.mark.parametrize(
    ("value", "may"), [(0.1655, True), (0.2374, True), (0.14, False), (0.25, False)]
)
def test_another_processor_may_lie_a_little_outside(value: float, may: bool) -> None:
    """As far as what was seen lies apart."""
    assert may is admits("0.2058", Range(0.1741, 0.2058), value)


def test_what_is_shown_the_same_is_admitted() -> None:
    """Though it lies farther away than the numbers that were seen."""
    assert admits("1.503", Range(1.502, 1.503), 1.4951)
    assert not admits("1.503", Range(1.502, 1.503), 1.512)


def test_columns_stay() -> None:
    """A shorter number is followed by more spaces, and a longer one takes those before it."""
    text = "name     loss  share\none    0.2058  91.2%\ntwo    0.3111   3.0%\n"
    moved = {0: Range(0.1741, 0.2058), 1: Range(91.1, 91.2), 2: Range(0.3110, 0.3111)}

    wide = "a  0.0412  0.3%\n"
    assert "a  0.039–0.043  0.3%\n" == shown(wide, {0: Range(0.0405, 0.0415)})
    assert "a  0.039–0.043   0.3%\n" == shown(
        "a  0.0412" + 8 * " " + "0.3%\n", {0: Range(0.0405, 0.0415)}
    )
    expected = "name     loss  share\none  0.14–0.24  91%\ntwo    0.311    3.0%\n"
    assert expected == shown(text, moved)


def test_a_sentence_gets_no_gaps() -> None:
    """Between single spaces a shorter number is just shorter."""
    moved = {0: Range(0.2058, 0.2059)}
    assert "loss 0.206 after 3 epochs" == shown("loss 0.2058 after 3 epochs", moved)


def test_durations_are_no_numbers() -> None:
    """They differ whenever they are measured, and exponents belong to numbers."""
    text = "3 epochs, 1,200 images, 2.5e-3 loss, 12 ms, 3.1 s, 1e-3 s, 4 samples"

    assert ["3", "1,200", "2.5e-3", "4"] == [number.text for number in numbers(text)]
    assert words("took 3 s") == words("took   17.2 s")
    assert words("took 3") != words("took 3 s")


def test_ranges_are_those_of_numbers_that_moved() -> None:
    """By their place in the text."""
    assert {1: Range(0.25, 0.5)} == ranges_of(["1 of 0.5", "1 of 0.25", "1 of 0.3"])


def test_leaves_have_the_way_to_them() -> None:
    """Through dictionaries and lists, with six digits at most."""
    data = {"a": [1, {"b": 1 / 3}], "c": "text"}
    expected = [(("a", 0), 1), (("a", 1, "b"), 0.333333), (("c",), "text")]

    assert expected == list(leaves(data))
