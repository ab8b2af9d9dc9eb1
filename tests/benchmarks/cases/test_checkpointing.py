"""Activation checkpointing: the same losses, and on a GPU a lower peak."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.cases import Plan, checkpointing
from benchmarks.cases._training_step import resnet50
from results.entry import Entry


def measured(plan: Plan) -> dict[str, Entry]:
    """The entries of all parts."""
    return {
        name: entry for part in checkpointing.parts(plan) for name, entry in part.measure().items()
    }


@pytest.mark.parametrize("model", checkpointing.MODELS)
def test_checkpointing_changes_no_loss(model: str, tmp_path: Path, one_thread: None) -> None:
    """The losses of two steps agree, so forward, gradients and dropout's draws do."""
    entries = measured(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    plain, checkpointed = (entries[f"{model}.{arm}"] for arm in checkpointing.ARMS)
    assert plain.outcome == pytest.approx(checkpointed.outcome, rel=1e-5)
    assert all(math.isfinite(e.loss) for e in (plain, checkpointed))
    assert [False, True] == [e.settings["checkpointed"] for e in (plain, checkpointed)]
    assert set(checkpointing.TIMES) == set(entries)


def test_checkpointing_runs_each_stage_twice() -> None:
    """Forward and once more in the backward pass; without checkpointing only once."""
    calls = {}
    for checkpointed in (False, True):
        model, (inputs, labels) = checkpointing.staged_transformer(checkpointed, quick=True)
        seen = []
        model.stages[0].register_forward_pre_hook(lambda *_, seen=seen: seen.append(1))
        nn.functional.cross_entropy(model(inputs), labels).backward()
        calls[checkpointed] = len(seen)

    assert {False: 1, True: 2} == calls


def test_staged_resnet_is_resnet(one_thread: None) -> None:
    """Cut into stem, stages and head, it computes what torchvision's model computes."""
    staged, (images, _) = checkpointing.staged_resnet50(checkpointed=False, quick=True)
    whole = resnet50(quick=True)

    torch.testing.assert_close(staged(images), whole(images))


def test_nothing_without_a_gpu(tmp_path: Path) -> None:
    """A CPU keeps no count of its memory, so it measures none of it."""
    assert [] == list(checkpointing.parts(Plan(tmp_path, gpu=None)))


@pytest.mark.gpu
def test_checkpointing_lowers_the_peak_on_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any GPU: a lower peak for both models, and the same losses."""
    monkeypatch.setattr(checkpointing, "IMAGES", 16)
    monkeypatch.setattr(checkpointing, "SEQUENCES", 8)
    entries = measured(Plan(tmp_path))

    assert set(checkpointing.ENTRIES) == set(entries)
    for model in checkpointing.MODELS:
        plain, checkpointed = (f"{model}.{arm}" for arm in checkpointing.ARMS)
        assert entries[f"{checkpointed}_peak"].median < entries[f"{plain}_peak"].median
        assert entries[plain].outcome == pytest.approx(entries[checkpointed].outcome, rel=1e-2)
