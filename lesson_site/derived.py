"""What is computed from measurements: quotients, and the boundary of the sweep.

Each computation stands here once; figures, charts and claims share it.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lesson_site.quantities import write

CELL = re.compile(r"width_(?P<width>\d+)\.batch_(?P<batch>\d+)\.(?P<device>cpu|cuda)")


@dataclass(frozen=True)
class Estimate:
    """A value and how far it can be trusted.

    Attributes:
        value: In its base unit.
        spread: Distance between the quartiles of the samples, in the same unit.
        noisy: Whether a measurement behind it spread over more than 15 % of its median.
        detail: How it was measured, in a few words.
    """

    value: float
    spread: float = 0.0
    noisy: bool = False
    detail: str = ""


def ratio(numerator: Estimate, denominator: Estimate) -> Estimate:
    """One estimate divided by another; their relative spreads add up as errors do."""
    value = numerator.value / denominator.value
    relative = math.hypot(
        numerator.spread / numerator.value, denominator.spread / denominator.value
    )
    noisy = numerator.noisy or denominator.noisy
    return Estimate(value, abs(value) * relative, noisy, "from two medians of one run")


def share(part: Estimate, whole: Estimate) -> Estimate:
    """The part of the whole in percent."""
    quotient = ratio(part, whole)
    return Estimate(100 * quotient.value, 100 * quotient.spread, quotient.noisy, quotient.detail)


@dataclass(frozen=True)
class Cell:
    """One cell of the sweep over model width and batch size.

    Attributes:
        width: Units of the hidden layers.
        batch_size: Samples in a batch.
        cpu: Seconds per training step on the CPU.
        cuda: The same on the GPU; None if that was not measured.
    """

    width: int
    batch_size: int
    cpu: Estimate
    cuda: Estimate | None

    @property
    def speedup(self) -> float | None:
        """CPU time divided by GPU time: above one the GPU wins."""
        return None if self.cuda is None else ratio(self.cpu, self.cuda).value


def sweep_cells(entries: dict[str, dict[str, Any]]) -> list[Cell]:
    """The cells of a ``step_sweep`` case, by width and then by batch size."""
    by_cell: dict[tuple[int, int], dict[str, Estimate]] = {}
    for name, entry in entries.items():
        found = CELL.fullmatch(name)
        if found:
            key = int(found["width"]), int(found["batch"])
            by_cell.setdefault(key, {})[found["device"]] = estimate(entry)
    return [
        Cell(width, batch, devices["cpu"], devices.get("cuda"))
        for (width, batch), devices in sorted(by_cell.items())
        if "cpu" in devices
    ]


def estimate(entry: dict[str, Any], statistic: str = "median") -> Estimate:
    """An entry of a result file, reduced to one of its statistics."""
    low, high = (write(entry[end], entry["unit"]) for end in ("smallest", "largest"))
    detail = f"{statistic} of {len(entry['samples'])} runs, {low} to {high}"
    return Estimate(entry[statistic], entry["spread"], entry["noisy"], detail)


def smallest_winning_width(cells: Sequence[Cell], batch_size: int) -> int | None:
    """The smallest width from which on the GPU wins at this batch size; None if it never does."""
    winning = None
    for cell in sorted(cells, key=lambda cell: -cell.width):
        if cell.batch_size != batch_size or cell.speedup is None:
            continue
        if cell.speedup <= 1:
            break
        winning = cell.width
    return winning


def largest_speedup(cells: Sequence[Cell]) -> float | None:
    """The GPU's best ratio in the sweep; None if no cell has one."""
    return max((cell.speedup for cell in cells if cell.speedup is not None), default=None)


def smallest_speedup(cells: Sequence[Cell]) -> float | None:
    """The GPU's worst ratio in the sweep; None if no cell has one."""
    return min((cell.speedup for cell in cells if cell.speedup is not None), default=None)
