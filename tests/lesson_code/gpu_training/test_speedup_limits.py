"""The arithmetic of what a GPU can gain agrees with counting, and with what the page says."""

import math

import pytest

from lesson_code.gpu_training.speedup_limits import Device, crossing, whole_speedup

CPU = Device(fixed_s=20e-6, sample_s=3e-6)
GPU = Device(fixed_s=300e-6, sample_s=0.2e-6)


@pytest.mark.parametrize("share", [0.1, 0.6, 1.0])
def test_an_epoch_takes_what_stays_and_what_gets_faster(share: float) -> None:
    """Counted in seconds: an epoch of 100, of which a share is loading."""
    loading, training = 100 * share, 100 * (1 - share)

    assert 100 / (loading + training / 10) == pytest.approx(whole_speedup(share, 10))
    assert 1.0 == pytest.approx(whole_speedup(share, 1))
    assert 1 / share == pytest.approx(whole_speedup(share, math.inf))


@pytest.mark.parametrize(
    "gpu", [GPU, Device(300e-6, 0.1e-6), Device(150e-6, 0.2e-6), Device(25e-6, 2.9e-6)]
)
def test_the_crossing_is_where_counting_finds_it(gpu: Device) -> None:
    """The first batch size that is faster on the GPU lies just above it."""
    wins = [size for size in range(1, 1000) if gpu.step_s(size) < CPU.step_s(size)]

    assert math.floor(crossing(CPU, gpu)) + 1 == wins[0]
    assert list(range(wins[0], 1000)) == wins


def test_a_gpu_without_a_fixed_cost_always_wins_and_a_slow_one_never() -> None:
    """There is no batch size below zero, and none beyond all."""
    assert 0.0 == crossing(CPU, Device(10e-6, 1e-6))
    assert math.inf == crossing(CPU, Device(300e-6, 3e-6))


def test_launching_moves_the_crossing_and_arithmetic_hardly_does() -> None:
    """What the page says: half the fixed cost, less than half the batch; twice the speed, 4 %."""
    before = crossing(CPU, GPU)

    assert 0.95 * before < crossing(CPU, Device(300e-6, 0.1e-6)) < before
    assert 0.4 * before < crossing(CPU, Device(150e-6, 0.2e-6)) < 0.5 * before
