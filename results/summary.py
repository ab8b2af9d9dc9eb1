"""What repeated samples say together, and what two of them give: quotient, share, difference.

Standard library only: the job, the site and the comparison of two runs share it.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# --8<-- [start:summary]
NOISY_SHARE = 0.15

Entry = dict[str, Any]


@dataclass(frozen=True)
class Summary:
    """What repeated samples say together, in the unit of the samples.

    Attributes:
        median: The middle sample.
        smallest: The smallest sample.
        largest: The largest sample.
        spread: The distance between the first and the third quartile.
        noisy: Whether the spread is more than 15 % of the median.
    """

    median: float
    smallest: float
    largest: float
    spread: float
    noisy: bool


def summarise(samples: Sequence[float]) -> Summary:
    """Reduce samples once, for everything that reads results.

    Raises:
        ValueError: If there is no sample.
    """
    if not samples:
        raise ValueError("there is no sample to summarise")
    median = statistics.median(samples)
    spread = 0.0
    if len(samples) > 1:
        first, _, third = statistics.quantiles(samples, n=4, method="inclusive")
        spread = third - first
    return Summary(
        median, min(samples), max(samples), spread, noisy=spread > NOISY_SHARE * abs(median)
    )


@dataclass(frozen=True)
class Estimate:
    """A value and how far it can be trusted.

    Attributes:
        value: In its base unit.
        spread: Distance between the quartiles of the samples, in the same unit.
        noisy: Whether a measurement behind it spread over more than 15 % of its median.
        samples: How many samples it rests on; 0 if it is computed from several measurements.
        smallest: The smallest of them.
        largest: The largest of them.
    """

    value: float
    spread: float = 0.0
    noisy: bool = False
    samples: int = 0
    smallest: float = 0.0
    largest: float = 0.0


def estimate(entry: Entry, statistic: str = "median") -> Estimate:
    """An entry of a result file, reduced to one of its statistics."""
    return Estimate(
        entry[statistic],
        entry["spread"],
        entry["noisy"],
        len(entry["samples"]),
        entry["smallest"],
        entry["largest"],
    )


def rate(entry: Entry) -> Estimate:
    """What a timed entry works through in a second: its ``amount`` divided by its time.

    Raises:
        KeyError: If the entry does not say how much it works through.
    """
    amount = Estimate(float(entry["amount"]))
    return ratio(amount, estimate(entry))


def ratio(numerator: Estimate, denominator: Estimate) -> Estimate:
    """One estimate divided by another; their relative spreads add up as errors do.

    Raises:
        ZeroDivisionError: If the denominator is zero.
    """
    value = numerator.value / denominator.value
    spread = math.hypot(numerator.spread, value * denominator.spread) / abs(denominator.value)
    return Estimate(value, spread, numerator.noisy or denominator.noisy)


# --8<-- [end:summary]


def share(part: Estimate, whole: Estimate) -> Estimate:
    """The part of the whole in percent."""
    quotient = ratio(part, whole)
    return Estimate(100 * quotient.value, 100 * quotient.spread, quotient.noisy)


def saving(after: Estimate, before: Estimate) -> Estimate:
    """What is saved in going from ``before`` to ``after``, in percent of ``before``."""
    part = share(after, before)
    return Estimate(100 - part.value, part.spread, part.noisy)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The first minus the second, in their unit."""
    return Estimate(
        first.value - second.value,
        math.hypot(first.spread, second.spread),
        first.noisy or second.noisy,
    )
