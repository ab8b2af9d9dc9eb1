"""Claims that a page's words make about its figures, as comparisons that a test evaluates.

``mnist_epoch.loader_only > 0.5 * mnist_epoch.cpu``: numbers, names of figures, ``+ - * /``,
parentheses, and one of ``< <= > >=`` between two sides. A forecast for the reader's card,
``forecast.mnist_64.float32.card.time``, stands for that of each card in turn.
"""

import operator
import re
from collections.abc import Callable, Mapping

from lesson_code.forecast.cards import read_cards
from results.reader_card import is_readers, on_card
from results.store import Store

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[a-z_][\w.]*)|(?P<sign><=|>=|[-+*/()<>]))"
)
LONGEST, DEEPEST = 1000, 20  # characters; parentheses and signs within each other
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class ClaimError(ValueError):
    """A claim that does not follow the grammar."""


def holds(claim: str, store: Store) -> bool | None:
    """Whether a claim is true, on every card that a reader can choose if it speaks of theirs.

    Returns:
        None if not all of its figures are measured, in one result file.

    Raises:
        ClaimError: If it does not follow the grammar.
        FigureError: If a name is unknown.
    """
    if len(claim) > LONGEST:
        raise ClaimError(f"{claim[:40]!r}…: a claim has at most {LONGEST} characters; say less")
    tokens = _tokens(claim)
    names = {text for kind, text in tokens if kind == "name"}
    if not names:
        raise ClaimError(f"{claim!r} names no figure")
    cards = list(read_cards()) if any(map(is_readers, names)) else [""]
    every = [_values({name: on_card(name, card) for name in names}, store) for card in cards]
    # Numbers stand in for figures not yet measured, so that the grammar is checked all the same
    stand_ins = [dict.fromkeys(names, 1.0) if values is None else values for values in every]
    try:
        truths = [_Reader(list(tokens), values).comparison() for values in stand_ins]
    except ClaimError as problem:
        raise ClaimError(f"{claim!r}: {problem}") from None
    return None if None in every else all(truths)


def _values(figures: Mapping[str, str], store: Store) -> dict[str, float] | None:
    """The value of the figure that each name stands for; None if no machine has all."""
    found = store.values(sorted(set(figures.values())))
    return None if found is None else {name: found[figure] for name, figure in figures.items()}


def _tokens(claim: str) -> list[tuple[str, str]]:
    tokens, position = [], 0
    while position < len(claim.rstrip()):
        found = TOKEN.match(claim, position)
        if found is None or found.lastgroup is None:
            raise ClaimError(f"{claim!r}: can't read {claim[position:].strip()[:40]!r}")
        tokens.append((found.lastgroup, found[found.lastgroup]))
        position = found.end()
    return tokens


class _Reader:
    """Reads tokens from left to right and computes as it goes."""

    def __init__(self, tokens: list[tuple[str, str]], values: dict[str, float]) -> None:
        self.tokens = tokens
        self.values = values
        self.depth = 0

    def comparison(self) -> bool:
        left = self._sum()
        sign = self._next("a comparison")[1]
        if sign not in COMPARISONS:
            raise ClaimError(f"expected a comparison, found {sign!r}")
        right = self._sum()
        if self.tokens:
            raise ClaimError(f"{self.tokens[0][1]!r} is left over")
        return COMPARISONS[sign](left, right)

    def _sum(self) -> float:
        value = self._product()
        while self._sees("+", "-"):
            sign = self.tokens.pop(0)[1]
            value = value + self._product() if sign == "+" else value - self._product()
        return value

    def _product(self) -> float:
        value = self._atom()
        while self._sees("*", "/"):
            sign = self.tokens.pop(0)[1]
            factor = self._atom()
            if sign == "/" and factor == 0:
                raise ClaimError("divides by zero")
            value = value * factor if sign == "*" else value / factor
        return value

    def _atom(self) -> float:
        kind, text = self._next("a number or a figure")
        if kind == "number":
            return float(text)
        if kind == "name":
            return self.values[text]
        if text not in ("-", "("):
            raise ClaimError(f"expected a number or a figure, found {text!r}")
        self.depth += 1
        if self.depth > DEEPEST:
            raise ClaimError(f"more than {DEEPEST} parentheses or signs are within each other")
        value = -self._atom() if text == "-" else self._sum()
        self.depth -= 1
        if text == "(" and self._next("a closing parenthesis")[1] != ")":
            raise ClaimError("a parenthesis is not closed")
        return value

    def _next(self, expected: str) -> tuple[str, str]:
        if not self.tokens:
            raise ClaimError(f"ends where {expected} should come")
        return self.tokens.pop(0)

    def _sees(self, *signs: str) -> bool:
        return bool(self.tokens) and self.tokens[0][1] in signs
