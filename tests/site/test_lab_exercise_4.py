"""Exercise 4 keeps its parts, its figures of two models, and its corrections."""

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
    "phrase",
    [
        "debug on the CPU with few batches, train on the GPU, switch mixed precision on",
        "there is no factor that your script has to reach",
        "you can say what limits it",
        "says nothing about a GPU",
        "read the whole message, printed the device of everything that takes part, tried a smaller",
        "with exit code 2",
        "leaves memory in reserve",
        "python -m lesson_code.lab check 4 my-lab/04_accelerated_training.py",
    ],
)
def test_a_phrase_is_kept(phrase: str) -> None:
    """What the exercise is there to say."""
    assert phrase in TEXT


@pytest.mark.parametrize(
    "figure",
    [
        *("mnist_epoch.cpu", "mnist_epoch.cuda", "mnist_epoch.resident_cuda"),
        *("cnn_step.batch_8.cpu_float32", "cnn_step.batch_8.cuda_float32", "cnn_step.speedup"),
        *("amp.mnist.speedup", "cnn_step.amp_speedup", "cnn_step.peak_memory_saving"),
    ],
)
def test_both_models_stand_in_the_tables(figure: str) -> None:
    """Launch-bound and compute-heavy, on the CPU, on the GPU, and in mixed precision."""
    assert f"[[{figure}]]" in TEXT


@pytest.mark.parametrize(
    "wrong",
    [
        r"\b120 s",  # an epoch of MNIST takes no minutes
        r"8\.2 GB",
        r"\d\s*[–-]\s*\d\s*×",  # a range of speed-ups for every model
        r"torch\.cuda\.amp",
        r"(?i)always (use|set) .?pin_memory",
        r"(?i)anti-pattern",
        r"(?i)until (it runs )?out of memory",
        r"time\.time\(",
    ],
)
def test_a_wrong_claim_stays_away(wrong: str) -> None:
    """What cannot happen with this model, or must not be advised."""
    assert not re.search(wrong, TEXT)
