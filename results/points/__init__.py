"""Published speeds and batches that the forecast is tested on; each row is a figure of others.

``training_seen.csv`` was looked at while the forecast's constants were chosen, and
``training_unseen.csv`` was not: its rows were taken by the rule in ``sources.toml`` before anything
was forecast for them. ``launches.csv`` holds forward passes, most of them bound by launches;
``fits.csv`` says which batches ran on which card, and ``occupied.csv`` what a tool showed of the
memory. ``counts.json`` is written by ``python -m benchmarks.published_steps``.
"""

import csv
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
COUNTS = FOLDER / "counts.json"
SPEEDS = ("training_seen", "training_unseen", "launches")
SETTING = ("network", "card", "batch", "format", "layout")
HEADS = ((*SETTING, "value", "unit", "source", "caveat"), (*SETTING, "outcome", "source", "caveat"))
FORMATS = ("float32", "tf32", "bfloat16", "float16")
LAYOUTS = ("contiguous", "channels_last")
OUTCOMES = {"ran": True, "failed": False}


class PointError(ValueError):
    """A row that can't be used; the message names the file and the line."""


@dataclass(frozen=True)
class Source:
    """Where rows come from.

    Attributes:
        id: What rows call it.
        who: The author.
        title: Of the file or page.
        address: Of the file at a fixed commit.
        published: When it was, as far as it is known.
        read: The day on which we read it.
        software: What computed.
        note: What to know about all its rows; empty if nothing.
    """

    id: str
    who: str
    title: str
    address: str
    published: str
    read: date
    software: str
    note: str = ""


@dataclass(frozen=True)
class Step:
    """What is counted: a network, a batch and a format; TF32 counts as float32 does."""

    network: str
    batch: int
    format: str

    @property
    def name(self) -> str:
        """Its key in ``counts.json``."""
        return f"{self.network}.b{self.batch}.{self.format}"


@dataclass(frozen=True)
class Point:
    """A row.

    Attributes:
        network: Of ``benchmarks/published_steps.py``.
        card: A key of the forecast's cards.
        batch: Samples in a step.
        format: In which products are computed.
        layout: Of the images, where there are any.
        source: Who published it.
        caveat: What to know about this row; empty if nothing.
        seconds: The published time of a step; 0 where the row is not about time.
        per_second: The published samples in a second; 0 where a time was published.
        ran: Whether the batch fitted; None where the row is not about that.
        occupied: Bytes that a tool showed; 0 where the row is not about that.
    """

    network: str
    card: str
    batch: int
    format: str
    layout: str
    source: Source
    caveat: str = ""
    seconds: float = 0.0
    per_second: float = 0.0
    ran: bool | None = None
    occupied: int = 0

    @property
    def step(self) -> Step:
        """What is counted for it."""
        counted = "float32" if self.format == "tf32" else self.format
        return Step(self.network, self.batch, counted)


@lru_cache(maxsize=1)
def sources() -> Mapping[str, Source]:
    """All of them, by their keys.

    Raises:
        PointError: If one lacks something, or has what no source has.
    """
    found = {}
    for key, entry in _sources_file()["source"].items():
        try:
            found[key] = Source(key, **entry)
        except TypeError as problem:
            raise PointError(f"sources.toml, {key}: {problem}") from None
    return found


@lru_cache(maxsize=1)
def rule() -> Sequence[str]:
    """By which the speeds were chosen that had not been seen before."""
    rules: list[str] = _sources_file()["rule"]
    return rules


def _sources_file() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "sources.toml").read_text(encoding="utf-8"))


def read(file: str) -> list[Point]:
    """The rows of a file.

    Args:
        file: Its name without the ending, such as ``launches``.

    Raises:
        PointError: If a row has a word or a number that it may not have.
    """
    path = FOLDER / f"{file}.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if tuple(rows.fieldnames or ()) not in HEADS:
            named = " or ".join(",".join(head) for head in HEADS)
            raise PointError(f"{path.name}, line 1: the columns are {named}")
        return [_point(row, f"{path.name}, line {n}") for n, row in enumerate(rows, 2)]


def _point(row: Mapping[str, str], where: str) -> Point:
    if None in row.values() or None in row:
        raise PointError(f"{where}: it has more or fewer columns than line 1")
    for column, known in (
        ("format", FORMATS),
        ("layout", LAYOUTS),
        ("source", sources()),
        *((("outcome", OUTCOMES),) if "outcome" in row else ()),
    ):
        if row[column] not in known:
            raise PointError(
                f"{where}: {column} is {row[column]!r}; take one of {', '.join(known)}"
            )
    try:
        batch, value = int(row["batch"]), float(row.get("value") or 0)
    except ValueError as error:
        raise PointError(f"{where}: {error}; batch is a whole number, value a number") from error
    if batch < 1 or ("value" in row and value <= 0):
        raise PointError(f"{where}: batch and value are above zero")
    return Point(
        network=row["network"],
        card=row["card"],
        batch=batch,
        format=row["format"],
        layout=row["layout"],
        source=sources()[row["source"]],
        caveat=row["caveat"],
        **_measured(row, batch, value, where),
    )


def _measured(row: Mapping[str, str], batch: int, value: float, where: str) -> dict[str, Any]:
    if "outcome" in row:
        return {"ran": OUTCOMES[row["outcome"]]}
    match row["unit"]:
        case "per_s":
            return {"seconds": batch / value, "per_second": value}
        case "s":
            return {"seconds": value}
        case "mib":
            return {"occupied": round(value * 2**20)}
    raise PointError(f"{where}: unit is {row['unit']!r}; take one of per_s, s, mib")


def steps() -> list[Step]:
    """What has to be counted for all points, each once."""
    files = (*SPEEDS, "fits", "occupied")
    return list(dict.fromkeys(point.step for file in files for point in read(file)))


@lru_cache(maxsize=1)
def counts() -> Mapping[str, Mapping[str, Any]]:
    """What each step is made of, as counted; by the step's name."""
    content: dict[str, dict[str, Any]] = json.loads(COUNTS.read_text(encoding="utf-8"))
    return content
