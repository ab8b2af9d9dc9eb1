"""Statements on what we corrected, in lesson and foundations, that no other test covers."""

import time

import pytest
import torch


def test_gpu_memory_is_called_total_memory() -> None:
    """The property object has `total_memory`, and nothing called `total_mem`."""
    names = dir(torch._C._CudaDeviceProperties)

    assert "total_memory" in names
    assert "total_mem" not in names


def test_wall_clock_is_adjustable_and_perf_counter_is_not() -> None:
    """`time.time` may jump while one measures; `time.perf_counter` only goes forward."""
    assert time.get_clock_info("time").adjustable
    assert time.get_clock_info("perf_counter").monotonic


def test_synchronize_needs_a_driver() -> None:
    """`torch.cuda.synchronize` raises on a machine without a GPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        return

    with pytest.raises((RuntimeError, AssertionError)):
        torch.cuda.synchronize()


def test_accelerator_is_named_even_where_none_is() -> None:
    """A CUDA build names its accelerator unless it is asked to look for one."""
    if torch.cuda.is_available() or not torch.backends.cuda.is_built():
        expected = torch.accelerator.current_accelerator(check_available=True)
        assert torch.cuda.is_available() == (expected is not None)
        return

    assert "cuda" == str(torch.accelerator.current_accelerator())
    assert torch.accelerator.current_accelerator(check_available=True) is None
    assert not torch.accelerator.is_available()


def test_old_amp_module_is_deprecated() -> None:
    """`torch.cuda.amp` warns; `torch.amp` is its successor."""
    with pytest.warns(FutureWarning, match="deprecated"):
        torch.cuda.amp.GradScaler(enabled=False)


def test_one_seed_reaches_every_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """`torch.manual_seed` seeds all GPUs itself, so CUDA needs no call of its own."""
    seeds: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)

    with torch.random.fork_rng():
        torch.manual_seed(7)

    assert [7] == seeds
