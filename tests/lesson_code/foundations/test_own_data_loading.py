"""Numbers that are drawn in workers, and images that are decoded once."""

import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torchvision import transforms

from lesson_code.foundations import own_data_loading
from lesson_code.foundations.made_up_writers import write_images
from lesson_code.foundations.own_data import ImageFiles, shifted, tensors, two_sets
from lesson_code.foundations.own_data_loading import (
    Draws,
    decode_once,
    normalised,
    own_seed,
    print_draws,
    print_times,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The images of three writers, of whom one is held out."""
    write_images(tmp_path, range(3))
    return tmp_path


def epochs(loader: DataLoader[torch.Tensor]) -> list[list[float]]:
    """For each generator what two workers draw in two epochs: four numbers."""
    return torch.stack([example for _ in range(2) for example in loader]).T.tolist()


@pytest.mark.parametrize(("how", "same"), [({}, 1), ({"persistent_workers": True}, 2)])
def test_workers_share_the_numbers_of_a_generator_that_was_made_before(how, same: int) -> None:
    """PyTorch seeds the other three; workers that stay go on with their copies."""
    *seeded, own = epochs(DataLoader(Draws(), batch_size=None, num_workers=2, **how))

    assert all(4 == len(set(numbers)) for numbers in seeded)
    assert (own[0], own[2]) == (own[1], own[3])
    assert same == len(set(own))


def test_what_a_spawned_worker_gets_draws_alike_too() -> None:
    """On Windows and macOS it is the data set, pickled and read again."""
    data = Draws()
    first, second = (pickle.loads(pickle.dumps(data)) for _ in range(2))

    assert first.own.random() == second.own.random()


class OwnTorch(Draws):
    """The same with a generator of PyTorch."""

    def __init__(self) -> None:
        self.own = SimpleNamespace(random=self.draw)
        self.generator = torch.Generator().manual_seed(0)

    def draw(self) -> float:
        """One number of it."""
        return torch.rand(1, generator=self.generator).item()


def test_a_torch_generator_of_ones_own_is_copied_too() -> None:
    """Both workers draw its first number."""
    own = epochs(DataLoader(OwnTorch(), batch_size=None, num_workers=2))[-1]

    assert 1 == len(set(own))


def test_a_seed_of_its_own_tells_workers_and_epochs_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed is the worker's; without workers there is no call, and the first generator stays."""
    own = epochs(DataLoader(Draws(), batch_size=None, num_workers=2, worker_init_fn=own_seed))[-1]
    worker = SimpleNamespace(dataset=Draws(), seed=7)
    monkeypatch.setattr(own_data_loading, "get_worker_info", lambda: worker)
    own_seed(1)

    assert 4 == len(set(own))
    assert 2 == len(worker.dataset)
    assert np.random.default_rng(7).random() == pytest.approx(worker.dataset[0][-1].item())


def test_the_table_of_draws_has_a_row_for_each_generator(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Four numbers each: those of the own one are all the same."""
    print_draws()
    _, _, *rows = (line.split() for line in capsys.readouterr().out.splitlines())

    assert [4, 4, 4, 1, 4] == [len(set(row[-4:])) for row in rows]


def test_a_worker_that_is_spawned_takes_functions_and_no_lambda(folder: Path) -> None:
    """A data set is pickled for it."""
    training, _, _ = two_sets(folder)
    training.transform = transforms.Compose([shifted])
    assert pickle.loads(pickle.dumps(training)).files == training.files

    training.transform = lambda image: image
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(training)


def test_bytes_hold_what_the_files_hold_in_a_quarter_of_the_memory(folder: Path) -> None:
    """Normalised in a batch, they are the validation images; a file may be mapped."""
    _, validation, kept = two_sets(folder)
    decode_once(ImageFiles(validation.files, kept["classes"]), folder / "decoded.pt")
    images, labels = tensors(validation)

    for mapped in (False, True):
        found = torch.load(folder / "decoded.pt", weights_only=True, mmap=mapped)
        rows = normalised(found["images"], kept["mean"], kept["std"])
        torch.testing.assert_close(images, rows)
        assert torch.equal(labels, found["labels"])
        assert images.nbytes == 4 * found["images"].nbytes
        del found, rows  # a mapped file cannot be deleted on Windows


def test_files_take_longer_than_the_step_and_far_longer_than_bytes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On a CPU, with images of 28 by 28."""
    print_times()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    one, files, rows, step = (float(line[-2]) for line in lines)

    assert {"ms"} == {line[-1] for line in lines}
    assert rows < step < files
    assert one < files
