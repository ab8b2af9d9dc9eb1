"""Statements of the page "What we corrected in the lab" that no other test covers."""

import inspect

import pytest
import torch


def test_autocast_wants_a_device_type() -> None:
    """`torch.autocast` without an argument is an error that names what is missing."""
    with pytest.raises(TypeError, match="device_type"):
        torch.autocast()  # type: ignore[call-arg]


def test_memory_timeline_of_the_profiler_is_deprecated() -> None:
    """The notice on `export_memory_timeline` sends one to the allocator's history."""
    notice = getattr(torch.profiler.profile.export_memory_timeline, "__deprecated__", "")

    assert "deprecated" in notice
    assert "torch.cuda.memory._record_memory_history" in notice


def test_utilisation_is_a_share_of_time() -> None:
    """Documented as the time in which at least one kernel ran, as `nvidia-smi` shows it."""
    documented = " ".join((torch.cuda.utilization.__doc__ or "").split())

    assert "percent of time" in documented
    assert "one or more kernels was executing" in documented
    assert "nvidia-smi" in documented


def test_emulated_bfloat16_can_be_left_out_of_the_question() -> None:
    """Without the argument a GPU that only emulates bfloat16 says that it has it."""
    asked = inspect.signature(torch.cuda.is_bf16_supported).parameters["including_emulation"]

    assert asked.default is True
