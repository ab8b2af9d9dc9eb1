"""The right clock and three wrong ones, on a device whose time the test turns."""

import time
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.cases import Plan, synchronisation
from benchmarks.cases.synchronisation import METHODS, seconds_by

LAUNCH_S, KERNEL_S = 0.02e-3, 50e-3


class FakeDevice(nn.Module):
    """Queues a forward pass in no time and works on it for long: an asynchronous device."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.now = 0.0
        self.busy_until = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(synchronisation, "synchronize", self.wait)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Queue a pass: the queue is done later by as long as a pass takes."""
        self.now += LAUNCH_S
        self.busy_until = max(self.busy_until, self.now) + KERNEL_S
        return images

    def wait(self, _: torch.device) -> None:
        """Let the clock run until the queue is empty."""
        self.now = max(self.now, self.busy_until)


@pytest.mark.parametrize(
    ("name", "read_s"),
    [
        ("waited", LAUNCH_S + KERNEL_S),
        ("not_waited", LAUNCH_S),
        ("waited_before_only", LAUNCH_S),
        ("waited_after_only", 2 * KERNEL_S),
    ],
)
def test_what_each_method_reads(name: str, read_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the clock that waits on both sides reads the time of one pass."""
    device = FakeDevice(monkeypatch)

    readings = [seconds_by(METHODS[name], device, torch.zeros(1)) for _ in range(3)]

    assert [read_s] * 3 == pytest.approx(readings)


def test_wrong_methods_say_that_they_are_wrong(tmp_path: Path, one_thread: None) -> None:
    """Each entry's settings hold when it waits, and whether that is right."""
    plan = Plan(tmp_path, quick=True, gpu=torch.device("cpu"))

    entries = {
        name: entry
        for part in synchronisation.parts(plan)
        for name, entry in part.measure().items()
    }

    assert set(synchronisation.ENTRIES) == set(entries)
    assert {"cpu_waited", "cuda_waited"} == {
        name for name, entry in entries.items() if entry.settings["right"]
    }
    assert all(entry.smallest > 0 for entry in entries.values())
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()


def test_methods_take_turns_there_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other round begins with the last method, after a warm-up of each."""
    timed: list[synchronisation.Method] = []

    def seconds(method: synchronisation.Method, *_: object) -> float:
        timed.append(method)
        return 1.0

    monkeypatch.setattr(synchronisation, "seconds_by", seconds)
    [_, part] = synchronisation.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    part.measure()

    there = list(METHODS.values())
    assert [*there, *there, *reversed(there), *there, *reversed(there)] == timed[:20]


@pytest.mark.gpu
def test_a_clock_that_does_not_wait_reads_too_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any GPU a large pass seems shorter to a clock that does not wait, longer to a late one."""
    monkeypatch.setattr(synchronisation, "QUICK_WIDTHS", {"cpu": 64, "cuda": 2048})
    plan = Plan(tmp_path, quick=True)
    entries = {
        name: entry
        for part in synchronisation.parts(plan)
        for name, entry in part.measure().items()
    }
    read = {name: entry.median for name, entry in entries.items()}

    assert set(synchronisation.ENTRIES) == set(entries)
    assert read["cuda_waited"] > read["cuda_not_waited"]
    assert read["cuda_waited"] > read["cuda_waited_before_only"]
    assert read["cuda_waited_after_only"] > read["cuda_waited"]
