"""A step of ResNet-50: every format and layout learns the same."""

import math
from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, resnet_step
from benchmarks.cases._training_step import resnet50
from results.entry import Entry
from tests.benchmarks.cases.stand_in import SmallNetwork


def measured(plan: Plan) -> dict[str, Entry]:
    """The entries of all parts."""
    return {
        name: entry for part in resnet_step.parts(plan) for name, entry in part.measure().items()
    }


def test_every_arm_runs_on_the_same_weights_and_images(
    tmp_path: Path, one_thread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the CPU as the GPU, all arms of a batch size are timed, from nearly the same loss."""
    # tests/benchmarks/cases/test_largest_batch.py steps the real one.
    monkeypatch.setattr(resnet_step, "resnet50", SmallNetwork)
    entries = measured(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    times = {name for name in resnet_step.TIMES if name.startswith("batch_32.")}
    first = [entry.outcome["first_loss"] for entry in entries.values()]
    assert times == set(entries)
    assert all(math.isfinite(entry.loss) for entry in entries.values())
    assert first == pytest.approx([first[0]] * len(first), rel=0.02)
    for name, entry in entries.items():
        assert name.endswith("_channels_last") == entry.settings["channels_last"]
        assert {"model", "pixels", "optimizer", "batch_size", "autocast", "tf32"} <= set(
            entry.settings
        )


def test_nothing_without_a_gpu(tmp_path: Path) -> None:
    """A CPU alone measures none of it."""
    assert [] == list(resnet_step.parts(Plan(tmp_path, gpu=None)))


def test_channels_last_reaches_model_and_images(tmp_path: Path) -> None:
    """Both lie in memory as the arm's name says."""
    steps = resnet_step._steps(
        Plan(tmp_path, quick=True, gpu=torch.device("cpu")), torch.device("cpu"), 32
    )

    step = steps["batch_32.cuda_float32_channels_last"]()
    usual = steps["batch_32.cuda_float32"]()

    assert step.batch[0].is_contiguous(memory_format=torch.channels_last)
    assert step.training.model.layer1[0].conv2.weight.is_contiguous(
        memory_format=torch.channels_last
    )
    assert usual.batch[0].is_contiguous()
    assert torch.equal(usual.batch[0], step.batch[0])


def test_the_full_model_is_resnet_50() -> None:
    """It has ResNet-50's 25.6 million parameters."""
    with torch.device("meta"):
        model = resnet50()

    assert 25_557_032 == sum(p.numel() for p in model.parameters())


@pytest.mark.gpu
def test_resnet_step_on_a_gpu(tmp_path: Path) -> None:
    """On any GPU every arm of a batch size has a time, a peak and a finite loss."""
    entries = measured(Plan(tmp_path, quick=True))

    names = {name for name in resnet_step.ENTRIES if name.startswith("batch_32.")}
    assert names == set(entries)
    assert all(math.isfinite(e.loss) for e in entries.values() if e.unit == "s")
