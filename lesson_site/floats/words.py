"""What the float explorer says of a pattern of bits.

``docs/assets/elements/floats/formats.js`` says the same; a test compares both.
"""

import math
from decimal import ROUND_HALF_UP, Context

from lesson_code.gpu_training.float_formats import FloatFormat

DIGITS = 6
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(number: float, digits: int = DIGITS) -> str:
    """A number in so many digits: 65504, 0.0999756, 5.96046e-8, −infinity, not a number."""
    if math.isnan(number):
        return "not a number"
    sign = "−" if math.copysign(1, number) < 0 else ""
    if math.isinf(number):
        return f"{sign}infinity"
    if number == 0:
        return f"{sign}0"
    # JavaScript rounds a tie away from zero.
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(abs(number))
    all_digits = "".join(map(str, rounded.as_tuple().digits)).ljust(digits, "0")
    power = rounded.adjusted()
    if -5 < power < 7:
        padded = "0" * max(0, -power) + all_digits + "0" * max(0, power + 1 - digits)
        whole = 1 + max(0, power)
        return sign + f"{padded[:whole]}.{padded[whole:]}".rstrip("0").rstrip(".")
    mantissa = f"{all_digits[0]}.{all_digits[1:]}".rstrip("0").rstrip(".")
    return f"{sign}{mantissa}e{power}"


def power_of_two(power: int) -> str:
    """2 with its exponent: 2⁻²⁴."""
    return "2" + str(power).translate(SUPERSCRIPTS)


def reading(kind: FloatFormat, pattern: int) -> str:
    """How the bits become the number, in a sentence."""
    whole = 2**kind.fraction_bits
    fraction = pattern % whole
    sign = "−" if pattern >> (kind.bits - 1) else ""
    power = max((pattern >> kind.fraction_bits) % 2**kind.exponent_bits, 1) - kind.bias
    match kind.kind(pattern):
        case "zero":
            return "All exponent and fraction bits are 0, and that is zero."
        case "infinity":
            return "All exponent bits are 1 and no fraction bit is, and that is infinity."
        case "not a number":
            return "All exponent bits are 1 and so is a fraction bit, and that is not a number."
        case "subnormal":
            return (
                f"{sign}{fraction}/{whole} × {power_of_two(power)}, a subnormal number: no "
                "exponent bit is 1, so there is no leading 1 before the fraction, and fewer digits "
                "are left."
            )
        case _:
            return (
                f"{sign}(1 + {fraction}/{whole}) × {power_of_two(power)}, a normal number: the "
                f"exponent bits say {power + kind.bias}, and {kind.bias} is taken off."
            )


def beside(kind: FloatFormat, pattern: int) -> str:
    """Its neighbours, and how far apart they are, in a sentence; nothing for what is no number."""
    below, above = kind.neighbours(pattern)
    if math.isnan(below) and math.isnan(above):
        return ""
    if math.isnan(below):
        return f"The next number above is {written(above)}; below there is none."
    if math.isnan(above):
        return f"The next number below is {written(below)}; above there is none."
    gap = _gap(kind, pattern)
    return (
        f"Its neighbours are {written(below)} and {written(above)}. Away from zero, the next "
        f"one is {written(2.0**gap)} ({power_of_two(gap)}) away."
    )


def _gap(kind: FloatFormat, pattern: int) -> int:
    """The exponent of the spacing from a number on."""
    code = (pattern >> kind.fraction_bits) % 2**kind.exponent_bits
    return max(code, 1) - kind.bias - kind.fraction_bits


def becomes(kind: FloatFormat, number: float) -> str:
    """What a format makes of a number that somebody typed, in a sentence."""
    kept = kind.kept(number)
    typed = written(number)
    if kept == number:
        return f"{typed} is a number of {kind.name}."
    if kept == 0:
        return f"{typed} becomes 0: {kind.name} rounds sizes up to {written(kind.lost)} to zero."
    if kind.overflows(number):
        end = "infinity" if kind.has_infinity else written(kind.largest)
        from_on = "from" if kind.has_infinity else "above"
        return f"{typed} becomes {end}, as does everything {from_on} {written(kind.overflow)}."
    off = abs(kept - number) / abs(number) * 100
    return f"{typed} becomes {written(kept)}, which is off by {written(off, 2)} %."
