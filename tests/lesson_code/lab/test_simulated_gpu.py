"""The simulated GPU runs out of memory where it should, and remembers how it was treated."""

import contextlib

import pytest
import torch

from lesson_code.lab.simulated_gpu import CALLS, SimulatedGPU, modelled_seconds


def test_a_batch_fits_or_does_not() -> None:
    """The limit itself fits, one more raises what a real GPU raises."""
    gpu = SimulatedGPU(37)

    assert modelled_seconds(37) == gpu(37)
    with pytest.raises(torch.OutOfMemoryError, match="a batch of 38 does not fit"):
        gpu(38)
    assert [37, 38] == gpu.tried


def test_an_empty_batch_is_refused() -> None:
    """A search that goes below one sample has a bug, and no lack of memory."""
    with pytest.raises(ValueError, match="a batch has at least one sample, not 0"):
        SimulatedGPU(37)(0)


def test_a_search_without_end_is_ended() -> None:
    """Two hundred calls are more than any search needs."""
    gpu = SimulatedGPU(37)
    for _ in range(CALLS):
        gpu(1)

    assert 200 == len(gpu.tried)
    with pytest.raises(SystemExit, match="more than 200 times"):
        gpu(1)


def test_calls_while_an_exception_is_handled_are_noticed() -> None:
    """Inside `except` counts, after it does not."""
    careful, hasty = SimulatedGPU(37), SimulatedGPU(37)
    with contextlib.suppress(torch.OutOfMemoryError):
        careful(64)
    careful(32)
    try:
        hasty(64)
    except torch.OutOfMemoryError:
        hasty(32)

    assert not careful.called_while_handling
    assert hasty.called_while_handling


def test_the_modelled_time_has_its_best_batch_at_64() -> None:
    """Samples per second rise up to 64 and fall from there."""
    rates = {size: size / modelled_seconds(size) for size in (1, 32, 64, 100, 256)}

    assert 64 == max(rates, key=rates.__getitem__)
    assert [1524, 309] == [round(rates[64]), round(rates[256])]
