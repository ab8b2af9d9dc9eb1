"""How we measure, against a clock that the test turns."""

import time

import pytest
import torch

from benchmarks.method import Arm, entry, measure, summarise

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


def test_summary_of_known_samples() -> None:
    """Median, ends and quartile distance are those of textbook numbers."""
    summary = summarise([5.0, 1.0, 2.0, 4.0, 3.0])

    assert summary.median == 3.0
    assert (summary.smallest, summary.largest) == (1.0, 5.0)
    assert summary.spread == 2.0
    assert summary.noisy


@pytest.mark.parametrize(("spread", "noisy"), [(0.14, False), (0.16, True)])
def test_noisy_means_a_spread_over_15_percent(spread: float, noisy: bool) -> None:
    """The mark comes from the quartiles' distance, relative to the median."""
    samples = [1 - spread, 1 - spread / 2, 1.0, 1 + spread / 2, 1 + spread]

    assert noisy == summarise(samples).noisy


def test_one_outlier_of_five_does_not_make_a_measurement_noisy() -> None:
    """A single disturbed run moves the largest value only."""
    summary = summarise([1.0, 1.0, 1.01, 1.01, 9.0])

    assert not summary.noisy
    assert summary.largest == 9.0


def test_no_samples_are_refused() -> None:
    """There is no summary of nothing."""
    with pytest.raises(ValueError, match="no sample"):
        summarise([])


def test_warmups_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow first run stands among the warm-ups and in no sample."""
    clock = Clock(monkeypatch)

    measured = measure({"a": Arm(clock.work(30.0, 1.0), CPU)}, repetitions=5)["a"]

    assert measured["warmups"] == [30.0]
    assert measured["samples"] == pytest.approx([1.0] * 5)


def test_short_work_is_repeated_within_a_sample_and_divided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A millisecond of work is done 50 times a sample, and the sample is still a millisecond."""
    clock = Clock(monkeypatch)
    work = clock.work(0.001)

    measured = measure({"a": Arm(work, CPU)}, repetitions=2, shortest_sample_s=0.05)["a"]

    assert measured["loops"] == 50
    assert measured["samples"] == pytest.approx([0.001, 0.001])
    assert len(work.started) == 1 + 2 * 50


def test_arms_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared work is interleaved, so a slow minute of the machine hits both."""
    clock = Clock(monkeypatch)
    first, second = clock.work(1.0), clock.work(2.0)

    measure({"a": Arm(first, CPU), "b": Arm(second, CPU)}, repetitions=3)

    assert first.started == [0, 3, 6, 9]
    assert second.started == [1, 4, 7, 10]


def test_loss_settings_and_seed_stand_beside_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timed training says what it reached."""
    clock = Clock(monkeypatch)

    measured = measure({"a": Arm(clock.work(1.0), CPU, {"batch_size": 64}, seed=3)})["a"]

    assert measured["loss"] == 0.25
    assert measured["settings"] == {"batch_size": 64}
    assert measured["seed"] == 3


def test_a_wrong_method_gives_a_wrong_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a device that runs ahead, a clock read without waiting measures the asking only."""
    clock = Clock(monkeypatch)
    done_at = 0.0

    def launch() -> None:
        nonlocal done_at
        clock.now += 0.001  # asking is quick
        done_at = clock.now + 1.0  # working is not

    def wait(_: torch.device) -> None:
        clock.now = max(clock.now, done_at)

    start = clock.now
    launch()
    without_waiting = clock.now - start
    monkeypatch.setattr("lesson_code.timing.synchronize", wait)
    [right] = measure({"a": Arm(launch, CPU)}, repetitions=1)["a"]["samples"]

    assert without_waiting == pytest.approx(0.001)
    assert right == pytest.approx(1.001)


def test_entry_leaves_out_what_is_not_known() -> None:
    """No key stands in a file with null in it."""
    assert "loss" not in entry([1.0], "s", device="cpu", loss=None)
