"""Exercise 4 keeps its parts and its figures of two models."""

import re
from pathlib import Path

import pytest

TEXT = Path("docs/lab/exercise-4.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("anchor", ["todos", "hints", "solution", "report", "measured"])
def test_a_part_is_there(anchor: str) -> None:
    """Other pages link to these parts."""
    assert f"{{ #{anchor} }}" in TEXT


def test_every_todo_is_a_task_to_tick() -> None:
    """From 4.1 to 4.8, once each and in order."""
    assert [f"4.{n}" for n in range(1, 9)] == re.findall(r"^- \[ \] \*\*(4\.\d)\*\*", TEXT, re.M)


@pytest.mark.parametrize(
    "figure",
    [
        *("mnist_epoch.cpu", "mnist_epoch.cuda", "mnist_epoch.resident_cuda"),
        *("small_resnet.mnist.cpu", "small_resnet.mnist.cuda", "small_resnet.classifier_speedup"),
        *("cnn_step.batch_8.cpu_float32", "cnn_step.batch_8.cuda_float32", "cnn_step.speedup"),
        *("amp.mnist.speedup", "cnn_step.amp_speedup", "cnn_step.batch_128.cuda_float16_peak"),
    ],
)
def test_both_models_stand_in_the_tables(figure: str) -> None:
    """Launch-bound and compute-heavy, on the CPU, on the GPU, and in mixed precision."""
    assert f"[[{figure}]]" in TEXT
