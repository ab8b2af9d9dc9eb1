"""A step of the small residual network: the same digits on every device, beside the classifier."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.cases import Plan, small_resnet
from lesson_code.models import MNISTClassifier, ResidualBlock, SmallResNet
from results.entry import Entry


class Narrow(nn.Sequential):
    """One residual block of four channels in the place of three blocks."""

    def __init__(self) -> None:
        super().__init__(
            ResidualBlock(1, 4, stride=4), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(4, 10)
        )


def measured(plan: Plan) -> dict[str, Entry]:
    """The entries of all parts."""
    parts = small_resnet.parts(plan)
    return {name: entry for part in parts for name, entry in part.measure().items()}


def test_every_arm_runs_on_the_same_weights_and_digits(
    tmp_path: Path, one_thread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the CPU as the GPU, all times are there, and first losses agree at each batch size."""
    # In formats that a CPU lacks the real one takes long; the next test steps it.
    monkeypatch.setattr(small_resnet, "SmallResNet", Narrow)
    entries = measured(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    peaks = {name for name in small_resnet.ENTRIES if name.endswith("_peak")}
    assert set(small_resnet.ENTRIES) - peaks == set(entries)
    assert all(math.isfinite(entry.loss) for entry in entries.values())
    for arms in ("batch_64.", "batch_1024.", "mnist."):
        first = [e.outcome["first_loss"] for n, e in entries.items() if n.startswith(arms)]
        assert first == pytest.approx([first[0]] * len(first), rel=0.02)


def test_settings_are_complete(tmp_path: Path, one_thread: None) -> None:
    """Model, optimizer, batch size and format are beside the time; without a GPU there are two."""
    entries = measured(Plan(tmp_path, quick=True, gpu=None))

    float32 = {"batch_size": 2, "autocast": "off", "loss_scaling": False, "tf32": False}
    assert {
        "mnist.cpu": {"model": "MNISTClassifier", "optimizer": "Adam, lr 1e-3", **float32},
        "batch_64.cpu_float32": {"model": "SmallResNet", "optimizer": "Adam, lr 1e-3", **float32},
    } == {name: entry.settings for name, entry in entries.items()}


def test_a_full_run_has_the_lessons_models_and_batches_of_64(tmp_path: Path) -> None:
    """64 digits that ship with the lesson, for the classifier and the residual network."""
    steps = [build() for build in small_resnet._steps(Plan(tmp_path, gpu=None), 64).values()]

    assert [MNISTClassifier, SmallResNet] == [type(step.training.model) for step in steps]
    assert [(64, 1, 28, 28)] * 2 == [step.batch[0].shape for step in steps]


@pytest.mark.gpu
def test_small_resnet_on_a_gpu(tmp_path: Path) -> None:
    """On any GPU everything is measured, and the GPU starts from the CPU's loss."""
    entries = measured(Plan(tmp_path, quick=True))

    cpu, cuda = (
        entries[f"batch_64.{device}_float32"].outcome["first_loss"] for device in ("cpu", "cuda")
    )
    assert set(small_resnet.ENTRIES) == set(entries)
    assert cpu == pytest.approx(cuda, rel=1e-3)
    assert all(math.isfinite(e.loss) for e in entries.values() if e.unit == "s")
