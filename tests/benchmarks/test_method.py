"""How we measure, against a clock that the test turns."""

import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import torch

from benchmarks import method
from benchmarks.method import (
    Arm,
    measure,
    memory_before,
    peak_memory,
    unless_memory_lacks,
)
from lesson_code.timing import time_repeatedly
from results.entry import entry

CPU = torch.device("cpu")


class Clock:
    """A clock that only moves when work is done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def work(self, *durations: float) -> "Work":
        """Work that takes these durations in turn, the last one from then on."""
        return Work(self, list(durations))


class Work:
    """What a test times."""

    def __init__(self, clock: Clock, durations: list[float]) -> None:
        self.clock = clock
        self.durations = durations
        self.started: list[float] = []

    def __call__(self) -> float:
        """Take the time, and return a loss."""
        self.started.append(self.clock.now)
        self.clock.now += self.durations.pop(0) if len(self.durations) > 1 else self.durations[0]
        return 0.25


def test_warmups_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow first run stands among the warm-ups and in no sample."""
    clock = Clock(monkeypatch)

    measured = measure({"a": Arm(clock.work(30.0, 1.0), CPU)}, repetitions=5)["a"]

    assert list(measured.warmups) == [30.0, 1.0]
    assert measured.samples == pytest.approx([1.0] * 5)


def test_short_work_is_repeated_within_a_sample_and_divided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A millisecond of work is done 50 times a sample, and the sample is still a millisecond."""
    clock = Clock(monkeypatch)
    work = clock.work(0.001)

    measured = measure({"a": Arm(work, CPU)}, repetitions=2, shortest_sample_s=0.05)["a"]

    assert measured.loops == 50
    assert measured.samples == pytest.approx([0.001, 0.001])
    assert len(work.started) == 2 + 2 * 50


def test_a_slow_first_run_does_not_make_short_work_look_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loading kernels takes 0.2 s, a step 0.3 ms: a sample still lasts 0.05 s."""
    clock = Clock(monkeypatch)

    measured = measure({"a": Arm(clock.work(0.2, 0.0003), CPU)}, shortest_sample_s=0.05)["a"]

    assert 0.05 <= measured.loops * 0.0003
    assert [0.0003] * 5 == pytest.approx(measured.samples)


def test_arms_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared work is interleaved, every other round backwards: a b, a b, b a, a b."""
    clock = Clock(monkeypatch)
    first, second = clock.work(1.0), clock.work(2.0)

    measure({"a": Arm(first, CPU), "b": Arm(second, CPU)}, repetitions=3, warmups=1)

    assert first.started == [0, 3, 8, 9]
    assert second.started == [1, 4, 6, 10]


def test_loss_settings_and_seed_stand_beside_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timed training says what it reached."""
    clock = Clock(monkeypatch)

    measured = measure({"a": Arm(clock.work(1.0), CPU, {"batch_size": 64}, seed=3)})["a"]

    assert measured.loss == 0.25
    assert measured.settings == {"batch_size": 64}
    assert measured.seed == 3


class FakeGPU:
    """A device that runs ahead: work is only asked for, and is done later.

    Asking takes a millisecond of the clock; the work itself takes ``work_s`` of the device's.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, work_s: float) -> None:
        self.clock = Clock(monkeypatch)
        self.work_s = work_s
        self.done_at = 0.0
        monkeypatch.setattr("lesson_code.timing.synchronize", self.wait)
        monkeypatch.setattr(torch.cuda, "Event", lambda **_: FakeEvent(self))

    def launch(self) -> None:
        """Ask for the work."""
        self.clock.now += 0.001
        self.done_at = max(self.done_at, self.clock.now) + self.work_s

    def wait(self, _: torch.device) -> None:
        """Wait until all of it is done."""
        self.clock.now = max(self.clock.now, self.done_at)


class FakeEvent:
    """A mark in the device's queue."""

    def __init__(self, gpu: FakeGPU) -> None:
        self.gpu = gpu
        self.at = 0.0

    def record(self) -> None:
        """The device reaches it when everything before it is done."""
        self.at = max(self.gpu.clock.now, self.gpu.done_at)

    def elapsed_time(self, end: "FakeEvent") -> float:
        """Milliseconds, as the real one gives them."""
        return 1e3 * (end.at - self.at)


CUDA = torch.device("cuda")


def test_a_device_that_runs_ahead_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """On both sides: neither earlier work nor unfinished work falsifies a sample."""
    gpu = FakeGPU(monkeypatch, work_s=1.0)

    measured = measure({"cuda": Arm(gpu.launch, CUDA)}, repetitions=3)["cuda"]

    assert measured.samples == pytest.approx([1.001] * 3)


def test_events_of_the_device_stand_beside_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """They say what the device did: of short work done several times, one run's time."""
    gpu = FakeGPU(monkeypatch, work_s=0.010)

    measured = measure({"cuda": Arm(gpu.launch, CUDA)}, 2, shortest_sample_s=0.05)["cuda"]

    assert measured.loops == 5
    assert measured.samples == pytest.approx([0.0102] * 2)  # four of five launches overlap
    assert measured.device_samples == pytest.approx([0.0102] * 2)


def test_events_show_that_the_device_was_not_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work of Python before the launch is in the clock's time and not in the device's."""
    gpu = FakeGPU(monkeypatch, work_s=1.0)

    def work() -> None:
        gpu.launch()
        gpu.wait(CUDA)
        gpu.clock.now += 2.0  # Python goes on after the last launch

    measured = measure({"cuda": Arm(work, CUDA)}, repetitions=1)["cuda"]

    assert measured.samples == pytest.approx([3.001])
    assert measured.device_samples[0] <= 3.001 + 1e-9


def test_no_events_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are none, the file says nothing of them."""
    clock = Clock(monkeypatch)

    assert () == measure({"a": Arm(clock.work(1.0), CPU)})["a"].device_samples


class SlowingMachine:
    """A machine that loses 2 % of its speed in every second, as a hot one does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock(monkeypatch)

    def work(self) -> None:
        """What takes a second on the cool machine."""
        self.clock.now += 1 + 0.02 * self.clock.now


def test_taking_turns_cancels_a_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two equal things look equal while the machine slows down; one after the other they do not."""
    one_by_one = SlowingMachine(monkeypatch)
    first = measure({"a": Arm(one_by_one.work, CPU)}, repetitions=5)["a"]
    second = measure({"b": Arm(one_by_one.work, CPU)}, repetitions=5)["b"]
    in_turns = SlowingMachine(monkeypatch)
    both = measure({"a": Arm(in_turns.work, CPU), "b": Arm(in_turns.work, CPU)}, repetitions=5)

    assert second.median > 1.1 * first.median
    assert both["b"].median == pytest.approx(both["a"].median, rel=0.025)


@pytest.mark.parametrize(
    ("rounds", "least", "most"),
    [(4, 0, 0.002), (6, 0, 0.002), (5, 0.019, 0.021), (7, 0.019, 0.021)],
)
def test_turned_rounds_leave_nothing_if_even_and_one_runs_drift_if_odd(
    monkeypatch: pytest.MonkeyPatch, rounds: int, least: float, most: float
) -> None:
    """With an odd number, the medians of two equal things lie one run apart."""
    machine = SlowingMachine(monkeypatch)

    both = measure({name: Arm(machine.work, CPU) for name in "ab"}, repetitions=rounds)

    apart = abs(both["b"].median / both["a"].median - 1)
    assert least <= apart <= most


# Wrong ways, and what they read


def test_without_waiting_only_the_asking_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousandth of the true time."""
    gpu = FakeGPU(monkeypatch, work_s=1.0)
    start = time.perf_counter()
    gpu.launch()
    wrong = time.perf_counter() - start
    right = measure({"cuda": Arm(gpu.launch, CUDA)})["cuda"].median

    assert wrong == pytest.approx(0.001)
    assert right == pytest.approx(1.001)


def test_waiting_only_at_the_end_measures_what_was_queued_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Work of others that still runs when the clock starts is counted as ours."""
    gpu = FakeGPU(monkeypatch, work_s=1.0)
    gpu.launch()
    gpu.launch()
    start = time.perf_counter()
    gpu.launch()
    gpu.wait(CUDA)
    wrong = time.perf_counter() - start
    right = measure({"cuda": Arm(gpu.launch, CUDA)})["cuda"].median

    assert wrong > 2.9
    assert right == pytest.approx(1.001)


def test_without_a_warm_up_the_first_run_is_in_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading kernels once makes the work look six times as long."""
    clock = Clock(monkeypatch)
    cold, warm = clock.work(26.0, 1.0), clock.work(26.0, 1.0)
    wrong = statistics.mean(time_repeatedly(cold, CPU, repetitions=5, warmup=0))
    right = measure({"a": Arm(warm, CPU)}, repetitions=5)["a"]

    assert wrong == 6.0
    assert right.median == 1.0
    assert list(right.warmups) == [26.0, 1.0]


def test_one_sample_may_be_the_disturbed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing shows it; five say what is usual, and that one was not."""
    clock = Clock(monkeypatch)
    once, often = clock.work(1.0, 1.0, 9.0, 1.0), clock.work(1.0, 1.0, 9.0, 1.0)
    wrong = measure({"a": Arm(once, CPU)}, repetitions=1)["a"]
    right = measure({"a": Arm(often, CPU)}, repetitions=5)["a"]

    assert wrong.median == 9.0
    assert not wrong.noisy
    assert right.median == 1.0
    assert right.largest == 9.0


def test_a_mean_follows_an_outlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """The median of the same samples does not."""
    clock = Clock(monkeypatch)

    measured = measure({"a": Arm(clock.work(1.0, 1.0, 1.0, 41.0, 1.0), CPU)}, repetitions=5)["a"]

    assert statistics.mean(measured.samples) == 9.0
    assert measured.median == 1.0


# What is beside the time


def test_what_the_work_reached_stands_beside_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for once, after the last sample."""
    clock = Clock(monkeypatch)
    work = clock.work(1.0)
    arm = Arm(work, CPU, amount=64, outcome=lambda: {"runs": float(len(work.started))})

    measured = measure({"a": arm}, repetitions=2)["a"]

    assert measured.outcome == {"runs": 4.0}
    assert measured.amount == 64


def test_each_arm_runs_under_its_own_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """They hold in warm-ups and samples, and not while another arm runs."""
    clock = Clock(monkeypatch)
    held: list[str] = []
    seen: list[tuple[str, list[str]]] = []

    @contextmanager
    def switch(name: str) -> Iterator[None]:
        held.append(name)
        yield
        held.remove(name)

    def work(name: str) -> None:
        clock.now += 1
        seen.append((name, list(held)))

    arms = {n: Arm(partial(work, n), CPU, around=partial(switch, n)) for n in ("a", "b")}
    measure(arms, repetitions=2)

    assert seen == [(name, [name]) for name in "aabbabba"]


def test_entry_leaves_out_what_is_not_known() -> None:
    """No key is in a file with null in it."""
    assert "loss" not in entry([1.0], "s", device="cpu", loss=None).to_json()


def test_entry_keeps_plain_numbers() -> None:
    """What NumPy or integers gave can be written as JSON."""
    kept = entry([np.float32(1.5), 2], "s", device="cpu")  # type: ignore[list-item]

    assert "[1.5, 2.0]" == json.dumps(kept.samples)


@pytest.mark.parametrize(
    "problem",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("GET was unable to find an engine to execute this computation"),
        RuntimeError("FIND was unable to find an engine to execute this computation"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported later"),
    ],
    ids=str,
)
def test_lack_of_memory_has_many_names(problem: RuntimeError) -> None:
    """A library that needs a workspace of its own says it in its own words."""
    went_on = False
    with unless_memory_lacks():
        raise problem
    went_on = True  # type: ignore[unreachable]

    assert went_on


@pytest.mark.parametrize(
    "problem",
    [
        RuntimeError("CUDA error: an illegal memory access was encountered"),
        RuntimeError("a bug in the model"),
        ValueError("CUDA error: out of memory"),
    ],
)
def test_no_other_error_counts_as_lack_of_memory(problem: Exception) -> None:
    """It comes out, since it is a bug."""
    with pytest.raises(type(problem)), unless_memory_lacks():
        raise problem


def test_peak_memory_has_no_counter_on_a_cpu() -> None:
    """The work runs, and there is no entry."""
    ran: list[int] = []

    assert peak_memory(lambda: ran.append(1), CPU) is None
    assert ran
    assert 0 == memory_before(CPU)


class FakeMemory:
    """A GPU's counters, where earlier work has left the workspaces of the matrix library."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, workspaces: int) -> None:
        self.workspaces = workspaces
        self.held = 0
        self.peak = 0
        for name, replacement in {
            "synchronize": lambda _: None,
            "empty_cache": lambda: None,
            "memory_allocated": lambda _: self.allocated,
            "reset_peak_memory_stats": lambda _: setattr(self, "peak", self.allocated),
            "max_memory_allocated": lambda _: self.peak,
        }.items():
            monkeypatch.setattr(torch.cuda, name, replacement)
        give_back = partial(setattr, self, "workspaces", 0)
        monkeypatch.setattr(torch._C, "_cuda_clearCublasWorkspaces", give_back, raising=False)
        monkeypatch.setattr(method, "_take_workspaces", lambda _: self.multiply())

    @property
    def allocated(self) -> int:
        """What is held now."""
        return self.held + self.workspaces

    def multiply(self) -> None:
        """Take the two workspaces that any training needs, unless they are there."""
        self.workspaces = max(self.workspaces, 64)

    def step(self) -> None:
        """Multiply, and need 100 for a moment."""
        self.multiply()
        self.peak = max(self.peak, self.allocated + 100)


@pytest.mark.parametrize("left_over", [0, 32, 96])
def test_peaks_do_not_count_what_lay_there_before(
    monkeypatch: pytest.MonkeyPatch, left_over: int
) -> None:
    """A model of 1000 with 100 more at once peaks at 1100, whatever ran before."""
    gpu = FakeMemory(monkeypatch, left_over)

    before = memory_before(CUDA)
    gpu.held = 1000
    measured = peak_memory(gpu.step, CUDA, before=before)

    assert 64 == before
    assert measured is not None
    assert [1100.0] * 3 == list(measured.samples)


def test_both_kinds_of_products_run_forward_and_backward() -> None:
    """What takes the workspaces runs on any device."""
    method._take_workspaces(CPU)


@pytest.mark.gpu
def test_workspaces_are_in_no_peak() -> None:
    """The counter rises by what a product makes, and not by what the matrix library keeps."""
    before = memory_before(CUDA)
    x = torch.ones(256, 256, device="cuda", requires_grad=True)

    measured = peak_memory(lambda: (x @ x).sum().backward(), CUDA, before=before)

    assert measured is not None
    assert 2**18 <= measured.median < 2**22
    assert before == memory_before(CUDA) - 2 * 2**18


@pytest.mark.gpu
def test_peak_memory_of_known_tensors() -> None:
    """What the work makes is counted on top of what lay there, and freed again in between."""
    lying = torch.zeros(1_000_000, device="cuda")

    measured = peak_memory(lambda: (torch.ones_like(lying), None)[1], CUDA)

    assert measured is not None
    assert measured.unit == "bytes"
    assert measured.median >= 2 * lying.numel() * lying.element_size()
    assert measured.spread == 0.0


@pytest.mark.gpu
def test_real_events_agree_with_the_clock() -> None:
    """For work that keeps the device busy, both read nearly the same."""
    matrix = torch.randn(4096, 4096, device="cuda")

    measured = measure({"cuda": Arm(lambda: torch.mm(matrix, matrix), CUDA)})["cuda"]

    assert len(measured.device_samples) == len(measured.samples)
    assert measured.device_samples[0] == pytest.approx(measured.samples[0], rel=0.3)
