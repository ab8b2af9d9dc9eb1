"""The same steps in several formats: their losses, and the steps that a scaler skips."""

from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.cases import Plan, foundations_step
from lesson_code.foundations import acceleration
from results.entry import Entry

CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_format_learns_the_same(tmp_path: Path) -> None:
    """Each arm falls from about 2.3, and the formats stay close, the CPU standing in for a GPU."""
    plan = Plan(tmp_path, quick=True, gpu=CPU)

    entries: dict[str, Entry] = {}
    for part in foundations_step.parts(plan):
        entries |= part.measure()

    assert set(foundations_step.ENTRIES) == set(entries)
    for entry in entries.values():
        assert 2.0 < entry.outcome["loss_of_step_1"] < 2.7
        assert entry.median < entry.outcome["loss_of_step_1"] - 0.3
        assert pytest.approx(entries["cpu_float32"].median, abs=0.02) == entry.median
        assert 0 == entry.outcome["skipped_steps"]


def test_a_skipped_step_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a scale far too large the first steps are skipped until it has halved often enough."""
    plain = acceleration.set_up

    def overscaled(
        device: torch.device, dtype: torch.dtype
    ) -> tuple[nn.Module, torch.optim.Optimizer, torch.amp.GradScaler]:
        model, optimizer, _ = plain(device, dtype)
        return model, optimizer, torch.amp.GradScaler(device.type, init_scale=2.0**30)

    monkeypatch.setattr(foundations_step, "set_up", overscaled)

    losses, skipped = foundations_step.run(CPU, torch.float16, seed=0)

    assert 0 < skipped < foundations_step.STEPS
    assert losses[0] == losses[skipped] > losses[-1]


def test_the_cpu_is_measured_without_a_gpu(tmp_path: Path) -> None:
    """Then there is one part, with two formats."""
    [part] = foundations_step.parts(Plan(tmp_path, quick=True, gpu=None))

    assert {"cpu_float32", "cpu_bfloat16"} == set(part.measure())


@pytest.mark.gpu
def test_a_gpu_learns_as_well_in_each_format(tmp_path: Path) -> None:
    """On CUDA the three formats end close to the CPU's loss."""
    cpu, cuda = (part.measure() for part in foundations_step.parts(Plan(tmp_path, quick=True)))

    for entry in cuda.values():
        assert pytest.approx(cpu["cpu_float32"].median, abs=0.05) == entry.median
