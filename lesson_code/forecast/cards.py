"""The graphics cards for which a forecast is offered: what their makers say that they can do.

Standard library only. The rates are in ``cards.toml``, each with its source.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

FORMATS = ("float32", "tf32", "bfloat16", "float16")
CARDS = Path(__file__).with_name("cards.toml")
SCALES = {"memory": 2**30, "reported": 2**20, "bandwidth": 1e9} | dict.fromkeys(FORMATS, 1e12)
REQUIRED = ("memory", "bandwidth", "float32")


class CardError(ValueError):
    """A list of cards that can't be used; the message says which card and what to do."""


# --8<-- [start:card]
@dataclass(frozen=True)
class Source:
    """Where a rate was read.

    Attributes:
        id: What the cards call it.
        who: The author.
        title: Of the page or file.
        address: Of the page, or of the file at a fixed commit.
        read: The day on which we read it.
    """

    id: str
    who: str
    title: str
    address: str
    read: date


@dataclass(frozen=True)
class Card:
    """What a graphics card can do, by its maker.

    Attributes:
        id: Its name in commands and figures.
        name: Its name in sentences.
        memory_bytes: Memory that its driver reports, in bytes.
        bandwidth: Bytes that its memory moves in a second.
        peak: Floating-point operations in a second by format, without sparsity, sums in float32;
            a format is missing that the card has no units for.
        sources: Where ``memory``, what is ``reported`` of it, ``bandwidth`` and each format's peak
            were read.
        called: What the driver calls it.
        band: How far arithmetic and traffic may be off on it, as a factor both ways, where that is
            further than elsewhere; else 0.
        note: What readers have to know about it; may be empty.
        box_bytes: Memory on its box, in bytes, where the driver reports less; else 0.
        tested: Whether published training speeds on it were compared with their forecasts.
    """

    id: str
    name: str
    memory_bytes: int
    bandwidth: float
    peak: Mapping[str, float]
    sources: Mapping[str, Source]
    called: tuple[str, ...] = ()
    band: float = 0.0
    note: str = ""
    box_bytes: int = 0
    tested: bool = False


# --8<-- [end:card]


def try_card() -> None:
    """What half the bits give."""
    # --8<-- [start:try_card]
    card = Card("mine", "my card", 16 * 2**30, 320e9, {"float32": 8.1e12, "float16": 65e12}, {})
    print(card.peak["float16"] / card.peak["float32"])
    # --8<-- [end:try_card]


@lru_cache(maxsize=8)
def read_cards(path: Path = CARDS) -> dict[str, Card]:
    """The cards by their id, in the order of the file.

    Raises:
        CardError: If the file can't be read, or a card in it lacks a rate or its source.
    """
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
        sources = {id: Source(id, **fields) for id, fields in listed["source"].items()}
        cards = listed["card"]
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise CardError(f"can't read {path}: {problem}") from None
    return {id: _card(id, fields, sources, path) for id, fields in cards.items()}


def _card(id: str, fields: Mapping[str, Any], sources: Mapping[str, Source], path: Path) -> Card:
    rates = {name: fields[name] for name in SCALES if name in fields}
    wrong = sorted(fields.keys() - rates.keys() - {"name", "called", "band", "note", "tested"})
    if wrong:
        raise CardError(f"{path}, {id}: unknown {wrong[0]!r}; a card has {', '.join(SCALES)}")
    for name in (*REQUIRED, *rates):
        value = rates.get(name, {}).get("value")
        if not isinstance(value, int | float) or value <= 0:
            raise CardError(f"{path}, {id}: {name} is {value!r}, not a number above zero")
        if rates[name].get("source") not in sources:
            raise CardError(f"{path}, {id}: {name} has no source; name one of {', '.join(sources)}")
    in_base_units = {name: rate["value"] * SCALES[name] for name, rate in rates.items()}
    return Card(
        id=id,
        name=fields["name"],
        memory_bytes=round(in_base_units.get("reported", in_base_units["memory"])),
        bandwidth=in_base_units["bandwidth"],
        peak={format: in_base_units[format] for format in FORMATS if format in rates},
        sources={name: sources[rate["source"]] for name, rate in rates.items()},
        called=tuple(fields.get("called", ())),
        band=fields.get("band", 0.0),
        note=fields.get("note", ""),
        box_bytes=round(in_base_units["memory"]) if "reported" in rates else 0,
        tested=fields.get("tested", False),
    )
