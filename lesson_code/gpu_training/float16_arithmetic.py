"""Rounding to float16 and adapting a loss scale, in plain Python: what PyTorch does, to try.

The numbers of a format have a fixed count of binary digits, so their spacing doubles with each
power of two. Below the smallest normal number it stays as it is, down to zero.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A floating-point format.

    Attributes:
        fraction_bits: Binary digits behind the leading one.
        smallest_exponent: Of two, for the smallest number with all its digits.
    """

    fraction_bits: int
    smallest_exponent: int

    @property
    def limit(self) -> float:
        """The power of two that is just too large."""
        return 2.0 ** (2 - self.smallest_exponent)


FLOAT16 = Format(fraction_bits=10, smallest_exponent=-14)
BFLOAT16 = Format(fraction_bits=7, smallest_exponent=-126)
FLOAT32 = Format(fraction_bits=23, smallest_exponent=-126)


# --8<-- [start:rounded]
def spacing(number: float, kind: Format) -> float:
    """How far apart the numbers of a format lie, from ``number`` on."""
    power = math.frexp(number)[1] - 1 if number else kind.smallest_exponent
    return 2.0 ** (max(power, kind.smallest_exponent) - kind.fraction_bits)


def rounded(number: float, kind: Format) -> float:
    """The nearest number of a format; halfway, the one whose last digit is 0."""
    if not math.isfinite(number):
        return number
    step = spacing(number, kind)
    nearest = round(abs(number) / step) * step
    return math.copysign(nearest if nearest < kind.limit else math.inf, number)


# --8<-- [end:rounded]


def try_rounded() -> None:
    """What float16 makes of five numbers."""
    # --8<-- [start:try_rounded]
    for number in (2049, 1e-6, 2.98e-8, 65519, 65520):
        marks = spacing(number, FLOAT16)
        print(f"{number:>9} becomes {rounded(number, FLOAT16):>10.5g}, marks {marks:.2g} apart")
    # --8<-- [end:try_rounded]


# --8<-- [start:updated]
def updated(weight: float, update: float, times: int, kind: Format) -> float:
    """Where a weight stands after so many updates, rounded after each."""
    weight = rounded(weight, kind)
    for _ in range(times):
        weight = rounded(weight + update, kind)
    return weight


# --8<-- [end:updated]


def try_updated() -> None:
    """Ten thousand small updates of one weight."""
    # --8<-- [start:try_updated]
    for update in (1e-5, 3e-5, 3.1e-5):
        end = updated(0.1, update, 10_000, FLOAT16)
        print(f"{update:.1e} arrives at {end:.5f}, not at {0.1 + 10_000 * update:.5f}")
    # --8<-- [end:try_updated]


# --8<-- [start:loss_scale]
@dataclass
class LossScale:
    """The factor of a ``GradScaler``, and the rules by which it changes."""

    factor: float = 2.0**16
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000
    clean_steps: int = 0

    def update(self, overflowed: bool) -> None:
        """Adapt the factor after a step."""
        self.clean_steps = 0 if overflowed else self.clean_steps + 1
        if overflowed:
            self.factor = rounded(self.factor * self.backoff_factor, FLOAT32)
        elif self.clean_steps == self.growth_interval:
            grown = rounded(self.factor * self.growth_factor, FLOAT32)
            self.factor = grown if math.isfinite(grown) else self.factor
            self.clean_steps = 0


# --8<-- [end:loss_scale]


def try_loss_scale() -> None:
    """Eight steps of a loss scale."""
    # --8<-- [start:try_loss_scale]
    scale = LossScale(factor=2.0**24, growth_interval=3)
    for step in range(1, 9):
        factor, gradient = scale.factor, rounded(0.02 * scale.factor, FLOAT16)
        scale.update(overflowed=math.isinf(gradient))
        print(f"{step}  {factor:>10,.0f} x 0.02 = {gradient:>6,.0f}", end=", ")
        print(f"next factor {scale.factor:>10,.0f}")
    # --8<-- [end:try_loss_scale]
