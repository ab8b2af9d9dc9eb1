"""Each wrong method reads what the page says it reads, and the right one the truth."""

import statistics

import pytest

from lesson_code.benchmarks import how_we_measure as methods
from lesson_code.benchmarks.how_we_measure import FIRST_S, LAUNCH_S, WORK_S, Clockwork


def warm_device() -> Clockwork:
    """A device that has served its first request and has nothing left to do."""
    device = Clockwork()
    device.launch()
    device.wait()
    return device


def test_without_waiting_the_clock_reads_the_asking() -> None:
    """Nothing of the work itself is in the number."""
    device = warm_device()

    assert methods.without_waiting(device.launch, device.clock) == pytest.approx(LAUNCH_S)


def test_without_warm_up_the_first_run_pays_for_everything() -> None:
    """The one-off cost is in the number."""
    device = Clockwork()
    seconds = methods.without_warm_up(device.launch, device.wait, device.clock)

    assert seconds == pytest.approx(LAUNCH_S + FIRST_S + WORK_S)


def test_waiting_afterwards_only_times_the_queue_too() -> None:
    """What was asked for before the clock started is in the number."""
    device = warm_device()
    seconds = methods.waiting_afterwards_only(device.launch, device.wait, device.clock)

    assert seconds == pytest.approx(2 * WORK_S)


def test_the_right_way_reads_the_truth_every_time() -> None:
    """Asking and working is what a run takes, in each of the samples."""
    device = Clockwork()
    samples = methods.well(device.launch, device.wait, device.clock, repetitions=7)

    assert [WORK_S + LAUNCH_S] * 7 == pytest.approx(samples)


def test_the_median_does_not_notice_one_disturbed_run() -> None:
    """The mean is nearly three times the truth, the median is the truth."""
    samples = methods.on_a_busy_machine()

    assert statistics.median(samples) == pytest.approx(WORK_S + LAUNCH_S)
    assert statistics.mean(samples) > 2.5 * WORK_S


def test_turns_that_are_turned_around_cancel_a_drift() -> None:
    """One after the other is far off, in turns is near, and there and back is right."""
    found = methods.print_turns()
    block, turns, there_and_back = found.values()

    assert block > 1.1
    assert 1.01 < turns < 1.03
    assert there_and_back == pytest.approx(1.0, abs=0.001)


def test_the_printed_readings_name_the_truth(capsys: pytest.CaptureFixture[str]) -> None:
    """The table begins with what every method should have read."""
    readings = methods.print_readings()
    methods.print_busy_machine()

    assert readings["the truth"] == WORK_S
    assert readings["warm-up, waiting twice"] == pytest.approx(WORK_S + LAUNCH_S)
    assert capsys.readouterr().out.startswith("the truth")
