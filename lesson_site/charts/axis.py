"""Axes of charts: where values lie, and which of them are written."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from results.quantities import SPACE, rounded, write

PREFIXES = ((1e6, "M"), (1e3, "k"))
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LONG = 6  # from which power of ten on seconds are written as a power


@dataclass(frozen=True)
class Axis:
    """Values and where they lie.

    Attributes:
        low: The value at its beginning.
        high: The value at its end.
        ticks: The values that are written, each with its text.
        log: Whether equal distances are equal quotients.
    """

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        low, high = (self.low, self.high)
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return (value - low) / (high - low)


def axis_of(values: Sequence[float], unit: str, log: bool) -> Axis:
    """An axis around the values: whole decades, or from zero in round steps."""
    return log_axis(values, unit) if log else linear_axis(values, unit)


def log_axis(values: Sequence[float], unit: str) -> Axis:
    """Whole decades around the values."""
    # A third of a decade at least, since a mark at the very edge looks like none
    low = math.floor(math.log10(min(values)) - 0.33) if values else 0
    high = max(low + 1, math.ceil(math.log10(max(values)))) if values else 1
    powers = range(low, high + 1, 1 if high - low <= 5 else 2)
    ticks = [(_power(power), _written_power(power, unit)) for power in powers]
    return Axis(_power(low), _power(high), ticks, True)


def _written_power(power: int, unit: str) -> str:
    """A power of ten; many seconds need less room as a power, and no larger unit is in use."""
    if unit == "s" and power >= LONG:
        return f"10{str(power).translate(RAISED)}{SPACE}s"
    return written(_power(power), unit, _power(power))


def linear_axis(values: Sequence[float], unit: str) -> Axis:
    """From zero to above the largest value, in round steps."""
    largest = max(values, default=1.0) or 1.0
    decade = _power(math.floor(math.log10(largest)))
    step = next(s * decade for s in (0.2, 0.5, 1, 2) if largest / (s * decade) <= 5)
    count = math.ceil(largest / step - 1e-9)
    ticks = [(index * step, written(index * step, unit, step)) for index in range(count + 1)]
    return Axis(0.0, count * step, ticks)


def written(tick: float, unit: str, step: float) -> str:
    """A tick's text, without the unit's name where that is long.

    Args:
        tick: The value.
        unit: One of ``results.quantities.UNITS``, or ``short_count`` for thousands and millions
            with their letters.
        step: From this tick to the next one.
    """
    if tick == 0:
        return "0"
    if unit == "short_count":
        factor, prefix = next(((f, p) for f, p in PREFIXES if tick >= f), (1.0, ""))
        return f"{rounded(tick / factor, step / factor)}{SPACE}{prefix}".rstrip(SPACE)
    return write(tick, unit, step).replace("FLOP/s", "")


def _power(exponent: int) -> float:
    """A power of ten as a browser has it too: the number that is read from its text."""
    return float(f"1e{exponent}")
