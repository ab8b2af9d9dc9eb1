"""Gradients counted by size, so finely that what a format loses of them is counted, not estimated.

A bin holds the sizes above one power of two, up to and with the next. Rounding to zero ends at a
power of two in every format, and a loss scale that is a power of two moves each bin onto another,
so a bin is lost as a whole or not at all. What is too large begins inside a bin; therefore each
bin that a loss scale can take there is split where FP8 E4M3, FP8 E5M2 and float16 begin to
overflow. Where a limit falls inside a part, counting refuses to answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lesson_code.gpu_training.float_formats import FloatFormat

# Parts of a bin, as shares of its lower end: up to and with the first, below the second, below the
# third, and the rest. The limits are 464 = 1.8125 * 2**8, 61440 = 1.875 * 2**15 and
# 65520 = (2 - 2**-11) * 2**15; only E4M3 keeps its own limit.
SPLITS = (1.8125, 1.875, 2 - 2.0**-11)
PARTS = len(SPLITS) + 1
LARGEST_SCALE = 32  # the exponent of two of the largest loss scale that is asked for
FIRST_SPLIT = 8 - LARGEST_SCALE  # below it no loss scale takes a bin to a limit, 464 the lowest
Counts = tuple[int, ...]


@dataclass(frozen=True)
class Histogram:
    """How many gradients are of which size.

    Attributes:
        zeros: Those that are zero.
        bins: By the exponent of its lower end, the counts of each bin's parts; one count below
            ``FIRST_SPLIT``.
    """

    zeros: int
    bins: Mapping[int, Counts]

    @property
    def others(self) -> int:
        """How many are not zero."""
        return sum(map(sum, self.bins.values()))

    def lost(self, kind: FloatFormat, scale_power: int = 0) -> int:
        """How many a format rounds to zero, scaled by a power of two; zeros do not count."""
        return sum(
            sum(counts)
            for exponent, counts in self.bins.items()
            if 2.0 ** (exponent + 1 + scale_power) <= kind.lost
        )

    def too_large(self, kind: FloatFormat, scale_power: int = 0) -> int:
        """How many are too large for a format, scaled by a power of two.

        Raises:
            ValueError: If the format's limit falls inside a part of a bin that is not empty.
        """
        return sum(
            _too_large(exponent + scale_power, counts, kind)
            for exponent, counts in self.bins.items()
        )


def _too_large(exponent: int, counts: Counts, kind: FloatFormat) -> int:
    low, high = 2.0**exponent, 2.0 ** (exponent + 1)
    if kind.overflows(low):
        return sum(counts)
    if not kind.overflows(high):
        return 0
    share = kind.overflow / low
    if share not in SPLITS or len(counts) < PARTS:
        raise ValueError(f"the bin is not split where {kind.name} ends, {share} of its lower end")
    return sum(counts[SPLITS.index(share) + 1 :])


def added(histograms: Iterable[Histogram]) -> Histogram:
    """All of them as one."""
    zeros, bins = 0, dict[int, Counts]()
    for histogram in histograms:
        zeros += histogram.zeros
        for exponent, counts in histogram.bins.items():
            before = bins.get(exponent, (0,) * len(counts))
            bins[exponent] = tuple(a + b for a, b in zip(before, counts, strict=True))
    return Histogram(zeros, dict(sorted(bins.items())))


def as_row(histogram: Histogram) -> list[Any]:
    """A histogram's bins for JSON: the first exponent, then what is in each bin from there on."""
    first, last = min(histogram.bins), max(histogram.bins)
    counts = [histogram.bins.get(exponent, (0,)) for exponent in range(first, last + 1)]
    return [first, [list(parts) if len(parts) > 1 else parts[0] for parts in counts]]


def from_row(zeros: int, row: Sequence[Any]) -> Histogram:
    """The histogram that a row of JSON describes."""
    first, bins = row
    counts = [tuple(parts) if isinstance(parts, list) else (int(parts),) for parts in bins]
    return Histogram(
        zeros, {first + place: parts for place, parts in enumerate(counts) if any(parts)}
    )
