"""The solutions of the exercises do what the exercises ask for."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.data import synthetic_digits
from lesson_code.gpu_training import practice


@pytest.fixture(scope="module")
def loaders() -> tuple[DataLoader[tuple[torch.Tensor, ...]], DataLoader[tuple[torch.Tensor, ...]]]:
    """Small loaders over made-up digits."""
    images, labels, test_images, test_labels = synthetic_digits(512, 128)
    return (
        DataLoader(TensorDataset(images, labels), 64),
        DataLoader(TensorDataset(test_images, test_labels), 64),
    )


def test_exercise_1_reports_seconds_and_a_falling_loss(device: torch.device, loaders) -> None:
    """Timing a run gives positive seconds and one falling loss for each epoch."""
    seconds, losses = practice.time_training(device, loaders[0], epochs=3)

    assert seconds > 0
    assert len(losses) == 3
    assert losses[-1] < losses[0]


def test_exercise_1_compares_equal_runs(loaders) -> None:
    """Two timed runs on one device start from the same weights and end at the same loss."""
    cpu = torch.device("cpu")

    first, second = (practice.time_training(cpu, loaders[0], epochs=1)[1] for _ in range(2))

    assert first == second


def test_exercise_1_times_every_batch_of_the_loader() -> None:
    """The loader-only pass goes through all batches."""
    batches = iter([1, 2, 3])

    seconds = practice.loader_seconds(batches)  # type: ignore[arg-type]

    assert seconds >= 0
    assert list(batches) == []


def test_exercise_2_carries_the_model_to_the_cpu(loaders, tmp_path: Path) -> None:
    """A model that was saved on the training device answers the same on the CPU."""
    path = tmp_path / "saved_models" / "gpu_checkpoint.pth"  # in a folder that is not there yet

    assert practice.carry_across(str(path), *loaders)


def test_saving_makes_no_folder(tmp_path: Path) -> None:
    """So the exercise asks for it first, before anything is trained."""
    with pytest.raises(RuntimeError, match="Parent directory"):
        torch.save({"epoch": 4}, tmp_path / "saved_models" / "gpu_checkpoint.pth")


def test_exercise_3_compares_both_precisions(loaders) -> None:
    """Both runs are timed, and on a CPU the mixed run falls back to float32 exactly."""
    results = practice.compare_precisions(lambda: loaders[0], loaders[1], epochs=1)

    assert list(results) == ["float32", "mixed"]
    assert all(seconds > 0 and 0 <= accuracy <= 100 for seconds, accuracy in results.values())
    if not torch.cuda.is_available():
        assert results["float32"][1] == results["mixed"][1]


def test_exercise_3_warms_up_each_run(loaders, monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch before each clock, in that run's own precision, so that neither pays for both."""
    trained: list[int] = []
    train = practice.train_one_epoch_amp

    def counted(model: Any, batches: Any, *rest: Any) -> float:
        trained.append(len(batches))
        return train(model, batches, *rest)

    monkeypatch.setattr(practice, "train_one_epoch_amp", counted)

    practice.compare_precisions(lambda: loaders[0], loaders[1], epochs=2)

    whole = len(loaders[0])
    assert [1, whole, whole] * 2 == trained
