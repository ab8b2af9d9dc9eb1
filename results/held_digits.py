"""Numbers that differ from processor to processor, and the digits of them that hold.

The same sum, split among other registers or threads, is rounded at other places. So a printed loss
may end in other digits on another computer, or, after a training run, consist of other digits. What
a page shows of such a number is what stayed the same wherever it was computed.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NUMBER = re.compile(
    r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?P<duration>(?=\s?(?:s|ms|µs|seconds)\b))?"
)
# What is not a significant digit: sign, zeros in front, commas, point, and the power of ten.
NOT_SIGNIFICANT = re.compile(r"^[-+0.]+|[,.]|e.*")
AFTER = re.compile(r"(?P<unit>[^\s\d]*)(?P<spaces> *)")
Way = tuple[str | int, ...]  # the keys and places that lead to a number in data
DATA_DIGITS = 6  # of a number that a function returns; no page shows more


@dataclass(frozen=True)
class Range:
    """Where the values of one number lay, over everything that it was computed with."""

    low: float
    high: float

    def with_(self, value: float) -> "Range":
        """The range that has ``value`` in it too."""
        return Range(min(self.low, value), max(self.high, value))

    @property
    def expected(self) -> tuple[float, float]:
        """Where a processor that nobody has tried may put the number.

        That is as far beyond what was seen as what was seen lies apart, without another sign.
        """
        width = self.high - self.low
        low, high = self.low - width, self.high + width
        return (max(low, 0.0) if self.low >= 0 else low, min(high, 0.0) if self.high <= 0 else high)


@dataclass(frozen=True)
class Printed:
    """A number in a text.

    Attributes:
        text: Its characters.
        start: The place of the first one.
    """

    text: str
    start: int

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self.text.replace(",", ""))


def numbers(text: str) -> list[Printed]:
    """The numbers in a text, except durations, which differ whenever they are measured."""
    return [
        Printed(match[0], match.start())
        for match in NUMBER.finditer(text)
        if match["duration"] is None
    ]


def words(text: str) -> list[str]:
    """What a text says around its numbers, without its spacing and the length of its rules."""
    plain = NUMBER.sub(lambda match: "#" if match["duration"] is not None else "0", text)
    return re.sub(r"[-─=]{3,}", "---", plain).split()


def held(printed: str, seen: Range) -> str:
    """A number with the digits that hold where it is expected; or, if fewer than two, where it is.

    A number that was printed with one digit is shown with it, if it holds.

    >>> held("0.2058", Range(0.2057, 0.2058))
    '0.206'
    >>> held("0.2058", Range(0.1768, 0.2058))
    '0.14–0.24'

    Args:
        printed: How it was printed once: with so many decimals at most, and in this form.
        seen: Where it lay.
    """
    kind, form, decimals = _form(printed)
    low, high = seen.expected
    for fewer in range(decimals, -1, -1):
        text = f"{low:{form}.{fewer}{kind}}"
        holds = text == f"{high:{form}.{fewer}{kind}}"
        if holds and (fewer == decimals or len(NOT_SIGNIFICANT.sub("", text)) > 1):
            return text
    # A range, rounded away from each other, with the digits that tell its ends apart
    digit = math.floor(math.log10((high - low) / 2))
    ends = []
    for value, away in ((low, math.floor), (high, math.ceil)):
        last = math.floor(math.log10(abs(value))) if kind == "e" and value else digit
        # nearly on a digit is on it: 0.3 / 0.1 is a little less than 3
        end = away(round(value / 10.0**last, 6)) * 10.0**last
        decimals = 0 if kind == "e" else max(0, -last)
        ends.append(f"{end:{form}.{decimals}{kind}}" if end or kind == "f" else "0")
    return (" to " if low < 0 else "–").join(ends)


def admits(printed: str, seen: Range, value: float) -> bool:
    """Whether a number may be ``value`` somewhere else: it is in the range, or shown the same."""
    low, high = seen.expected
    text = held(printed, seen)
    kind, form, decimals = _form(text)
    return low <= value <= high or f"{value:{form}.{decimals}{kind}}" == text


def _form(printed: str) -> tuple[str, str, int]:
    """Of a printed number its kind, what else a format says, and its decimals."""
    mantissa, e, _ = printed.lower().partition("e")
    form = f"{'+' if printed.startswith('+') else ''}{',' if ',' in printed else ''}"
    return "e" if e else "f", form, len(mantissa.partition(".")[2])


def shown(text: str, moved: Mapping[int, Range]) -> str:
    """A text whose moved numbers have only the digits that hold, in the columns that it had.

    Args:
        text: As it was printed.
        moved: The range of each number that moved, by its place among the numbers.
    """
    out, end = "", 0
    for place, number in enumerate(numbers(text)):
        if place not in moved:
            continue
        out, end = out + text[end : number.start], number.start + len(number.text)
        new = held(number.text, moved[place])
        more = len(new) - len(number.text)
        after = AFTER.match(text, end)
        assert after is not None  # it fits the empty text
        if in_a_column(text, number.start, end):
            if more > 0:  # the spaces before it become fewer, and then those after it
                taken = min(more, max(0, len(out) - len(out.rstrip(" ")) - 2))
                out = out[: len(out) - taken]
                more = min(more - taken, max(0, len(after["spaces"]) - 2))
            new += after["unit"] + " " * (len(after["spaces"]) - more)
            end = after.end()
        out += new
    return "\n".join(line.rstrip() for line in (out + text[end:]).split("\n"))


def in_a_column(text: str, start: int, end: int) -> bool:
    """Whether what begins and ends there has more than one space beside it."""
    before, after = text[:start], text[end:]
    return before.endswith("  ") or re.match(r"\S*  ", after) is not None


def ranges_of(texts: Iterable[str]) -> dict[int, Range]:
    """The range of each number that is not the same in all of some texts, by its place."""
    columns = zip(*([number.value for number in numbers(text)] for text in texts), strict=True)
    ranges = (Range(min(values), max(values)) for values in columns)
    return {place: seen for place, seen in enumerate(ranges) if seen.low != seen.high}


def leaves(data: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """What lies at the ends of nested dictionaries and lists, and the way there."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*way, key))
    else:
        yield way, short(data)


def short(value: Any) -> Any:
    """A number with as many digits as a page could show; anything else as it is."""
    return float(f"{value:.{DATA_DIGITS}g}") if isinstance(value, float) else value


def is_number(value: Any) -> bool:
    """Whether a leaf of data is a finite number, no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
