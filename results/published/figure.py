"""One published figure: its value, what it was measured on, and who said so."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from results.quantities import SIGNIFICANT_DIGITS, SPACE, write

How = Literal["measured", "stated", "calculated", "copied", "our division", "our count"]
# How a figure was obtained, as a sentence says it.
WAYS: dict[str, str] = {
    "measured": "measured by its source",
    "stated": "stated by its source without a table",
    "calculated": "calculated by its source",
    "copied": "read in a copy of its source",
    "our division": "our division of two published figures",
    "our count": "our count over published rows",
}
# What is written behind a number: the unit of results/quantities, and how many of its base units.
SCALES: dict[str, tuple[str, float]] = {
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "µs": ("s", 1e-6),
    "minutes": ("s", 60.0),
    "hours": ("s", 3600.0),
    "days": ("s", 86400.0),
    "bytes": ("bytes", 1.0),
    "MB": ("megabytes", 1e6),
    "MiB": ("megabytes", 2.0**20),
    "GB": ("gigabytes", 1e9),
    "GiB": ("gigabytes", 2.0**30),
    "GB/s": ("bytes_per_s", 1e9),
    "TB/s": ("bytes_per_s", 1e12),
    "GiB/s": ("bytes_per_s", 2.0**30),
    "GFLOP/s": ("flop_per_s", 1e9),
    "TFLOP/s": ("flop_per_s", 1e12),
    "per second": ("samples_per_s", 1.0),
    "times": ("times", 1.0),
    "%": ("percent", 1.0),
    "MWh": ("plain", 1.0),
    "tonnes": ("plain", 1.0),
    "kg": ("plain", 1e-3),
    "": ("plain", 1.0),
}
RATIOS = ("times", "share")  # what needs a base: a number that was divided by another
PRINTED = re.compile(r"(?P<number>\d+(\.\d+)?)( (?P<unit>\S.*))?")


@dataclass(frozen=True)
class Quantity:
    """A number as its source prints it.

    Attributes:
        value: In the base unit: seconds, bytes, FLOP a second.
        unit: One of ``results.quantities.UNITS``.
        text: As printed, with commas and a unit.
        error: Half of its last printed digit, in the base unit.
    """

    value: float
    unit: str
    text: str
    error: float = 0.0


def as_printed(text: str) -> Quantity:
    """Read ``1218.01 per second`` or ``14949 MiB``.

    Raises:
        ValueError: If it is not a number with one of the units of ``SCALES``.
    """
    match = PRINTED.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit, such as '14949 MiB'")
    unit = match["unit"] or ""
    if unit not in SCALES:
        raise ValueError(
            f"the unit {unit!r} is unknown; known are {', '.join(filter(None, SCALES))}"
        )
    name, factor = SCALES[unit]
    number = Decimal(match["number"])
    shown = f"{number:,}{SPACE if unit else ''}{unit.replace(' ', SPACE)}"
    last = len(match["number"].partition(".")[2])
    return Quantity(float(number) * factor, name, shown, 0.5 * 10**-last * factor)


def divided(of: Quantity, by: Quantity, way: str) -> Quantity:
    """One printed number over another of its unit, as fine as the rounding of both allows.

    Args:
        of: What is divided.
        by: What it is divided by.
        way: ``times`` for the ratio, ``share`` for the ratio in percent, ``more`` and ``less`` for
            what it has more or less, in percent.

    Raises:
        ValueError: If their units differ, the divisor is zero or there is no such way.
    """
    if of.unit != by.unit:
        raise ValueError(f"{of.text} and {by.text} have different units")
    if by.value == 0 or of.value == 0:
        raise ValueError("one of the two figures is zero")
    ratio = of.value / by.value
    values = {"times": ratio, "share": ratio, "more": ratio - 1, "less": 1 - ratio}
    if way not in values:
        raise ValueError(f"the way {way!r} is none of {', '.join(values)}")
    value = values[way]
    error = ratio * (of.error / of.value + by.error / by.value)
    if way == "times":
        return Quantity(value, "times", f"{_as_fine_as(value, error)}{SPACE}times", error)
    return Quantity(value, "share", f"{_as_fine_as(100 * value, 100 * error, 2)}{SPACE}%", error)


def step_time(speed: Quantity, examples: int) -> Quantity:
    """How long a step of ``examples`` takes at a speed in examples a second.

    Raises:
        ValueError: If ``speed`` is not one.
    """
    if speed.unit != "samples_per_s" or speed.value == 0:
        raise ValueError(f"{speed.text} is not a number of examples a second")
    value = examples / speed.value
    return Quantity(value, "s", write(value, "s"), value * speed.error / speed.value)


def _as_fine_as(value: float, error: float, digits: int = SIGNIFICANT_DIGITS) -> str:
    """``value`` with ``digits`` digits, or fewer: none is finer than two fifths of the error."""
    if value == 0:
        return "0"
    finest = math.floor(math.log10(abs(value))) - digits + 1
    last = max(finest, math.ceil(math.log10(0.4 * error))) if error else finest
    return f"{round(value, -last):,.{max(0, -last)}f}"


@dataclass(frozen=True)
class Source:
    """Where figures were published.

    Attributes:
        id: Its name in ``sources.toml``.
        who: Who says so.
        title: What it is called there.
        address: Of the page; in a repository with the full commit.
        published: When, as far as it says: a year, a month, a day; empty if it does not say.
        read: When we read it, as a day.
        licence: Of the repository or page, if it states one.
        single_user: Whether it is one person's post in a thread.
    """

    id: str
    who: str
    title: str
    address: str
    published: str
    read: str
    licence: str = ""
    single_user: bool = False

    @property
    def year(self) -> str:
        """The year of publication, or that there is none."""
        return self.published[:4] or "undated"

    @property
    def named(self) -> str:
        """Who and what, in one line, and that it is one person's post where it is."""
        alone = ", one person’s post" if self.single_user else ""
        return f"{self.who}, {self.title} ({self.year}{alone})"


@dataclass(frozen=True)
class Published:
    """A figure that somebody else published.

    Attributes:
        id: What pages write: ``[[published.ID]]``.
        quantity: What it says, in words.
        number: Its value and text.
        card: What it ran on.
        software: With what.
        model: Which network.
        batch: Examples a step and card.
        format: The number format.
        layout: Of images in memory, as far as it is known.
        setting: Anything else that one must know to repeat it.
        base: What a ratio is divided by.
        how: How it was obtained.
        sources: Where it is; two where we divided figures of two files.
        caveat: What it does not say.
        label: What its column of a table is called, where no field of its setting says it.
    """

    id: str
    quantity: str
    number: Quantity
    sources: tuple[Source, ...]
    how: How
    card: str = ""
    software: str = ""
    model: str = ""
    batch: str = ""
    format: str = ""
    layout: str = ""
    setting: str = ""
    base: str = ""
    caveat: str = ""
    label: str = ""

    @property
    def value(self) -> float:
        """In the base unit."""
        return self.number.value

    @property
    def unit(self) -> str:
        """One of ``results.quantities.UNITS``."""
        return self.number.unit

    @property
    def text(self) -> str:
        """What a page shows: the number as its source prints it, with its unit."""
        return self.number.text

    @property
    def compared(self) -> str:
        """What it is, and of a ratio against what: ``time of the GPU, against its CPU``."""
        return f"{self.quantity}, against {self.base}" if self.base else self.quantity

    @property
    def single_user(self) -> bool:
        """Whether it rests on one person's post in a thread."""
        return any(source.single_user for source in self.sources)

    @property
    def what(self) -> str:
        """What it is and what it was measured on, in words."""
        batch = f"batch {self.batch}" if self.batch else ""
        parts = (self.model, batch, self.format, self.layout, self.setting, self.card)
        said = ", ".join(part for part in parts if part)
        return f"{self.compared}: {said}" if said else self.compared

    @property
    def provenance(self) -> str:
        """How it was obtained, by whom, where, and when read: a sentence without its full stop."""
        software = f" with {self.software}" if self.software else ""
        places = "; ".join(
            f"{source.named}, {source.address}, read on {source.read}" for source in self.sources
        )
        caveat = f". {self.caveat.removesuffix('.')}" if self.caveat else ""
        return f"{WAYS[self.how]}{software}: {places}{caveat}"
