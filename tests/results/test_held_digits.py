"""Of a number that differs from processor to processor a page shows what holds."""

from math import inf, nan

import pytest

from results.held_digits import (
    Range,
    admits,
    held,
    is_number,
    leaves,
    numbers,
    ranges_of,
    shown,
    words,
)


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
        ("2.34E-07", 2.33e-07, 2.34e-07, "2.3e-07"),
        ("2.2e-07", 2.1e-07, 2.2e-07, "2e-07–3e-07"),
        ("2.3e-07", 1.96e-07, 2.3e-07, "1e-07–3e-07"),
        ("-2.34e-07", -2.34e-07, -1.1e-07, "-4e-07 to 0"),
        # Its ends are on 1 and 7, but for a fraction that a computer's rounding may have left.
        ("5", 3.0, 5.0000002, "1–7"),
        ("5", 3.0, 5.000001, "0–8"),
    ],
)
def test_the_digits_that_hold_are_shown(
    printed: str, low: float, high: float, expected: str
) -> None:
    """Over a range that is three times as wide as the one seen; else the range itself."""
    assert expected == held(printed, Range(low, high))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (Range(1.0, 1.5), (0.5, 2.0)),
        (Range(-1.5, -1.0), (-2.0, -0.5)),
        (Range(-0.5, 1.0), (-2.0, 2.5)),
        (Range(0.0, 0.5), (0.0, 1.0)),
        (Range(-0.5, 0.0), (-1.0, 0.0)),
        (Range(0.25, 1.0), (0.0, 1.75)),
        (Range(-1.0, -0.25), (-1.75, 0.0)),
    ],
)
def test_a_number_is_expected_a_little_outside_of_what_was_seen(
    seen: Range, expected: tuple[float, float]
) -> None:
    """It gets no other sign by that, and both ends belong to it."""
    assert expected == seen.expected
    assert all(admits("0.25", seen, end) for end in expected)


def test_a_range_grows_to_what_is_seen() -> None:
    """To either side; what lies in it changes nothing."""
    seen = Range(1.0, 2.0)

    assert [Range(0.5, 2.0), Range(1.0, 2.5), seen] == [seen.with_(v) for v in (0.5, 2.5, 1.5)]


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
    assert admits("1,503.2", Range(1503.1, 1503.2), 1502.6)  # as 1,503


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


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("a    0.0412", "a  0.039–0.043"),
        ("a   0.0412 b", "a  0.039–0.043 b"),
        ("a   0.0412  b", "a  0.039–0.043  b"),
        ("a    0.0412         b", "a  0.039–0.043      b"),
        ("0.0412     b", "0.039–0.043  b"),
        ("0.0412         b", "0.039–0.043    b"),
        ("mean 0.0412         b", "mean 0.039–0.043    b"),
        ("mean 0.0412%   b", "mean 0.039–0.043%  b"),
        ("a   0.04121212  b", "a  0.039–0.043  b"),
    ],
)
def test_a_number_that_grows_takes_the_spaces_beside_it(printed: str, expected: str) -> None:
    """First those before it, then those after it, and leaves two of each, or the only one."""
    assert expected == shown(printed, {0: Range(0.0405, 0.0415)})


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


def test_words_have_no_numbers_spacing_or_rules_of_a_length() -> None:
    """A number stands as 0 and a duration as #; a rule has three signs or more."""
    text = "loss  time\n====  ────────\n0.25  3.1 s\n1,200    12 ms -- a\n-----\n"

    expected = ["loss", "time", "---", "---", "0", "#", "s", "0", "#", "ms", "--", "a", "---"]
    assert expected == words(text)


def test_ranges_are_those_of_numbers_that_moved() -> None:
    """By their place in the text."""
    assert {1: Range(0.25, 0.5)} == ranges_of(["1 of 0.5", "1 of 0.25", "1 of 0.3"])
    assert {0: Range(1200.0, 1_234_567.0)} == ranges_of(["1,234,567 of 3", "1,200 of 3"])


def test_texts_of_different_numbers_have_no_ranges() -> None:
    """One can't say which of them belong to each other."""
    with pytest.raises(ValueError, match="shorter"):
        ranges_of(["1 of 0.5", "1"])


def test_leaves_have_the_way_to_them() -> None:
    """Through dictionaries and lists, with six digits at most."""
    data = {"a": [1, {"b": 1 / 3}], "c": "text"}
    expected = [(("a", 0), 1), (("a", 1, "b"), 0.333333), (("c",), "text")]

    assert expected == list(leaves(data))


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, True), (0, True), (2.5, True), (0.0, True), (True, False), (False, False)]
    + [(value, False) for value in (nan, inf, -inf, "3", None)],
)
def test_only_finite_numbers_of_data_have_ranges(value: object, number: bool) -> None:
    """A truth value is none."""
    assert number is is_number(value)
