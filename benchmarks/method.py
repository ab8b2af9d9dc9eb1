"""How we measure, in one place.

Warm-ups are made first and kept apart: the first run pays for what is done once, the last one says
how long the work takes. Before the clock (``time.perf_counter``) starts and before it stops, the
device is waited for. Work that is too short for the clock is repeated within a sample and the
sample divided. Things to be compared take turns, round by round and every other round backwards, so
that a machine that gets busy or slow slows all of them down and not one. Every raw sample is kept,
in seconds. On a GPU the device's own events are read beside the clock: where the two differ, the
GPU waited.
"""

import gc
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from lesson_code.timing import time_repeatedly
from results.entry import Entry, entry

REPETITIONS = 5
WARMUPS = 2  # a cold run would make short work look long
SHORTEST_SAMPLE_S = 0.05
# What libraries below PyTorch say where memory for their workspace or their handle was lacking: a
# convolution finds no engine that makes do with what is left, and the driver's own calls fail.
LACKING = re.compile(
    "unable to find an engine to execute this computation|CU(BLAS|DNN)_STATUS_ALLOC_FAILED"
    "|CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED|CUDA error: out of memory"
)
T = TypeVar("T")


def lacks_memory(problem: BaseException) -> bool:
    """Whether an error says that a device's memory did not suffice, whichever library raised it."""
    if isinstance(problem, torch.OutOfMemoryError):
        return True
    return isinstance(problem, RuntimeError) and bool(LACKING.search(str(problem)))


@contextmanager
def unless_memory_lacks() -> Iterator[None]:
    """Goes on behind the block if the device's memory did not suffice; other errors come out."""
    try:
        yield
    except RuntimeError as problem:
        if not lacks_memory(problem):
            raise


@dataclass
class Arm:
    """One of the things that a case compares.

    Attributes:
        work: What is timed, without arguments; its return value, if a number, is the loss.
        device: Where it runs; it is waited for on both sides.
        settings: What a reader needs to know to repeat it.
        seed: What every random draw of the arm starts from.
        amount: What one run of ``work`` works through: FLOP, bytes or samples.
        around: Makes a context that holds while the arm runs, such as a precision switch.
        outcome: Called after the last sample: what the work reached, such as an accuracy.
    """

    work: Callable[[], object]
    device: torch.device
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    amount: float | None = None
    around: Callable[[], AbstractContextManager[object]] = nullcontext
    outcome: Callable[[], dict[str, float]] | None = None


def measure(
    arms: Mapping[str, Arm],
    repetitions: int = REPETITIONS,
    warmups: int = WARMUPS,
    shortest_sample_s: float = SHORTEST_SAMPLE_S,
) -> dict[str, Entry]:
    """Time every arm, taking turns.

    Args:
        arms: What to time, by the name of its entry.
        repetitions: Timed samples of each arm.
        warmups: Untimed runs before them; the last one says how often to repeat short work. One
            is enough for work of seconds, which is never repeated.
        shortest_sample_s: Work shorter than this is repeated within each sample.

    Returns:
        An entry for each arm: raw samples and warm-ups in seconds, their summary, the settings,
        and the loss that the work returned last.
    """
    watched = {name: _Watched(arm.work) for name, arm in arms.items()}
    warmup_s = {}
    for name, arm in arms.items():
        with arm.around():
            warmup_s[name] = time_repeatedly(watched[name], arm.device, max(1, warmups), warmup=0)
    loops = {
        name: max(1, math.ceil(shortest_sample_s / max(seconds[-1], 1e-9)))
        for name, seconds in warmup_s.items()
    }
    samples: dict[str, list[float]] = {name: [] for name in arms}
    events: dict[str, list[float]] = {name: [] for name in arms}
    for number in range(repetitions):
        for name, arm in in_turn(arms, number):
            repeated = _Repeated(watched[name], loops[name], arm.device)
            with arm.around():
                [seconds] = time_repeatedly(repeated, arm.device, repetitions=1, warmup=0)
            samples[name].append(seconds / loops[name])
            events[name] += repeated.device_seconds()
    return {
        name: entry(
            samples[name],
            "s",
            device=arm.device.type,
            warmups=warmup_s[name],
            loops=loops[name],
            device_samples=events[name],
            seed=arm.seed,
            loss=watched[name].loss,
            settings=arm.settings,
            amount=arm.amount,
            outcome=arm.outcome() if arm.outcome else None,
        )
        for name, arm in arms.items()
    }


def in_turn(arms: Mapping[str, T], number: int) -> list[tuple[str, T]]:
    """The arms in the order of a round: every other round runs backwards.

    So a machine that slows down steadily slows the first arm down as much as the last one.
    """
    return list(arms.items())[:: -1 if number % 2 else 1]


def peak_memory(
    work: Callable[[], object],
    device: torch.device,
    repetitions: int = 3,
    settings: dict[str, Any] | None = None,
    before: int = 0,
) -> Entry | None:
    """The most GPU memory that tensors held at once while ``work`` ran, in bytes.

    One run before the counter is reset lets the optimizer make its state, so that it is counted.

    Args:
        work: What is watched.
        device: Where it runs.
        repetitions: How often the peak is read.
        settings: What a reader needs to know to repeat it.
        before: Bytes that do not count: what ``memory_before`` found.

    Returns:
        An entry, or None on a device that keeps no such count.
    """
    work()
    if device.type != "cuda":
        return None
    samples = []
    for _ in range(repetitions):
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        work()
        torch.cuda.synchronize(device)
        samples.append(float(torch.cuda.max_memory_allocated(device) - before))
    return entry(samples, "bytes", device=device.type, settings=settings or {})


def memory_before(device: torch.device) -> int:
    """Bytes that are allocated before something is built whose memory is to be read.

    The matrix library keeps a workspace for each thread and stream that it ever served, on some
    GPUs 32 MiB each. They are given back, and those that any training needs are taken anew: so
    they are the same whatever ran before, and none is taken while the peak is read.

    Returns:
        Zero on a device that keeps no such count.
    """
    if device.type != "cuda":
        return 0
    gc.collect()
    torch.cuda.synchronize(device)
    give_back = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if give_back:
        give_back()
    torch.cuda.empty_cache()
    _take_workspaces(device)
    torch.cuda.synchronize(device)
    return torch.cuda.memory_allocated(device)


def _take_workspaces(device: torch.device) -> None:
    """Multiply with and without a bias, in this thread and in the one that goes backward."""
    x = torch.ones(64, 64, device=device, requires_grad=True)
    bias = torch.ones(64, device=device)
    checkpoint(F.linear, x @ x, x, bias, use_reentrant=False).sum().backward()


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
    """Work done several times in a row, between two events of the device where it has them."""

    def __init__(self, work: Callable[[], object], loops: int, device: torch.device) -> None:
        self.work = work
        self.loops = loops
        cuda = device.type == "cuda"
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if cuda else []

    def __call__(self) -> None:
        if self.events:
            self.events[0].record()
        for _ in range(self.loops):
            self.work()
        if self.events:
            self.events[1].record()

    def device_seconds(self) -> list[float]:
        """Seconds of one run by the device's events; nothing on a CPU."""
        if not self.events:
            return []
        start, end = self.events
        return [start.elapsed_time(end) / 1e3 / self.loops]
