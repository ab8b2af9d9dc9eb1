"""Two faults that raise nothing: what they leave of loss and accuracy."""

from pathlib import Path

import pytest

from benchmarks.cases import MissingDataError, Plan, quiet_faults
from lesson_code.foundations.losses import softmax_first_floor
from results.entry import Entry

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Entry]:
    """All arms on the images that ship with the lesson."""
    plan = Plan(tmp_path_factory.mktemp("data"), quick=True, gpu=None)
    return {
        name: found for part in quiet_faults.parts(plan) for name, found in part.measure().items()
    }


def test_every_arm_has_loss_and_accuracy(entries: dict[str, Entry]) -> None:
    """Accuracies are in percent, and each entry says what it was trained on."""
    assert set(quiet_faults.ENTRIES) == set(entries)
    for name, found in entries.items():
        assert ("percent" if name.endswith("accuracy") else "plain") == found.unit
        assert 6000 == found.settings["training_images"]


def test_softmax_first_shows_in_the_loss(entries: dict[str, Entry]) -> None:
    """With every optimizer it stays above its floor, and above the healthy run's."""
    for optimizer in quiet_faults.OPTIMIZERS:
        loss = entries[f"{optimizer}.softmax_first.loss"].median
        assert loss >= softmax_first_floor(10) - 1e-4
        assert loss > entries[f"{optimizer}.healthy.loss"].median


def test_without_a_reset_accuracy_is_lost(entries: dict[str, Entry]) -> None:
    """Plain SGD loses a quarter of the images or more."""
    healthy = entries["sgd.healthy.accuracy"].median

    assert entries["sgd.never_reset.accuracy"].median < healthy - 25


def test_nothing_stands_in_for_missing_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without MNIST the part says how to get it."""
    monkeypatch.setattr("lesson_code.data.full_mnist", lambda *_: None)
    first, *_ = quiet_faults.parts(Plan(tmp_path, gpu=None))

    with pytest.raises(MissingDataError, match="run `make data`"):
        first.measure()
