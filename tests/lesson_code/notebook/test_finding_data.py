"""The notebook takes the best digits that it can have, and says which."""

from pathlib import Path

import pytest
from torch.utils.data import DataLoader

import lesson_code.data
from lesson_code.data import SUBSET_FOLDER, lay_out_subset
from lesson_code.notebook.finding_data import find_digits, find_subset


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with nothing beside it, on a machine without a network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lesson_code.data, "_mirror_answers", lambda: False)
    return tmp_path


@pytest.mark.parametrize("source", ["auto", "full"])
def test_files_of_mnist_come_first(alone: Path, source: str) -> None:
    """What lies where torchvision looks is MNIST."""
    lay_out_subset(alone / "data")

    (training, test), which = find_digits(source, alone / "data")

    assert "MNIST" == which
    assert [6000, 1000] == [len(training), len(test)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "place", ["mnist_subset", "../mnist_subset", "../lesson_code/mnist_subset"]
)
@pytest.mark.parametrize("source", ["auto", "subset"])
def test_the_digits_of_the_lesson_come_second(
    alone: Path, monkeypatch: pytest.MonkeyPatch, place: str, source: str
) -> None:
    """They are found beside the notebook, above it, and in the project."""
    folder = alone / "notebook"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).symlink_to(SUBSET_FOLDER)

    (training, test), which = find_digits(source, Path("data"))

    assert "a tenth of MNIST, real digits" == which
    assert [6000, 1000] == [len(training), len(test)]  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["auto", "synthetic"])
def test_made_up_patterns_come_last(alone: Path, source: str) -> None:
    """Without anything they have MNIST's shapes, and the words say that they are no digits."""
    (training, _), which = find_digits(source, alone / "data")

    images, labels = next(iter(DataLoader(training, 64)))
    assert "no digits" in which
    assert [(64, 1, 28, 28), (64,)] == [tuple(images.shape), tuple(labels.shape)]
    assert find_subset() is None


@pytest.mark.parametrize(
    ("source", "problem"),
    [("full", "neither in data nor"), ("subset", "there is no folder mnist_subset")],
)
def test_what_is_asked_for_by_name_is_not_replaced(alone: Path, source: str, problem: str) -> None:
    """One kind alone fails with a sentence if it can't be had."""
    with pytest.raises(FileNotFoundError, match=problem):
        find_digits(source, Path("data"))


def test_an_unknown_kind_names_the_known_ones() -> None:
    """The message lists what may be there."""
    with pytest.raises(ValueError, match='DATA is \'all\'; choose "auto", "full"'):
        find_digits("all", Path("data"))
