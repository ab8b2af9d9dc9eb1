"""Step 5: times for every size, and a clock that is read only when the device is done."""

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from graders.checks import require, todo
from graders.folder import Folder
from graders.foundations.pretended import CPU, CUDA, pretended_cuda

SCRIPT = "benchmark_devices.py"
SIZES = (512, 1024, 2048)
WARM_UPS = 3
PRODUCTS = ("aten.mm", "aten.matmul", "aten.bmm", "aten.addmm")
WAIT = "synchronise"
REREAD = "reread Part 5, “A GPU changes the cost, not the contract”"
META = torch.device("meta")


def opened(path: Path) -> Folder:
    """The learner's folder, whose script can be imported."""
    folder = Folder(path)
    folder.load(SCRIPT)
    return folder


class Watch:
    """Parts of ours for a benchmark: they note what happens, and let time pass by leaps.

    Attributes:
        events: What happened, in order.
        spans: The seconds between each two readings of the clock.
        matrices: What was multiplied.
    """

    def __init__(self) -> None:
        self.events: list[str] = []
        self.spans: list[float] = []
        self.matrices: list[torch.Tensor] = []
        self.now = random.uniform(1.0, 100.0)
        self.read_at: list[float] = []

    def multiply(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Work that takes another time each time."""
        self.events.append("work")
        self.matrices += [left, right]
        self.now += random.uniform(0.5, 20.0)
        return left

    def synchronize(self, *_: object) -> None:
        """A wait that takes time as well."""
        self.events.append(WAIT)
        self.now += random.uniform(0.5, 2.0)

    def clock(self) -> float:
        """The time now."""
        self.events.append("clock")
        self.now += 0.25
        self.read_at.append(self.now)
        return self.now

    def differences(self) -> list[float]:
        """The time between each two readings."""
        return [
            end - start for start, end in zip(self.read_at[::2], self.read_at[1::2], strict=False)
        ]


@todo("5.1", "there are times for every size")
def returns_each_time(answer: Folder) -> None:
    """Each repetition's own time comes back, for every size, number and device."""
    script = answer.load(SCRIPT)
    for device in (CPU, META):
        watch, size, repetitions = Watch(), random.randint(4, 32), random.randint(4, 9)
        parts = {name: getattr(watch, name) for name in ("multiply", "synchronize", "clock")}
        times = list(script.benchmark(device, size, repetitions, **parts))
        require(
            len(times) == repetitions,
            f"{repetitions} times for {repetitions} repetitions",
            f"{len(times)}",
            f"return every repetition's; {REREAD}",
        )
        right = watch.differences()
        require(
            len(right) == repetitions
            and all(abs(a - b) < 1e-6 for a, b in zip(times, right, strict=True)),
            "what the clock showed between the two readings of each repetition, "
            f"{[round(span, 2) for span in right]}",
            f"{[round(float(span), 2) for span in times]}",
            f"a mean hides the one that went wrong; {REREAD}",
        )
        require_matrices(watch.matrices, size, device)


def require_matrices(matrices: list[torch.Tensor], size: int, device: torch.device) -> None:
    """What is multiplied has the size that was asked for, and is where it was asked for."""
    for matrix in matrices:
        require(
            tuple(matrix.shape) == (size, size) and matrix.device == device,
            f"matrices of {size} rows and columns on {device}",
            f"one of shape {tuple(matrix.shape)} on {matrix.device}",
            f"size and device are arguments; {REREAD}",
        )
    for left, right in zip(matrices[::2], matrices[1::2], strict=True):
        require(
            device == META or (bool(left.std() > 0) and not torch.equal(left, right)),
            "two random matrices in every product",
            "equal ones, or one number everywhere",
            f"products of zeros can be faster than real ones; {REREAD}",
        )


class Products(TorchDispatchMode):
    """Counts matrix products by their size."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sizes: list[int] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operator, and note it."""
        result = func(*args, **(kwargs or {}))
        if str(func).startswith(PRODUCTS):
            self.sizes.append(int(result.shape[-1]))
        return result


@todo("5.1", "there are times for every size")
def times_products(answer: Folder) -> None:
    """Without parts of ours it times products of matrices, in seconds of the right clock."""
    with clock_watched() as read:
        script = answer.load(SCRIPT)
        for size in random.sample(range(64, 160), 2):
            repetitions = random.randint(2, 6)
            read.clear()
            began = time.monotonic()
            with Products() as products:
                times = [float(span) for span in script.benchmark(CPU, size, repetitions)]
            took = time.monotonic() - began
            count = WARM_UPS + repetitions
            require(
                products.sizes == [size] * count,
                f"{count} products of size {size}: {WARM_UPS} warm-ups and {repetitions} timed",
                f"products of sizes {products.sizes}",
                f"torch.matmul does the work where no other is given; {REREAD}",
            )
            require(
                bool(read),
                "times by time.perf_counter where no clock is given",
                "times without it",
                f"other clocks tick less often, or stand still while a program waits; {REREAD}",
            )
            require(
                len(times) == repetitions and min(times) > 0 and sum(times) <= took,
                f"{repetitions} positive times, no more than {took:.4f} s together",
                f"{times}",
                f"the unit is the second; {REREAD}",
            )


@contextmanager
def clock_watched() -> Iterator[list[str]]:
    """Notes who reads the clock."""
    read: list[str] = []

    def noted(name: str) -> Callable[[], float]:
        real = getattr(time, name)

        def clock() -> float:
            read.append(name)
            now: float = real()
            return now

        return clock

    with (
        patch("time.perf_counter", noted("perf_counter")),
        patch("time.perf_counter_ns", noted("perf_counter_ns")),
    ):
        yield read


@todo("5.1", "there are times for every size", limit_s=300)
def prints_lines(answer: Folder) -> None:
    """As a program it prints a line for each size, and says what CUDA did or that there is none."""
    result = answer.run(SCRIPT)
    require(result.status == 0, "exit status 0", result.last_words(), "run it; " + REREAD)
    word = "ratio" if torch.cuda.is_available() else "not available"
    for size in SIZES:
        lines = [line for line in result.output.splitlines() if re.search(rf"\b{size}\b", line)]
        timed = [line for line in lines if re.search(r"\d\s*(ms|µs|us|s)\b", line)]
        require(
            bool(timed) and word in " ".join(lines),
            f"a line with a time for size {size}, and {word!r}",
            f"{lines}",
            "the starter's main part prints it; " + REREAD,
        )


def without_idle_waits(events: list[str]) -> list[str]:
    """The events, but for waits that no time depends on: in warm-ups, doubled, or at the end."""
    kept: list[str] = []
    for event in events:
        warming_up = kept.count("work") < WARM_UPS
        if event != WAIT or not (warming_up or kept[-1] == WAIT):
            kept.append(event)
    return kept[:-1] if kept[-1:] == [WAIT] else kept


SYNCHRONISED = "the device is synchronised before both readings of the clock when CUDA is used"


def require_order(watch: Watch, repetitions: int, where: str) -> None:
    """Warm-ups, waits, readings and work have to come in the order that gives the work's time."""
    expected = ["work"] * WARM_UPS
    expected += [WAIT, "clock", "work", WAIT, "clock"] * repetitions
    require(
        without_idle_waits(watch.events) == expected,
        f"{WARM_UPS} warm-ups, then wait, clock, work, wait, clock {repetitions} times{where}",
        ", ".join(watch.events),
        f"a clock that does not wait times the launch; {REREAD}",
    )


@todo("5.2", SYNCHRONISED)
def waits_as_told(answer: Folder) -> None:
    """With parts of ours the order of events is right, on any machine."""
    script = answer.load(SCRIPT)
    for repetitions in random.sample(range(1, 6), 2):
        watch = Watch()
        parts = {name: getattr(watch, name) for name in ("multiply", "synchronize", "clock")}
        script.benchmark(CPU, random.randint(4, 16), repetitions, **parts)
        require_order(watch, repetitions, "")


@todo("5.2", SYNCHRONISED)
def waits_for_cuda(answer: Folder) -> None:
    """On a CUDA device it waits by itself, in the same order; CUDA is pretended."""
    for repetitions in random.sample(range(1, 6), 2):
        watch = Watch()
        parts = {name: getattr(watch, name) for name in ("multiply", "clock")}
        with pretended_cuda(watch.synchronize):
            answer.load(SCRIPT).benchmark(CUDA, random.randint(4, 16), repetitions, **parts)
        require_order(watch, repetitions, " on CUDA, where no other wait is given")
