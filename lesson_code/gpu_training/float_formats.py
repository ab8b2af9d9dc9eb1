"""Six floating-point formats, read from their bits, in plain Python.

A format has a sign bit, exponent bits and fraction bits, in this order. The exponent is stored with
an offset, its bias. Its smallest code is that of zero and of the subnormal numbers, whose leading
digit is 0; its largest code is that of infinity and of what is not a number, but for E4M3, which
gives up infinity and keeps one pattern of each sign for not a number.

Source of the layouts: IEEE 754 (float16, float32), and the OCP 8-bit Floating Point Specification
(E4M3, E5M2). TF32 is a way to multiply, of float32's range with float16's digits; in memory it is
float32.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from lesson_code.gpu_training.float16_arithmetic import Format, rounded, spacing

Kind = Literal["zero", "subnormal", "normal", "infinity", "not a number"]


@dataclass(frozen=True)
class FloatFormat(Format):
    """A format and the meaning of its bits.

    Attributes:
        name: As PyTorch or its maker calls it.
        exponent_bits: How many bits the exponent has.
        has_infinity: Whether the largest exponent is kept for infinity; E4M3 counts with it.
    """

    name: str
    exponent_bits: int
    has_infinity: bool = True

    @property
    def bits(self) -> int:
        """Sign, exponent and fraction together."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:
        """What the stored exponent is too large by."""
        return 1 - self.smallest_exponent

    @cached_property
    def limit(self) -> float:
        """The number that would follow the largest one."""
        return self.largest + spacing(self.largest, self)

    @cached_property
    def largest(self) -> float:
        """The largest number."""
        full = 2 ** (self.exponent_bits + self.fraction_bits)
        return self.value(full - 2**self.fraction_bits - 1 if self.has_infinity else full - 2)

    @property
    def smallest_normal(self) -> float:
        """The smallest number with all its digits."""
        return 2.0**self.smallest_exponent

    @property
    def smallest(self) -> float:
        """The smallest number above zero."""
        return 2.0 ** (self.smallest_exponent - self.fraction_bits)

    @property
    def lost(self) -> float:
        """The largest size that is rounded to zero: half the smallest number, a tie."""
        return self.smallest / 2

    @cached_property
    def overflow(self) -> float:
        """The size halfway between the largest number and the one that would follow.

        A tie goes to the even fraction. Where there is infinity that is the one that would follow,
        so this size overflows; in E4M3 it is the largest number, so only what lies above does.
        """
        return (self.largest + self.limit) / 2

    def overflows(self, number: float) -> bool:
        """Whether a number is too large for the format."""
        size = abs(number)
        return size >= self.overflow if self.has_infinity else size > self.overflow

    def value(self, pattern: int) -> float:
        """The number that a pattern of bits means.

        Args:
            pattern: The bits as a whole number, the sign bit the highest.

        Raises:
            ValueError: If the pattern has more bits than the format.
        """
        kind, power, fraction = self.kind(pattern), self._power(pattern), self._fraction(pattern)
        sign = -1.0 if pattern >> (self.bits - 1) else 1.0
        if kind == "not a number":
            return math.nan
        if kind == "infinity":
            return sign * math.inf
        leading = 0 if kind in ("zero", "subnormal") else 2**self.fraction_bits
        return sign * (leading + fraction) * 2.0 ** (power - self.fraction_bits)

    def kind(self, pattern: int) -> Kind:
        """What a pattern of bits is.

        Raises:
            ValueError: If the pattern has more bits than the format.
        """
        if not 0 <= pattern < 2**self.bits:
            raise ValueError(
                f"{self.name} has {self.bits} bits; {pattern} is not one of its patterns"
            )
        code, fraction = self._code(pattern), self._fraction(pattern)
        if code == 0:
            return "subnormal" if fraction else "zero"
        if code == 2**self.exponent_bits - 1:
            if self.has_infinity:
                return "not a number" if fraction else "infinity"
            if fraction == 2**self.fraction_bits - 1:
                return "not a number"
        return "normal"

    def pattern(self, number: float) -> int:
        """The bits of the number of this format that lies nearest; a tie goes to the even one.

        What is too large becomes infinity, or in E4M3 the largest number, as in PyTorch since its
        change 178817 of April 2026; before, it was not a number.
        """
        sign = 2 ** (self.bits - 1) if math.copysign(1.0, number) < 0 else 0
        top = (2**self.exponent_bits - 1) * 2**self.fraction_bits
        if math.isnan(number):
            return sign + top + 2**self.fraction_bits - 1
        if self.overflows(number):
            return sign + (top if self.has_infinity else top + 2**self.fraction_bits - 2)
        size = abs(rounded(number, self))
        if size < self.smallest_normal:
            return sign + round(size / self.smallest)
        power = math.frexp(size)[1] - 1
        # The leading one adds one to the exponent's code.
        return (
            sign
            + (power + self.bias - 1) * 2**self.fraction_bits
            + round(size / spacing(size, self))
        )

    def kept(self, number: float) -> float:
        """What the format makes of a number: the nearest one, or what stands for too large."""
        return self.value(self.pattern(number))

    def neighbours(self, pattern: int) -> tuple[float, float]:
        """The next number below and above; not a number where there is none."""
        return self._step(pattern, -1), self._step(pattern, 1)

    def _step(self, pattern: int, by: int) -> float:
        number = self.value(pattern)
        if math.isnan(number) or number == by * math.inf:
            return math.nan
        if number == 0:
            return by * self.smallest
        top = 2 ** (self.bits - 1)
        away = (number > 0) == (by > 0)
        return self.value(pattern % top + (1 if away else -1) + pattern // top * top)

    def _code(self, pattern: int) -> int:
        return (pattern >> self.fraction_bits) % 2**self.exponent_bits

    def _fraction(self, pattern: int) -> int:
        return pattern % 2**self.fraction_bits

    def _power(self, pattern: int) -> int:
        return max(self._code(pattern), 1) - self.bias


FLOAT32 = FloatFormat(23, -126, "float32", 8)
TF32 = FloatFormat(10, -126, "TF32", 8)
BFLOAT16 = FloatFormat(7, -126, "bfloat16", 8)
FLOAT16 = FloatFormat(10, -14, "float16", 5)
E5M2 = FloatFormat(2, -14, "FP8 E5M2", 5)
E4M3 = FloatFormat(3, -6, "FP8 E4M3", 4, has_infinity=False)
FORMATS = (FLOAT32, TF32, BFLOAT16, FLOAT16, E5M2, E4M3)
