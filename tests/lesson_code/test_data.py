"""MNIST is the same digits everywhere, on every machine, with or without a network."""

import gzip
import hashlib
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import Subset, TensorDataset
from torchvision import datasets

from lesson_code import data

HANGS_S = 60.0

SHA256 = {
    "train-images-idx3-ubyte": "eeb3f6547128aba76a81f45efcf68b570af273b3b3cbf8c2fc1278c559accb70",
    "train-labels-idx1-ubyte": "6126c21db3ebbf5f6c5a35367f106d1a2ee479dcfb161b7de54962e05b7ce6d7",
    "t10k-images-idx3-ubyte": "d353016623d61d7d75190455437c57a367f81866a607a1d686b6a0afd725d50d",
    "t10k-labels-idx1-ubyte": "36a2921a2f1378c9f834c85856c7f19fc85e97636abd8dd0ae14fe1c056e3ed1",
}


@pytest.fixture
def without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look-up of a host fails at once, as on a machine without a network."""

    def refuse(*_arguments: Any, **_options: Any) -> None:
        raise socket.gaierror("Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def silent_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every look-up of a host hangs, as behind a firewall that drops packets."""
    over = threading.Event()

    def hang(*_arguments: Any, **_options: Any) -> None:
        over.wait(HANGS_S)
        raise socket.gaierror("Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    yield
    over.set()


def all_images(dataset: Any) -> torch.Tensor:
    """Every image of a data set, as one tensor."""
    return torch.stack([dataset[i][0] for i in range(len(dataset))])


@pytest.mark.parametrize("name", data.RAW_FILES)
def test_subset_files_are_the_ones_that_were_checked(name: str) -> None:
    """The bytes are those that were compared with every tenth image of the original files."""
    content = gzip.decompress((data.SUBSET_FOLDER / f"{name}.gz").read_bytes())

    digest = hashlib.sha256(content).hexdigest()

    assert digest == SHA256[name]


@pytest.mark.parametrize(
    ("train", "count", "part"), [(True, 6000, "training"), (False, 1000, "test")]
)
def test_subset_has_its_counts_shapes_and_types(
    capsys: pytest.CaptureFixture[str], train: bool, count: int, part: str
) -> None:
    """6,000 and 1,000 images of (1, 28, 28), float32, with an int from 0 to 9; one line says so."""
    subset = data.load_mnist(train=train, source="subset")

    image, label = subset[0]

    assert len(subset) == count
    assert (image.shape, image.dtype) == ((1, 28, 28), torch.float32)
    assert isinstance(label, int)
    assert {subset[i][1] for i in range(count)} == set(range(10))
    assert capsys.readouterr().out == (
        f"data: MNIST subset, {count:,} {part} images that ship with the lesson\n"
    )


def test_pixels_run_from_minus_0_4242_to_2_8215() -> None:
    """Mean 0.1307 and deviation 0.3081 put black and white there, and the mean near zero."""
    images = all_images(data.load_mnist(source="subset"))

    assert images.min().item() == pytest.approx(-0.4242, abs=5e-5)
    assert images.max().item() == pytest.approx(2.8215, abs=5e-5)
    assert images.mean().item() == pytest.approx(0, abs=0.05)


def test_subset_equals_what_torchvision_reads_from_the_same_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Laid out, the subset is read by torchvision, and gives the same tensors and labels."""
    data.lay_out_subset(tmp_path)

    by_torchvision = data.load_mnist(tmp_path, train=False, source="full")

    ours = data.load_mnist(train=False, source="subset")
    assert f"data: MNIST, 1,000 test images from {tmp_path}\n" in capsys.readouterr().out
    assert isinstance(by_torchvision, datasets.MNIST)
    torch.testing.assert_close(all_images(ours), all_images(by_torchvision), rtol=0, atol=1e-6)
    assert [ours[i][1] for i in range(1000)] == [by_torchvision[i][1] for i in range(1000)]


def test_code_that_downloads_with_torchvision_runs_on_the_laid_out_subset(
    tmp_path: Path, without_network: None
) -> None:
    """`download=True` finds the files and asks no network."""
    data.lay_out_subset(tmp_path)

    dataset = datasets.MNIST(tmp_path, train=True, download=True)

    assert len(dataset) == 6000


def test_laying_out_leaves_files_alone_that_are_there(tmp_path: Path) -> None:
    """A full data set in the same place survives, and no partial file is left behind."""
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    (raw / "train-images-idx3-ubyte").write_bytes(b"mine")

    data.lay_out_subset(tmp_path)

    assert (raw / "train-images-idx3-ubyte").read_bytes() == b"mine"
    assert sorted(path.name for path in raw.iterdir()) == sorted(data.RAW_FILES)


def test_without_a_network_the_subset_comes_at_once(
    tmp_path: Path, without_network: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says which data are used; nothing is waited for.

    The best of three counts: on a busy machine, everything takes longer now and then.
    """
    elapsed_s = []
    for attempt in ("one", "two", "three"):
        capsys.readouterr()
        start = time.perf_counter()
        dataset = data.load_mnist(tmp_path / attempt)
        elapsed_s.append(time.perf_counter() - start)

    assert len(dataset) == 6000
    assert min(elapsed_s) < 3
    captured = capsys.readouterr()
    assert captured.out == "data: MNIST subset, 6,000 training images that ship with the lesson\n"
    assert captured.err == ""


def test_a_network_that_never_answers_is_waited_for_a_few_seconds(
    tmp_path: Path, silent_network: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Name resolution that hangs costs a few seconds, and the subset follows."""
    start = time.perf_counter()
    dataset = data.load_mnist(tmp_path, train=False)
    elapsed_s = time.perf_counter() - start

    assert len(dataset) == 1000
    assert elapsed_s < 0.5 * HANGS_S
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_mirror_that_breaks_off_leads_to_the_subset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A host that answers the question and then refuses the files is given up without a word."""

    class Answer:
        def __enter__(self) -> "Answer":
            return self

        def __exit__(self, *_error: object) -> None:
            return None

    def open_head_only(request: urllib.request.Request, **_options: Any) -> Answer:
        if request.get_method() == "HEAD":
            return Answer()
        raise urllib.error.URLError("refused")

    monkeypatch.setattr(urllib.request, "urlopen", open_head_only)
    patience_s = socket.getdefaulttimeout()

    dataset = data.load_mnist(tmp_path)

    assert len(dataset) == 6000
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert socket.getdefaulttimeout() == patience_s


def test_the_full_set_that_cannot_be_had_is_named_with_a_remedy(
    tmp_path: Path, without_network: None
) -> None:
    """`source="full"` never falls back: it says where it looked and what to do."""
    with pytest.raises(FileNotFoundError) as error:
        data.load_mnist(tmp_path, source="full")

    assert str(error.value) == (
        f"MNIST is not in {tmp_path / 'MNIST' / 'raw'} and could not be downloaded; "
        "run `make data`, or use the subset"
    )


def test_the_split_of_mnist_is_55000_and_5000() -> None:
    """One image in twelve is set aside, and at batch size 64 an epoch has 860 and 79 batches."""
    mnist_sized = TensorDataset(torch.arange(60_000))

    training, validation = data.split_training_data(mnist_sized)

    sizes = (len(training), len(validation))
    assert sizes == (55_000, 5_000)
    assert tuple(-(-size // 64) for size in sizes) == (860, 79)


def test_the_split_of_the_subset_is_5500_and_500() -> None:
    """The same share of the subset, without an image in both parts."""
    training, validation = data.split_training_data(TensorDataset(torch.arange(6000)))

    one, other = (set(part.indices) for part in (training, validation))  # type: ignore[attr-defined]

    assert (len(one), len(other)) == (5500, 500)
    assert one.isdisjoint(other)


def test_the_split_depends_on_the_seed_and_on_nothing_else() -> None:
    """The same seed gives the same images whatever the global generator did; another does not."""
    numbers: Any = TensorDataset(torch.arange(6000))

    first: Any = data.split_training_data(numbers, seed=42)[1]
    torch.rand(3)
    again: Any = data.split_training_data(numbers, seed=42)[1]
    other: Any = data.split_training_data(numbers, seed=43)[1]

    assert first.indices == again.indices
    assert first.indices != other.indices


def test_loaders_have_the_batches_of_the_lesson() -> None:
    """5,500, 500 and 1,000 images in batches of 64, the last of each smaller."""
    loaders = data.make_loaders(source="subset")

    sizes = [[len(labels) for _, labels in loader] for loader in loaders]

    assert [sum(batches) for batches in sizes] == [5500, 500, 1000]
    assert [batches[-1] for batches in sizes] == [60, 52, 40]
    assert {size for batches in sizes for size in batches[:-1]} == {64}


def test_only_the_training_loader_shuffles_and_always_alike() -> None:
    """Two runs with one seed see the same batches; each epoch of a run has an order of its own."""

    def labels_of(loader: Any) -> list[int]:
        return torch.cat([labels for _, labels in loader]).tolist()

    one, validation, _ = data.make_loaders(source="subset")
    two, _, _ = data.make_loaders(source="subset")
    torch.rand(3)

    first_epoch, second_epoch = labels_of(one), labels_of(one)

    assert first_epoch == labels_of(two)
    assert first_epoch != second_epoch
    assert labels_of(validation) == labels_of(validation)


def test_synthetic_digits_have_mnists_shapes() -> None:
    """Images (N, 1, 28, 28) float32 and labels (N,) int64 of ten classes, in both parts."""
    images, labels, validation_images, validation_labels = data.synthetic_digits()

    assert (images.shape, images.dtype) == ((2048, 1, 28, 28), torch.float32)
    assert (labels.shape, labels.dtype) == ((2048,), torch.int64)
    assert (validation_images.shape, validation_labels.shape) == ((512, 1, 28, 28), (512,))
    assert set(labels.tolist()) == set(range(10))


def test_synthetic_digits_are_drawn_in_the_order_that_was_measured() -> None:
    """The most frequent validation class holds 11.1 %, as where the numbers come from."""
    labels = data.synthetic_digits()[3]

    share = labels.bincount().max().item() / len(labels)

    assert share == pytest.approx(0.111, abs=5e-4)


def test_synthetic_digits_depend_on_the_seed_alone() -> None:
    """The same seed draws the same numbers, another seed others."""
    first, again, other = (data.synthetic_digits(8, 2, seed)[0] for seed in (0, 0, 1))

    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_the_command_lays_out_the_subset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m lesson_code.data FOLDER` succeeds and says where the files are."""
    code = data.main([str(tmp_path)])

    assert code == 0
    assert capsys.readouterr().out == f"the MNIST subset lies in {tmp_path / 'MNIST' / 'raw'}\n"


def test_the_command_names_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file where the folder should be: one sentence, exit code 2, the file unharmed."""
    file = tmp_path / "data"
    file.write_text("mine")

    code = data.main([str(file)])

    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.startswith(f"error: can't write to {file}: ")
    assert captured.err.count("\n") == 1
    assert file.read_text() == "mine"


def test_as_tensors_gives_what_the_set_gives_one_by_one(tmp_path: Path) -> None:
    """The same values and shapes from the subset, torchvision's set, and a part of one."""
    data.lay_out_subset(tmp_path)
    for dataset in (
        data.load_mnist(tmp_path, False, "subset"),
        data.load_mnist(tmp_path, False, "full"),
        Subset(data.load_mnist(tmp_path, False, "subset"), range(7)),
    ):
        images, labels = data.as_tensors(dataset)
        for index in (0, 3, 6):
            image, label = dataset[index]

            torch.testing.assert_close(image, images[index])
            assert label == int(labels[index])
        assert (labels.dtype, images.shape[1:]) == (torch.int64, (1, 28, 28))
