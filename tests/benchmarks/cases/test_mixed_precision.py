"""Mixed precision: every arm runs, the formats learn the same, and the accuracies stay close."""

import math
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, mixed_precision
from lesson_code.data import lay_out_subset
from lesson_code.models import parameter_count
from results.entry import Entry


def measured(plan: Plan, *names: str) -> dict[str, Entry]:
    """The entries of all parts, or of those that are named."""
    parts = [p for p in mixed_precision.parts(plan) if not names or p.name in names]
    return {name: entry for part in parts for name, entry in part.measure().items()}


def test_every_arm_runs_and_learns(tmp_path: Path, one_thread: None) -> None:
    """With the CPU as the GPU, all times and accuracies are there; the first losses agree."""
    plan = Plan(tmp_path, quick=True, gpu=torch.device("cpu"))

    entries = measured(plan)

    peaks = {name for name in mixed_precision.ENTRIES if name.endswith("_peak")}
    assert set(mixed_precision.ENTRIES) - peaks == set(entries)
    assert all(math.isfinite(entry.loss) for entry in entries.values())
    for model in ("mnist", "large"):
        first = [e.outcome["first_loss"] for n, e in entries.items() if _is_time(n, model)]
        assert first == pytest.approx([first[0]] * len(first), rel=1e-3)
    accuracies = [e.median for n, e in entries.items() if n.endswith("_accuracy")]
    assert min(accuracies) > 75
    assert max(accuracies) - min(accuracies) < 3


def test_settings_say_what_an_arm_computes_in(tmp_path: Path, one_thread: None) -> None:
    """Autocast's format, loss scaling, TF32 and the batch size are beside every time."""
    plan = Plan(tmp_path, quick=True, gpu=torch.device("cpu"))

    entries = measured(plan, "large")

    settings = {name.partition("_")[2]: entry.settings for name, entry in entries.items()}
    formats = {name: (s["autocast"], s["loss_scaling"], s["tf32"]) for name, s in settings.items()}
    assert formats == {
        "float32": ("off", False, False),
        "tf32": ("off", False, True),
        "bfloat16": ("bfloat16", False, False),
        "float16": ("float16", True, False),
    }
    assert {32} == {s["batch_size"] for s in settings.values()}
    assert {32} == {entry.amount for entry in entries.values()}


def test_without_a_gpu_only_the_small_model_is_measured(tmp_path: Path, one_thread: None) -> None:
    """A CPU alone gives float32 and bfloat16 of the MNIST classifier, and nothing of a GPU."""
    entries = measured(Plan(tmp_path, quick=True, gpu=None))

    assert {
        f"mnist.cpu_{f}{what}" for f in ("float32", "bfloat16") for what in ("", "_accuracy")
    } == (set(entries))


def test_the_large_model_has_tens_of_millions_of_parameters(tmp_path: Path) -> None:
    """Four layers of width 4096 behind 784 inputs, and ten scores."""
    model, (inputs, _), _, settings = mixed_precision._large(Plan(tmp_path, gpu=None))

    widths = [784, 4096, 4096, 4096, 4096, 10]
    expected = sum((a + 1) * b for a, b in pairwise(widths))
    assert expected == parameter_count(model) == settings["parameters"]
    assert (1024, 784) == inputs.shape


@pytest.mark.gpu
def test_mixed_precision_on_a_gpu(tmp_path: Path) -> None:
    """On any GPU: everything is measured, and the accuracies lie within one point."""
    lay_out_subset(tmp_path)
    entries = measured(Plan(tmp_path, quick=True), "mnist", "large", "mnist.peak", "large.peak")
    entries |= measured(Plan(tmp_path), "mnist.accuracy")  # all epochs and seeds

    accuracies = [e.median for n, e in entries.items() if n.endswith("_accuracy")]

    assert set(mixed_precision.ENTRIES) == set(entries)
    assert max(accuracies) - min(accuracies) < 1
    assert all(math.isfinite(e.loss) for e in entries.values() if e.unit == "s")
    assert all(e.median > 0 for e in entries.values())


def _is_time(name: str, model: str) -> bool:
    return name.startswith(f"{model}.") and not name.endswith("_accuracy")
