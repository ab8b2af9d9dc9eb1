"""The graphics cards for which a forecast is offered: what their makers say that they can do.

Standard library only. The rates are in ``cards.toml``, each with its source.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FORMATS = ("float32", "tf32", "bfloat16", "float16")
CARDS = Path(__file__).with_name("cards.toml")


class CardError(ValueError):
    """A list of cards that can't be used; the message says which card and what to do."""


# --8<-- [start:card]
@dataclass(frozen=True)
class Card:
    """What a graphics card can do, by its maker.

    Attributes:
        id: Its name in commands and figures.
        name: Its name in sentences.
        memory_bytes: Memory, in bytes.
        bandwidth: Bytes that its memory moves in a second.
        peak: Floating-point operations in a second by format, without sparsity, sums in float32;
            a format is missing that the card has no units for.
        sources: Where each of these was read: a rate's name, or ``all``, to source and day.
        note: What readers have to know about forecasts for it; may be empty.
    """

    id: str
    name: str
    memory_bytes: int
    bandwidth: float
    peak: Mapping[str, float]
    sources: Mapping[str, str]
    note: str = ""


# --8<-- [end:card]


@lru_cache(maxsize=8)
def read_cards(path: Path = CARDS) -> dict[str, Card]:
    """The cards by their id, in the order of the file.

    Raises:
        CardError: If the file can't be read or a card in it lacks a rate or a source.
    """
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise CardError(f"can't read {path}: {problem}") from None
    return {id: _card(id, fields, path) for id, fields in listed.items()}


def _card(id: str, fields: dict[str, object], path: Path) -> Card:
    try:
        card = Card(id=id, **fields)  # type: ignore[arg-type]
    except TypeError as problem:
        raise CardError(f"{path}, {id}: {problem}") from None
    rates = {"memory_bytes": card.memory_bytes, "bandwidth": card.bandwidth, **card.peak}
    for name, rate in rates.items():
        if not isinstance(rate, int | float) or rate <= 0:
            raise CardError(f"{path}, {id}: {name} is {rate!r}, not a number above zero")
        if not card.sources.get(name, card.sources.get("all", "")):
            raise CardError(f"{path}, {id}: {name} has no source; name one under sources")
    unknown = card.peak.keys() - set(FORMATS)
    if unknown or "float32" not in card.peak:
        wrong = min(unknown, default="no float32")
        raise CardError(f"{path}, {id}: peak has {wrong}; it takes {', '.join(FORMATS)}")
    return card
