"""Turning numbers into text: the one place that rounds and knows units."""

import math

SPACE = "\N{NO-BREAK SPACE}"
UNITS = (
    *("s", "percent", "points", "share", "times", "bytes", "megabytes", "gigabytes", "count"),
    *("samples", "hundredths_of_gigabytes"),
    *("epochs", "plain", "flop_per_s", "bytes_per_s", "samples_per_s"),
)
RATES = {"flop_per_s": "FLOP/s", "bytes_per_s": "B/s"}
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
SMALLEST_WRITTEN_OUT = 1e-3
LARGEST_WRITTEN_OUT = 1e15
FACTORS = {"ms": 1e-3, "µs": 1e-6, "MB": 1e6, "GB": 1e9} | {
    f"{prefix}{unit}": factor for factor, prefix in PREFIXES for unit in RATES.values()
}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN_DIGITS = {new: old for old, new in SUPERSCRIPTS.items()}


def in_words(count: int) -> str:
    """A count in a sentence: ``three``, and figures from ten on."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words[count] if count < len(words) else str(count)


def write(value: float, unit: str, spread: float = 0.0) -> str:
    """``value`` with its unit, with as many digits as ``spread`` supports and at most three.

    Counts and bytes are exact and written in full.

    Args:
        value: In the base unit: seconds, percent, bytes, or a bare number.
        unit: One of ``UNITS``; ``share`` is a part of one, written in percent.
        spread: How far repeated measurements lay apart, in the same unit; zero if it is exact.

    Raises:
        ValueError: If the unit is unknown or the value no finite number.
    """
    if unit not in UNITS:
        raise ValueError(f"unit {unit!r} is none of {', '.join(UNITS)}")
    if not math.isfinite(value):
        raise ValueError(f"{value} is no finite number")
    if unit == "s":
        return _seconds(value, spread)
    if unit == "bytes":
        return f"{value:,.0f}{SPACE}bytes"
    if unit == "megabytes":
        return f"{rounded(value / 1e6, spread / 1e6)}{SPACE}MB"
    if unit == "gigabytes":
        return f"{rounded(value / 1e9, spread / 1e9)}{SPACE}GB"
    if unit == "hundredths_of_gigabytes":  # where 12.46 and 12.50 are two different things
        return f"{value / 1e9:,.2f}{SPACE}GB"
    if unit == "share":
        return f"{_percent(100 * value, 100 * spread)}{SPACE}%"
    if unit == "percent":
        return f"{_percent(value, spread)}{SPACE}%"
    if unit in RATES:
        factor, prefix = next(((f, p) for f, p in PREFIXES if abs(value) >= f), (1.0, ""))
        return f"{rounded(value / factor, spread / factor)}{SPACE}{prefix}{RATES[unit]}"
    if unit == "samples":
        return f"{rounded(value, spread)}{SPACE}samples"
    if unit == "samples_per_s":
        return f"{rounded(value, spread)}{SPACE}per second"
    if unit == "points":
        return f"{_points(value, spread)}{SPACE}points".replace("-", "\N{MINUS SIGN}")
    if unit == "times":
        return f"{rounded(value, spread)}{SPACE}times"
    if 0 < abs(value) < SMALLEST_WRITTEN_OUT or abs(value) >= LARGEST_WRITTEN_OUT:
        digits = 1 if abs(value) < 1 else 2
        mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
        return f"{mantissa}{SPACE}×{SPACE}10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return f"{value:,.0f}" if value == round(value) else rounded(value, spread)


def read(text: str) -> float:
    """The number that a text of ``write`` gives, in the base unit; percent and shares in percent.

    Raises:
        ValueError: If it begins with no number.
    """
    number, *rest = text.replace(",", "").replace("\N{MINUS SIGN}", "-").split(SPACE)
    if rest[:1] == ["×"]:
        return float(f"{number}e{rest[1].removeprefix('10').translate(PLAIN_DIGITS)}")
    return float(number) * FACTORS.get(" ".join(rest), 1.0)


def write_range(
    smallest: float, largest: float, unit: str, value: float, spread: float
) -> tuple[str, str]:
    """Both ends of what ``value`` stands for; written, they hold the written value between them.

    82 % of "74.3 % to 81.9 %" would lie outside: that end is then written as the value is.

    Args:
        smallest: The lower end, in the base unit.
        largest: The upper end.
        unit: One of ``UNITS``.
        value: What lies between them, such as the median.
        spread: Its spread, as ``write`` gets it.
    """
    middle = write(value, unit, spread)
    low, high = write(smallest, unit), write(largest, unit)
    return (
        min(low, middle, key=read),
        max(high, middle, key=read),
    )


def write_band(low: float, high: float, unit: str) -> str:
    """Both ends of a forecast with one digit, or with two where it is a 1; their unit once.

    What is written is never narrower than the band: its low end is rounded down, its high end up.

    Args:
        low: The lower end, in the base unit.
        high: The upper end.
        unit: One of ``UNITS``.
    """
    ends = outward(low, up=False), outward(high, up=True)
    texts = [write(end, unit, coarse(end)) for end in ends]
    (first, *of_low), (_, *of_high) = (text.split(SPACE) for text in texts)
    return f"{first if of_low == of_high else texts[0]} to {texts[1]}"


def coarse(value: float) -> float:
    """A spread that leaves one digit, or two where the first is a 1 and stays one."""
    begins = {f"{value:.{digits}e}"[0] for digits in (1, 6)}
    return value / 10 if begins == {"1"} else value


def outward(value: float, up: bool) -> float:
    """A positive number with one digit, or two where the first is a 1, rounded up or down.

    Of what is above or below, six digits after the first decide.
    """
    mantissa, _, exponent = f"{value:.6e}".partition("e")
    cut = 10**5 if mantissa.startswith("1") else 10**6
    count, rest = divmod(int(mantissa.replace(".", "")), cut)
    return float(f"{(count + (up and rest > 0)) * cut}e{int(exponent) - 6}")


# --8<-- [start:rounded]
SIGNIFICANT_DIGITS = 3


def rounded(value: float, spread: float = 0.0) -> str:
    """``value`` without digits that ``spread`` makes meaningless; one digit stays in any case."""
    if value == 0:
        return "0"
    first = math.floor(math.log10(abs(value)))
    last = first - SIGNIFICANT_DIGITS + 1
    if spread > 0:
        last = min(first, max(last, math.floor(math.log10(spread))))
    return f"{round(value, -last):,.{max(0, -last)}f}"


# --8<-- [end:rounded]


def _seconds(value: float, spread: float) -> str:
    """In the smallest unit in which it is written below a thousand."""
    for factor, name in ((1e6, "µs"), (1e3, "ms")):
        text = rounded(value * factor, spread * factor)
        if abs(read(text)) < 1000:
            return f"{text}{SPACE}{name}"
    return f"{rounded(value, spread)}{SPACE}s"


def _percent(value: float, spread: float) -> str:
    """One decimal is enough for a percentage, more only below one."""
    if value == round(value):
        return f"{value:.0f}"
    text = rounded(value, spread)
    return text if spread or abs(value) < 1 else f"{value:.1f}"


def _points(value: float, spread: float) -> str:
    """Of ten thousand answers one is a hundredth of a point, and no set here has more."""
    text = _percent(value, spread)
    return f"{value:.2f}" if not spread and 0.01 <= abs(value) < 1 else text
