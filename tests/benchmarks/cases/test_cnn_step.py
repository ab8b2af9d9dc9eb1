"""A step of ResNet-18: the same work on every device, and every format learns."""

import math
from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, cnn_step
from results.entry import Entry
from tests.benchmarks.cases.stand_in import SmallNetwork


def measured(plan: Plan) -> dict[str, Entry]:
    """The entries of all parts."""
    return {name: entry for part in cnn_step.parts(plan) for name, entry in part.measure().items()}


def test_every_arm_runs_on_the_same_weights_and_images(
    tmp_path: Path, one_thread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the CPU as the GPU, all times are there, and first losses agree at each batch size."""
    monkeypatch.setattr(cnn_step, "ResNet", SmallNetwork)  # the next test steps the real one
    entries = measured(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    peaks = {name for name in cnn_step.ENTRIES if name.endswith("_peak")}
    assert set(cnn_step.ENTRIES) - peaks == set(entries)
    assert all(math.isfinite(entry.loss) for entry in entries.values())
    for batch in ("batch_8.", "batch_128."):
        first = [e.outcome["first_loss"] for n, e in entries.items() if n.startswith(batch)]
        assert first == pytest.approx([first[0]] * len(first), rel=0.02)
    float32 = [entries[f"batch_8.{device}_float32"].outcome for device in ("cpu", "cuda")]
    assert float32[0] == float32[1]


def test_settings_are_complete(tmp_path: Path, one_thread: None) -> None:
    """Model, image size, optimizer, batch size and format are beside the time."""
    [entry] = measured(Plan(tmp_path, quick=True, gpu=None)).values()

    assert entry.settings == {
        "model": "ResNet-18",
        "pixels": 32,
        "optimizer": "SGD, lr 0.01, momentum 0.9",
        "batch_size": 2,
        "autocast": "off",
        "loss_scaling": False,
        "tf32": False,
    }
    assert 2 == entry.amount


def test_a_full_run_has_resnet_18_and_the_sizes_that_the_names_say(tmp_path: Path) -> None:
    """The model has ResNet-18's 11.7 million parameters, the batch 8 images of 224 pixels."""
    [build] = cnn_step._steps(Plan(tmp_path, gpu=None), cnn_step.SMALL).values()

    step = build()

    assert 11_689_512 == sum(p.numel() for p in step.training.model.parameters())
    assert (8, 3, 224, 224) == step.batch[0].shape
    assert step.batch[0].std() == pytest.approx(1, abs=0.01)


@pytest.mark.gpu
def test_cnn_step_on_a_gpu(tmp_path: Path) -> None:
    """On any GPU everything is measured, and the GPU starts from the CPU's loss."""
    entries = measured(Plan(tmp_path, quick=True))

    cpu, cuda = (entries[f"batch_8.{device}_float32"].outcome for device in ("cpu", "cuda"))

    assert set(cnn_step.ENTRIES) == set(entries)
    assert cpu["first_loss"] == pytest.approx(cuda["first_loss"], rel=1e-3)
    assert all(math.isfinite(e.loss) for e in entries.values() if e.unit == "s")
