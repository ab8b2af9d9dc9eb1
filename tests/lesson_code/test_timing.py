"""The timer warms up, waits on both sides, repeats, and reads a clock that never jumps."""

import pytest
import torch

from lesson_code import timing

CPU = torch.device("cpu")


class Events:
    """A clock and a device that write down what happens to them, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.now_s = 100.0

    def work(self) -> None:
        """Take two seconds."""
        self.log.append("work")
        self.now_s += 2.0

    def perf_counter(self) -> float:
        """Read the clock."""
        self.log.append("clock")
        return self.now_s

    def synchronize(self, _device: torch.device) -> None:
        """Take half a second, the work that the device has still to do."""
        self.log.append("wait")
        self.now_s += 0.5


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Events:
    """A fake clock and device in the place of the real ones."""
    fake = Events()
    monkeypatch.setattr(timing.time, "perf_counter", fake.perf_counter)
    monkeypatch.setattr(timing, "synchronize", fake.synchronize)
    return fake


def test_every_repetition_is_bracketed_by_waiting(events: Events) -> None:
    """The order is: wait, clock, work, wait, clock; warm-up runs come before and untimed."""
    timing.time_repeatedly(events.work, CPU, repetitions=2, warmup=1)

    assert events.log == ["work", *["wait", "clock", "work", "wait", "clock"] * 2]


def test_seconds_hold_the_work_and_the_wait_after_it(events: Events) -> None:
    """Two seconds of work and half a second of waiting make 2.5, in every repetition."""
    seconds = timing.time_repeatedly(events.work, CPU, repetitions=3, warmup=2)

    assert seconds == [2.5, 2.5, 2.5]


@pytest.mark.parametrize(("repetitions", "warmup"), [(0, 1), (-1, 1), (1, -1)])
def test_counts_that_measure_nothing_are_refused(repetitions: int, warmup: int) -> None:
    """The message names both counts as they were given."""
    with pytest.raises(ValueError, match=f"got {repetitions}, {warmup}"):
        timing.time_repeatedly(lambda: None, CPU, repetitions, warmup)


def test_real_work_takes_a_positive_time(device: torch.device) -> None:
    """With the real clock every repetition of a matrix product lasts longer than nothing."""
    matrix = torch.rand(64, 64, device=device)

    seconds = timing.time_repeatedly(lambda: matrix @ matrix, device, repetitions=3)

    assert len(seconds) == 3
    assert min(seconds) > 0
