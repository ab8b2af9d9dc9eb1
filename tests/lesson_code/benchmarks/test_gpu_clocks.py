"""PyTorch's other clocks read the work and nothing else."""

import time
from typing import Any

import pytest
import torch

from lesson_code.benchmarks.gpu_clocks import event_times, timer_median
from lesson_code.benchmarks.how_we_measure import FIRST_S, WORK_S, Clockwork


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Clockwork:
    """A device whose truth is known, in the place of the GPU behind PyTorch's events."""
    device = Clockwork()

    class Event:
        """Is passed when the device has done what it was asked for before."""

        def __init__(self, enable_timing: bool = False) -> None:
            assert enable_timing

        def record(self) -> None:
            self.at_s = max(device.now, device.done_at)

        def elapsed_time(self, later: Any) -> float:
            assert device.now >= later.at_s, "Both events must be completed"
            return float(1e3 * (later.at_s - self.at_s))

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", device.wait)
    return device


def test_events_read_the_work_alone(device: Clockwork) -> None:
    """What is paid once and what is still in the queue is not timed, and Python waits once."""
    seconds = event_times(device.launch, runs=5)

    assert [WORK_S] * 5 == pytest.approx(seconds)
    assert device.now == pytest.approx(FIRST_S + 8 * WORK_S, abs=1e-4)


def test_events_count_a_gpu_that_waits_for_python(device: Clockwork) -> None:
    """Between two events lies the asking too, where asking takes longer than the work."""
    device.launch_s, device.loading_s, device.work_s = 0.01, 0.0, 0.001

    def two_kernels() -> None:
        device.launch()
        device.launch()

    assert [0.020] * 3 == pytest.approx(event_times(two_kernels, runs=3))


def test_the_timer_takes_its_runs_by_itself() -> None:
    """It reads what a run takes at least, and repeats it."""
    runs = []

    def work() -> None:
        runs.append(1)
        time.sleep(0.002)

    assert 0.002 <= timer_median(work, at_least=0.1)
    assert 1 < len(runs)  # on a busy machine a run takes far longer


@pytest.mark.gpu
def test_events_that_are_read_too_early_say_so() -> None:
    """The kernel between the two has not finished yet."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    torch.cuda._sleep(10**9)
    end.record()

    with pytest.raises(RuntimeError, match=r"Both events must be completed|device not ready"):
        start.elapsed_time(end)
    end.synchronize()


@pytest.mark.gpu
def test_a_gpu_reads_more_for_more_work() -> None:
    """A hundred products take longer than one."""
    x = torch.rand(256, 256, device="cuda")

    def products(count: int) -> float:
        return min(event_times(lambda: [x @ x for _ in range(count)], runs=5))

    assert 0 < products(1) < products(100)
