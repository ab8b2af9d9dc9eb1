"""Pinned batches are on the CPU, and an exception holds what its frame held."""

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.lab.placement import print_failed_step, print_pinned_batch


def test_a_pinned_loader_gives_cpu_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    """The batch is on the CPU in any case; without an accelerator a warning says so."""
    print_pinned_batch()

    out = capsys.readouterr().out
    pinned = torch.cuda.is_available()
    assert out.startswith(f"device: cpu\npinned: {pinned}\n")
    assert ("no accelerator is found" in out) is not pinned


def test_on_a_mac_a_pinned_loader_warns_and_pins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`mps` is an accelerator, and the loader does not pin for it."""
    monkeypatch.setattr("torch.accelerator.is_available", lambda: True)
    monkeypatch.setattr("torch.accelerator.current_accelerator", lambda: torch.device("mps"))
    loader = DataLoader(TensorDataset(torch.arange(4)), pin_memory=True)

    with pytest.warns(UserWarning, match="not supported on MPS"):
        batches = [batch for (batch,) in loader]

    assert not any(batch.is_pinned() for batch in batches)


def test_the_exception_keeps_the_tensors_of_the_failed_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Inside ``except`` the tensor is alive; after the block it is gone."""
    print_failed_step()

    assert ["inside except: still held", "after except:  gone"] == (
        capsys.readouterr().out.splitlines()
    )


def test_out_of_memory_has_two_names() -> None:
    """One error, under two names, and a RuntimeError."""
    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError
    assert issubclass(torch.OutOfMemoryError, RuntimeError)
