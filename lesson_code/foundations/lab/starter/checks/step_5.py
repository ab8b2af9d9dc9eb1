"""Step 5: times for every size, and a clock that is read only when the device is done."""

import re
from types import ModuleType

import pytest
import torch

from .points import Finding, OpenPointError, load, part_of, point, read, require
from .worker import Worker

SCRIPT = "benchmark_devices.py"
SIZES = (512, 1024, 2048)
ITERATIONS = 5
WARM_UPS = 3
WAIT = "synchronise"
PART = "Part 5, “A GPU changes the cost, not the contract”"
TIMED = point("there are times for every size", PART)


@pytest.fixture
def script() -> ModuleType:
    """The learner's script, imported afresh."""
    return load(SCRIPT)


@TIMED
def test_times(script: ModuleType) -> None:
    """A call returns every repetition, each a positive time."""
    times = list(part_of(script, "benchmark")(torch.device("cpu"), 128, ITERATIONS))
    require(len(times) == ITERATIONS, "not every repetition is returned", f"{len(times)} of 5")
    require(min(times) > 0, "a time is not positive", f"the smallest is {min(times)}")


@TIMED
def test_lines(worker: Worker) -> None:
    """As a program it prints a line for each size, and says what CUDA did or that there is none."""
    read(SCRIPT)
    result = worker.run(SCRIPT)
    require(result.status == 0, "the script does not end well", result.last_words())
    word = "ratio" if torch.cuda.is_available() else "not available"
    for size in SIZES:
        lines = [line for line in result.output.splitlines() if re.search(rf"\b{size}\b", line)]
        timed = [line for line in lines if re.search(r"\d\s*(ms|µs|us|s)\b", line)]
        if not timed:
            raise OpenPointError(
                Finding(f"no line gives a time for size {size}", f"lines: {lines}")
            )
        require(word in " ".join(lines), f"size {size}: nothing says {word!r}", timed[0])


def without_idle_waits(events: list[str]) -> list[str]:
    """The events, but for waits that no time depends on: in warm-ups, doubled, or at the end."""
    kept: list[str] = []
    for event in events:
        warming_up = kept.count("work") < WARM_UPS
        if event != WAIT or not (warming_up or kept[-1] == WAIT):
            kept.append(event)
    return kept[:-1] if kept[-1:] == [WAIT] else kept


@point("the device is synchronised before both readings of the clock when CUDA is used", PART)
def test_order(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of events is right, without a GPU; on one, CUDA's own wait is used by default."""
    events: list[str] = []

    def multiply(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        events.append("work")
        return left + right

    def clock() -> float:
        events.append("clock")
        return float(len(events))

    def synchronize(*_: object) -> None:
        events.append(WAIT)

    repetitions = 2
    run = part_of(script, "benchmark")
    parts = {"multiply": multiply, "synchronize": synchronize, "clock": clock}
    run(torch.device("cpu"), 8, repetitions, **parts)
    expected = ["work"] * WARM_UPS
    expected += [WAIT, "clock", "work", WAIT, "clock"] * repetitions
    require(
        without_idle_waits(events) == expected,
        "warm-ups, waiting, clock and work do not come in the order that gives the work's time",
        f"the order was: {', '.join(events)}",
    )
    if torch.cuda.is_available():
        events.clear()
        monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
        run(torch.device("cuda"), 8, repetitions)
        found = events.count(WAIT)
        shown = f"{found} waits in {repetitions} repetitions"
        require(found >= 2 * repetitions, "on CUDA nothing waits for the device", shown)
