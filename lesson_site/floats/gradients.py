"""The recorded gradients, read from ``results/gradient_exponents.json``, and what is said of them.

``docs/assets/elements/floats/histogram.js`` counts, draws and says the same; a test compares.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lesson_code.gpu_training.exponent_histogram import SPLITS, Histogram, added, from_row
from lesson_code.gpu_training.float_formats import FloatFormat
from lesson_site.errors import PageError
from lesson_site.floats.words import power_of_two

FILE = Path("results/gradient_exponents.json")
COMMAND = "python -m lesson_code.gpu_training.gradient_exponents"
PLACES = {
    "logits": "the logits",
    "layer_2": "layer 2’s output",
    "layer_1": "layer 1’s output",
    "weights": "the weights",
}
HIGH = 1000  # units of a drawing's height
VISIBLE = 8  # the least height of a bar that is not empty


@dataclass(frozen=True)
class Recorded:
    """Gradients of some runs of one training.

    Attributes:
        images: Training images of an epoch.
        batch_size: Images of a step.
        optimizer: Its name and rate.
        every: Steps, of which one was counted.
        losses: By epoch, the average loss of every seed.
        counts: By place and epoch, what was counted with every seed.
        source: Machine, version and day.
    """

    images: int
    batch_size: int
    optimizer: str
    every: int
    losses: Mapping[int, Sequence[float]]
    counts: Mapping[tuple[str, int], Sequence[Histogram]]
    source: str

    @property
    def epochs(self) -> list[int]:
        """Those that were counted."""
        return sorted(self.losses)

    @property
    def seeds(self) -> int:
        """How many runs there were."""
        return len(self.losses[self.epochs[0]])

    def together(self, place: str, epoch: int) -> Histogram:
        """What was counted with all seeds."""
        return added(self.counts[place, epoch])


@functools.cache
def read(file: Path = FILE) -> Recorded:
    """The recorded gradients.

    Raises:
        PageError: If they are not there, or not as the command writes them.
    """
    try:
        return _recorded(json.loads(file.read_text(encoding="utf-8")))
    except OSError:
        raise PageError(f"there is no {file}; run `{COMMAND} {file}`") from None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise PageError(f"{file} is damaged ({problem}); run `{COMMAND} {file}`") from None


def _recorded(content: Any) -> Recorded:
    if content["splits"] != list(SPLITS):
        raise ValueError(f"its bins are split at {content['splits']}, not at {list(SPLITS)}")
    losses: dict[int, list[float]] = {}
    counts: dict[tuple[str, int], list[Histogram]] = {}
    for run in content["runs"]:
        counted = from_row(run["zeros"], run["bins"])
        counts.setdefault((run["place"], run["epoch"]), []).append(counted)
        if run["place"] == "logits":
            losses.setdefault(run["epoch"], []).append(run["loss"])
    if {(place, epoch) for place in PLACES for epoch in losses} != set(counts):
        raise ValueError("some place lacks an epoch")
    at = content["provenance"]
    source = f"{at['processor']}, PyTorch {at['torch']}, {at['date']}"
    return Recorded(
        content["images"],
        content["batch_size"],
        content["optimizer"],
        content["every"],
        losses,
        counts,
        source,
    )


def share(part: int, whole: int) -> str:
    """A share in percent with one digit, rounded from the counts; never 0 or 100 by rounding."""
    tenths = (2000 * part + whole) // (2 * whole)
    if part and not tenths:
        return "under 0.1 %"
    if part < whole and tenths == 1000:
        return "over 99.9 %"
    return f"{tenths // 10}.{tenths % 10} %"


def spread(parts: Sequence[int], wholes: Sequence[int]) -> str:
    """The smallest and the largest share of several runs."""
    by_size = sorted(zip(parts, wholes, strict=True), key=lambda pair: pair[0] / pair[1])
    low, high = share(*by_size[0]), share(*by_size[-1])
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def sentences(histogram: Histogram, kind: FloatFormat, scale_power: int) -> list[str]:
    """What a format would make of the gradients at a loss scale."""
    whole = histogram.others
    lost, over = histogram.lost(kind, scale_power), histogram.too_large(kind, scale_power)
    scale = f"times {2**scale_power:,} ({power_of_two(scale_power)})" if scale_power else "unscaled"
    rounded = (
        f"rounds {share(lost, whole)} of these gradients to zero" if lost else "keeps them all"
    )
    said = [f"{scale.capitalize()}, {kind.name} {rounded}: {lost:,} of {whole:,} are lost."]
    if over and kind.has_infinity:
        said.append(
            f"At the other end {over:,} become infinite ({share(over, whole)}), and a step with "
            "even one of them is skipped."
        )
    elif over:
        said.append(f"At the other end {over:,} are too large ({share(over, whole)}).")
    else:
        said.append("At the other end none is too large.")
    return said


def paths(histogram: Histogram, kind: FloatFormat, scale_power: int) -> dict[str, str]:
    """The outlines of the bars that are ``lost``, ``kept`` and ``over``: one unit wide a bin."""
    tallest = max(map(sum, histogram.bins.values()))
    found = {"lost": "", "kept": "", "over": ""}
    for exponent, counts in sorted(histogram.bins.items()):
        one = Histogram(0, {exponent: counts})
        total, over = sum(counts), one.too_large(kind, scale_power)
        left = exponent + scale_power
        top = HIGH - max(VISIBLE, total * HIGH // tallest)
        if one.lost(kind, scale_power):
            found["lost"] += _bar(left, HIGH, top)
            continue
        split = top if not over else min(HIGH, top + max(VISIBLE, over * HIGH // tallest))
        if over < total:
            found["kept"] += _bar(left, HIGH, split)
        if over:
            found["over"] += _bar(left, HIGH if over == total else split, top)
    return found


def _bar(left: int, bottom: int, top: int) -> str:
    return f"M{left} {bottom}V{top}h1V{bottom}z"
