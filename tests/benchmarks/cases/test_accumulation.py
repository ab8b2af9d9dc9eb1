"""Gradient accumulation: the same update as one large batch, and on a GPU a lower peak."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.cases import Plan, accumulation
from benchmarks.cases._training_step import Training
from benchmarks.cases.accumulation import AccumulatedStep
from results.entry import Entry


def measured(plan: Plan) -> dict[str, Entry]:
    """The entries of all parts."""
    return {
        name: entry for part in accumulation.parts(plan) for name, entry in part.measure().items()
    }


def test_both_ways_run_and_the_small_model_learns_the_same(
    tmp_path: Path, one_thread: None
) -> None:
    """With the CPU as the GPU, all times are there; losses without batch normalisation agree."""
    entries = measured(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    assert set(accumulation.TIMES) == set(entries)
    assert all(math.isfinite(entry.loss) for entry in entries.values())
    one, four = (entries[f"mlp.cuda_{arm}"] for arm in accumulation.ARMS)
    assert one.outcome == pytest.approx(four.outcome, rel=1e-5)
    assert [1, 4] == [entry.settings["micro_batches"] for entry in (one, four)]
    assert {8} == {entry.amount for entry in entries.values()}


def test_accumulated_gradients_are_those_of_the_whole_batch() -> None:
    """Four losses, each divided by four, add up to the gradient of the mean over the batch."""
    torch.manual_seed(0)
    model, batch = nn.Linear(6, 3), (torch.randn(8, 6), torch.randint(3, (8,)))
    step = AccumulatedStep(Training(model, torch.device("cpu")), batch, {}, micro_batches=4)
    expected_loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
    expected_loss.backward()

    loss = step()

    assert expected_loss.item() == pytest.approx(loss)
    torch.testing.assert_close(model.weight.grad, step.training.model.weight.grad)


def test_on_a_cpu_only_the_small_model_is_timed(tmp_path: Path, one_thread: None) -> None:
    """Without a GPU both ways of the small model are there and nothing of ResNet-50."""
    entries = measured(Plan(tmp_path, quick=True, gpu=None))

    assert {"mlp.cpu_one_batch", "mlp.cpu_accumulated"} == set(entries)


@pytest.mark.gpu
def test_accumulation_lowers_the_peak_on_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any GPU: four small batches hold less at once than one large one."""
    monkeypatch.setattr(accumulation, "BATCH", 32)
    entries = measured(Plan(tmp_path))

    one, four = (entries[f"resnet50.cuda_{arm}_peak"].median for arm in accumulation.ARMS)

    assert set(accumulation.ENTRIES) == set(entries)
    assert four < one
    mlp = [entries[f"mlp.cuda_{arm}"].outcome for arm in accumulation.ARMS]
    assert mlp[0] == pytest.approx(mlp[1], rel=1e-3)
