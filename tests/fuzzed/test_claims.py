"""Whatever a claim says, it is as true as Python's own arithmetic finds it, or is refused."""

import re
from collections.abc import Iterable

import pytest
from hypothesis import strategies as st

from results.claims import LONGEST, ClaimError, holds
from results.store import FigureError
from tests.fuzzed.by_chance import by_chance

VALUES = {"cpu": 2.0, "mnist_epoch.loader_only": 0.25, "a.b_2": -3.0, "e5": 0.0, "large": 1e300}
PIECES = ("(", ")", "-", "+", "*", "/", "<", "<=", ">", ">=", "==", "**", "//", ".", "e5", "1e5")
SPACES = st.sampled_from(("", " ", "  ", "\n", "\t"))


class Figures:
    """Stands in for the store, of which a claim asks values alone."""

    def values(self, names: Iterable[str]) -> dict[str, float]:
        """The value of each name.

        Raises:
            FigureError: If it is unknown.
        """
        try:
            return {name: VALUES[name] for name in names}
        except KeyError as unknown:
            raise FigureError(f"{unknown} is no figure") from None


def joined(parts: tuple[str, ...]) -> str:
    """One text of several."""
    return "".join(parts)


NUMBERS = st.from_regex(r"\d{1,4}(\.\d{1,3})?", fullmatch=True) | st.just("9" * 310)
ATOMS = NUMBERS | st.sampled_from(sorted(VALUES))
SUMS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, SPACES, st.sampled_from("+-*/"), SPACES, inner).map(joined)
        | st.tuples(st.just("("), SPACES, inner, SPACES, st.just(")")).map(joined)
        | inner.map(lambda atom: f"-{atom}")
    ),
    max_leaves=12,
)
COMPARISONS = st.tuples(
    *(SUMS, SPACES, st.sampled_from(("<", "<=", ">", ">=")), SPACES, SUMS),
).map(joined)
PILES = st.lists(st.sampled_from((*PIECES, *VALUES, "7", " ", "é", "٣", "\0")), max_size=30)


def by_python(claim: str) -> bool | None:
    """What Python finds; None where it divides by zero."""
    names = re.sub(r"[a-z][\w.]*", lambda name: f"VALUES['{name[0]}']", claim)
    plain = re.sub(r"(?<!['\w.])\d+(\.\d+)?(?![\w.'])", lambda n: f"float('{n[0]}')", names)
    try:
        return bool(eval(f"({plain})", {"VALUES": VALUES, "float": float}))
    except ZeroDivisionError:
        return None


def verdict(claim: str) -> bool | None:
    """Whether a claim holds; None if it is refused in one sentence."""
    try:
        return holds(claim, Figures())  # type: ignore[arg-type]
    except (ClaimError, FigureError) as problem:
        said = str(problem)
    assert re.fullmatch(r".{9,2000}", said)
    return None


def test_a_claim_is_as_true_as_in_python() -> None:
    """Signs, parentheses and spaces bind as they do there."""

    @by_chance(COMPARISONS)
    def compare(claim: str) -> None:
        if re.search("[a-z]", claim) and len(claim) <= LONGEST:
            assert by_python(claim) is verdict(claim), claim

    compare()


def test_whatever_is_no_claim_is_refused() -> None:
    """No other error leaves the reader, for a pile of words and signs."""

    @by_chance(PILES)
    def read(pieces: list[str]) -> None:
        verdict("".join(pieces))

    read()


@pytest.mark.parametrize("piece", ["(", "-", "cpu+", "-(", "9"])
def test_a_claim_without_end_is_refused(piece: str) -> None:
    """Nobody waits for its answer."""
    assert verdict(f"{piece * 200_000}cpu < 1") is None


@pytest.mark.parametrize("piece", ["(", "-", "-("])
def test_a_claim_too_deep_is_refused(piece: str) -> None:
    """The stack of calls does not run out."""
    close = ")" * piece.count("(")

    assert verdict(f"{piece * 5}1{close * 5} < cpu") is True
    assert verdict(f"{piece * 300}1{close * 300} < cpu") is None
