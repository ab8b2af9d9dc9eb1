"""Claims are read as arithmetic at school, and refused with what is wrong in them."""

from collections.abc import Iterable

import pytest

from lesson_code.forecast.cards import read_cards
from results.claims import ClaimError, holds

VALUES = {"two": 2.0, "a.card.b": 1.5, "a.half_1": 0.5, "_x": -3.0, "e5": 0.0}
TIME = "forecast.step.float32.{}.time"


class Figures:
    """Stands in for the store: a card's forecast is its place in the list of cards."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def values(self, names: Iterable[str]) -> dict[str, float] | None:
        """The values; None if one of them is not measured."""
        self.asked.append(list(names))
        places = {TIME.format(card): float(at) for at, card in enumerate(read_cards())}
        known = VALUES | places
        return (
            {name: known[name] for name in self.asked[-1]} if "none" not in self.asked[-1] else None
        )


def truth(claim: str) -> bool | None:
    """Whether it holds, of these figures."""
    return holds(claim, Figures())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "claim",
    [
        *(
            "two<2.5",
            "two < 2.5",
            "\n two \t<\n2.5 ",
            "1.5 < two",
            "two > 1",
            "two <= 2",
            "two >= 2",
        ),
        *("1 + 2 * two < 5.5", "1 + 2 * two > 4.5", "8 - 3 - two > 2.5", "8 - 3 - two < 3.5"),
        *("8 / two / 2 < 2.5", "8 / two / 2 > 1.5", "8 / two * 2 > 7.5", "(1 + 2) * two > 5.5"),
        *("-two < -1.5", "--two > 1.5", "3 - -two > 4.5", "-two + 3 > 0.5", "-(two - 3) > 0.5"),
        *("two * -1 < 0", "a.half_1 < two", "_x < 0", "e5 < 1", "two - 1 > -(1 + 2) * two"),
        *("((two)) > 1", "(two) + (two) > 3.5", "two > (1 + (1 - 0.5)) * 1", "e5 / two < 1"),
        *("100.25 > two", "two * 0 < 1", "two * 10 > 19.5", "10 > two"),
    ],
)
def test_a_claim_that_is_true_holds(claim: str) -> None:
    """And with its sides changed for each other it holds no more, unless both are one."""
    assert truth(claim) is True
    for sign, other in (("<=", ">"), (">=", "<"), ("<", ">="), (">", "<=")):
        if sign in claim:
            assert truth(claim.replace(sign, other)) is False
            break


@pytest.mark.parametrize("claim", ["two < 2", "two > 2", "two < a.half_1", "two - 2 > 0"])
def test_a_claim_that_is_false_does_not_hold(claim: str) -> None:
    """Less is not as much."""
    assert truth(claim) is False


def test_a_claim_about_what_nobody_measured_waits() -> None:
    """Even if what is known of it is wrong; each figure is asked for once, with all others."""
    figures = Figures()

    assert holds("none < two - 5 + none", figures) is None  # type: ignore[arg-type]
    assert [["none", "two"]] == figures.asked
    assert truth("1 / (none - 2) < two") is None
    assert truth("1 / (none - 1.01) < two") is None


def test_a_figure_of_ours_may_have_a_card_in_its_name() -> None:
    """It is no forecast, and no card takes the place of that word."""
    assert truth("a.card.b < two") is True
    assert truth(f"a.card.b <= {TIME.format('card')} + 1.5") is True


def test_a_claim_about_the_readers_card_is_asked_of_every_card() -> None:
    """One that is wrong on the first or on the last card alone is wrong."""
    mine, last = TIME.format("card"), len(read_cards()) - 1
    figures = Figures()

    assert holds(f"{mine} < {last + 1} + two - two", figures)  # type: ignore[arg-type]
    assert [[TIME.format(card), "two"] for card in read_cards()] == figures.asked
    assert truth(f"{mine} >= 0") is True
    assert truth(f"{mine} > 0") is False
    assert truth(f"{mine} < {last}") is False
    assert truth(f"{mine} < none") is None
    assert 1 < last


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("", "'' names no figure"),
        ("1 < 2", "'1 < 2' names no figure"),
        ("two", "'two': ends where a comparison should come"),
        ("two <", "'two <': ends where a number or a figure should come"),
        ("two < 3 <", "'two < 3 <': '<' is left over"),
        ("two + 3 4", "'two + 3 4': expected a comparison, found '4'"),
        ("two + < 3", "'two + < 3': expected a number or a figure, found '<'"),
        ("two ) < 3", "'two ) < 3': expected a comparison, found ')'"),
        ("(two < 3", "'(two < 3': a parenthesis is not closed"),
        ("1 < (two", "'1 < (two': ends where a closing parenthesis should come"),
        ("two / 0 < 3", "'two / 0 < 3': divides by zero"),
        ("none / e5 / 0 < 3", "'none / e5 / 0 < 3': divides by zero"),
        ("two < 3 == 4", "'two < 3 == 4': can't read '== 4'"),
        ("two < .5", "'two < .5': can't read '.5'"),
        ("two % 2", "'two % 2': can't read '% 2'"),
        ("two $" + "x" * 50 + " ", f"'two ${'x' * 50} ': can't read '${'x' * 39}'"),
        (
            f"-{'(' * 20}two{')' * 20} < 1",
            f"'-{'(' * 20}two{')' * 20} < 1': more than 20 parentheses or signs are within each "
            "other",
        ),
        (f"${'2' * 1000}", f"'${'2' * 39}'…: a claim has at most 1000 characters; say less"),
        (
            f"two < 1{' ' * 994}",
            "'two < 1" + " " * 33 + "'…: a claim has at most 1000 characters; say less",
        ),
    ],
)
def test_what_is_no_claim_is_refused_with_the_reason(claim: str, said: str) -> None:
    """And with the claim, so that it is found on its page."""
    with pytest.raises(ClaimError) as refused:
        truth(claim)

    assert said == str(refused.value)


@pytest.mark.parametrize(
    "claim",
    [
        f"{'(' * 19}(two) + ((two)){')' * 19} < 9",
        f"{'(' * 480}two{')' * 480} < 9",
        f"{'-' * 900}two < 9",
    ],
)
def test_a_claim_that_is_too_deep_is_refused_however_deep(claim: str) -> None:
    """What is closed counts no more, and what is around it still does."""
    with pytest.raises(ClaimError, match="more than 20 parentheses or signs"):
        truth(claim)


def test_a_claim_may_be_as_long_and_as_deep_as_that() -> None:
    """What was closed or was a sign before is open no more."""
    assert truth(f"two < 3{' ' * 993}") is True
    assert truth(f"{'(' * 20}two{')' * 20} < 3") is True
    assert truth(f"{'-' * 20}two < 3") is True
    assert truth(f"(two) + {'(' * 20}two{')' * 20} < 5") is True
    assert truth(f"{'(two) + ' * 30}two > 60") is True
    assert truth(f"{'-two + ' * 30}two < -50") is True
