"""How we measure, in one place.

Warm-ups are made first and kept apart. Before the clock (``time.perf_counter``) starts and before
it stops, the device is waited for. Work that is too short for the clock is repeated within a sample
and the sample divided. Things to be compared take turns, round by round, so that a machine that
gets busy for a while slows all of them down and not one. Every raw sample is kept, in seconds.
"""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from lesson_code.timing import time_repeatedly

REPETITIONS = 5
NOISY_SHARE = 0.15
SHORTEST_SAMPLE_S = 0.05

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


def summarise(samples: list[float]) -> Summary:
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


@dataclass
class Arm:
    """One of the things that a case compares.

    Attributes:
        work: What is timed, without arguments; its return value, if a number, is the loss.
        device: Where it runs; it is waited for on both sides.
        settings: What a reader needs to know to repeat it.
        seed: What every random draw of the arm starts from.
    """

    work: Callable[[], object]
    device: torch.device
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0


def measure(
    arms: Mapping[str, Arm],
    repetitions: int = REPETITIONS,
    warmups: int = 1,
    shortest_sample_s: float = SHORTEST_SAMPLE_S,
) -> dict[str, Entry]:
    """Time every arm, taking turns.

    Args:
        arms: What to time, by the name of its entry.
        repetitions: Timed samples of each arm.
        warmups: Untimed runs before them; the last one says how often to repeat short work.
        shortest_sample_s: Work shorter than this is repeated within each sample.

    Returns:
        An entry for each arm: raw samples and warm-ups in seconds, their summary, the settings,
        and the loss that the work returned last.
    """
    watched = {name: _Watched(arm.work) for name, arm in arms.items()}
    warmup_s = {
        name: time_repeatedly(watched[name], arm.device, max(1, warmups), warmup=0)
        for name, arm in arms.items()
    }
    loops = {
        name: max(1, math.ceil(shortest_sample_s / max(seconds[-1], 1e-9)))
        for name, seconds in warmup_s.items()
    }
    samples: dict[str, list[float]] = {name: [] for name in arms}
    for _ in range(repetitions):
        for name, arm in arms.items():
            repeated = _Repeated(watched[name], loops[name])
            [seconds] = time_repeatedly(repeated, arm.device, repetitions=1, warmup=0)
            samples[name].append(seconds / loops[name])
    return {
        name: entry(
            samples[name],
            "s",
            device=arm.device.type,
            warmups=warmup_s[name],
            loops=loops[name],
            seed=arm.seed,
            loss=watched[name].loss,
            settings=arm.settings,
        )
        for name, arm in arms.items()
    }


def entry(samples: list[float], unit: str, *, device: str, **more: Any) -> Entry:
    """What a result file keeps of one measured thing.

    Args:
        samples: Raw values in ``unit``.
        unit: ``s``, ``percent``, ``epochs``, ``bytes``.
        device: ``cpu`` or ``cuda``.
        more: Warm-ups, loops, seed, loss and settings, where there are any.
    """
    summary = summarise(samples)
    return {
        "unit": unit,
        "device": device,
        "median": summary.median,
        "smallest": summary.smallest,
        "largest": summary.largest,
        "spread": summary.spread,
        "noisy": summary.noisy,
        "samples": samples,
        **{name: value for name, value in more.items() if value is not None},
    }


class _Watched:
    """Work that remembers the last loss it returned."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.loss: float | None = None

    def __call__(self) -> None:
        result = self.work()
        if isinstance(result, float):
            self.loss = result


class _Repeated:
    """Work done several times in a row."""

    def __init__(self, work: Callable[[], object], loops: int) -> None:
        self.work = work
        self.loops = loops

    def __call__(self) -> None:
        for _ in range(self.loops):
            self.work()
