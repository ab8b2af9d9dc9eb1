"""MNIST for every machine: the full set where it can be had, a real part of it where not.

``lesson_code/mnist_subset`` holds every tenth image of the original files, so tests, notebooks and
machines without a network train on real digits too. Nothing here waits long for a network:
one attempt, a few seconds, then the subset.

Shapes: an image is (1, 28, 28), float32; B is the batch size.
"""

import argparse
import gzip
import shutil
import socket
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Literal

import torch
from torch.utils.data import DataLoader, Dataset, random_split
from torchvision import datasets, transforms

Source = Literal["auto", "full", "subset"]

SUBSET_FOLDER = Path(__file__).parent / "mnist_subset"

# --8<-- [start:normalise]
Sample = tuple[torch.Tensor, int]
PIXEL_MEAN = 0.1307
PIXEL_STD = 0.3081
CLASSES = 10
RAW_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
NETWORK_PATIENCE_S = 4.0

to_normalised_tensor = transforms.Compose(
    [
        transforms.ToTensor(),  # bytes 0..255 -> float32 0..1
        transforms.Normalize((PIXEL_MEAN,), (PIXEL_STD,)),  # -> -0.4242 .. 2.8215
    ]
)
# --8<-- [end:normalise]


def load_mnist(
    root: str | Path = "data", train: bool = True, source: Source = "auto"
) -> Dataset[Sample]:
    """MNIST with the lesson's normalisation; says in one line which part of it was used.

    Args:
        root: The folder in which ``MNIST/raw`` lies or is made.
        train: The training part, else the test part.
        source: ``"full"`` for the original files, ``"subset"`` for the part that ships with the
            lesson, ``"auto"`` for the first if it is there or can be downloaded, else the second.

    Returns:
        A data set of ((1, 28, 28) float32, label).

    Raises:
        FileNotFoundError: If ``source`` is ``"full"`` and the files can't be had.
    """
    part = "training" if train else "test"
    if source != "subset":
        dataset = full_mnist(Path(root), train)
        if dataset is not None:
            print(f"data: MNIST, {len(dataset):,} {part} images from {root}")
            return dataset
        if source == "full":
            raise FileNotFoundError(
                f"MNIST is not in {Path(root) / 'MNIST' / 'raw'} and could not be downloaded; "
                "run `make data`, or use the subset"
            )
    subset = _subset(train)
    print(f"data: MNIST subset, {len(subset):,} {part} images that ship with the lesson")
    return subset


# --8<-- [start:split_training_data]
def split_training_data(
    dataset: Dataset[Sample], seed: int = 42
) -> tuple[Dataset[Sample], Dataset[Sample]]:
    """Set one image in twelve aside for validation: 55,000 and 5,000 of MNIST's 60,000."""
    total = len(dataset)  # type: ignore[arg-type]
    held_out = total // 12
    generator = torch.Generator().manual_seed(seed)
    training, validation = random_split(dataset, [total - held_out, held_out], generator)
    return training, validation


# --8<-- [end:split_training_data]


def as_tensors(dataset: Dataset[Sample]) -> tuple[torch.Tensor, torch.Tensor]:
    """Every image and label of a set at once, normalised as one by one, but in one go.

    Args:
        dataset: What ``load_mnist`` returned.

    Returns:
        Images (N, 1, 28, 28), float32, and labels (N,), int64.
    """
    if isinstance(dataset, datasets.MNIST):
        pixels, labels = dataset.data, dataset.targets
    elif isinstance(dataset, _Subset):
        pixels, labels = dataset.images, dataset.labels
    else:
        samples = [dataset[i] for i in range(len(dataset))]  # type: ignore[arg-type]
        images = [image for image, _ in samples]
        return torch.stack(images), torch.tensor([label for _, label in samples])
    normalised = pixels.float().div(255).sub(PIXEL_MEAN).div(PIXEL_STD)
    return normalised.unsqueeze(1), labels.long()


def make_loaders(
    batch_size: int = 64, root: str | Path = "data", source: Source = "auto", seed: int = 42
) -> tuple[DataLoader[Sample], DataLoader[Sample], DataLoader[Sample]]:
    """Loaders for training, validation and test; only the first one shuffles.

    Args:
        batch_size: Images in a batch; the last batch of each loader may be smaller.
        root: The folder in which the data lie.
        source: Which MNIST to use, see ``load_mnist``.
        seed: Fixes the split and the order of the training batches.
    """
    training, validation = split_training_data(load_mnist(root, True, source), seed)
    test = load_mnist(root, False, source)
    order = torch.Generator().manual_seed(seed)
    return (
        DataLoader(training, batch_size, shuffle=True, generator=order),
        DataLoader(validation, batch_size),
        DataLoader(test, batch_size),
    )


# --8<-- [start:synthetic_digits]
def synthetic_digits(
    training_size: int = 2048, validation_size: int = 512, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Made-up data in MNIST's shapes: ten random prototypes, buried in noise.

    Only for experiments whose point lies elsewhere than in the digits.

    Args:
        training_size: Training samples to draw.
        validation_size: Validation samples to draw.
        seed: Fixes every draw.

    Returns:
        Training images (N, 1, 28, 28) float32 and labels (N,) int64, then the validation pair.
    """
    generator = torch.Generator().manual_seed(seed)
    prototypes = torch.randn(CLASSES, 784, generator=generator)

    def draw(size: int) -> tuple[torch.Tensor, torch.Tensor]:
        labels = torch.randint(CLASSES, (size,), generator=generator)
        noise = torch.randn(size, 784, generator=generator)
        images = 0.25 * prototypes[labels] + noise
        return images.reshape(size, 1, 28, 28), labels

    return *draw(training_size), *draw(validation_size)


# --8<-- [end:synthetic_digits]


# --8<-- [start:lay_out_subset]
def lay_out_subset(root: str | Path, packed_in: Path | None = None) -> Path:
    """Unpack the subset where ``torchvision.datasets.MNIST(root)`` looks for its files.

    Code that asks torchvision for MNIST then runs without a network, on fewer images.
    Files that are there already stay as they are.

    Args:
        root: Where torchvision will be told to look.
        packed_in: The folder with the compressed files, if not the lesson's own.

    Returns:
        The folder with the four files.
    """
    raw = Path(root) / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name in RAW_FILES:
        target = raw / name
        if target.exists():
            continue
        partial = target.with_suffix(".partial")
        packed_file = (packed_in or SUBSET_FOLDER) / f"{name}.gz"
        with gzip.open(packed_file, "rb") as packed, partial.open("wb") as out:
            shutil.copyfileobj(packed, out)
        partial.replace(target)
    return raw


# --8<-- [end:lay_out_subset]


class _Subset(Dataset[Sample]):
    """Images and labels in memory, normalised when they are asked for, as torchvision does."""

    def __init__(self, images: torch.Tensor, labels: torch.Tensor) -> None:
        self.images = images
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Sample:
        image = self.images[index].float().div(255).sub(PIXEL_MEAN).div(PIXEL_STD)
        return image.unsqueeze(0), int(self.labels[index])


def _subset(train: bool) -> _Subset:
    images_name, labels_name = RAW_FILES[:2] if train else RAW_FILES[2:]
    images = _read_idx(SUBSET_FOLDER / f"{images_name}.gz")
    labels = _read_idx(SUBSET_FOLDER / f"{labels_name}.gz")
    return _Subset(images, labels)


def _read_idx(path: Path) -> torch.Tensor:
    """A gzipped IDX file of bytes as a uint8 tensor."""
    content = gzip.decompress(path.read_bytes())
    dimensions = content[3]
    header = 4 + 4 * dimensions
    shape = [int.from_bytes(content[i : i + 4], "big") for i in range(4, header, 4)]
    return torch.frombuffer(bytearray(content[header:]), dtype=torch.uint8).reshape(shape)


# --8<-- [start:full_mnist]
def full_mnist(root: Path, train: bool) -> datasets.MNIST | None:
    """The original MNIST from ``root``, downloaded if need be; None if it can't be had."""
    if not _on_disk(root):
        if not _mirror_answers():
            return None
        patience = socket.getdefaulttimeout()
        socket.setdefaulttimeout(NETWORK_PATIENCE_S)
        try:
            return datasets.MNIST(root, train, to_normalised_tensor, download=True)
        except (OSError, RuntimeError):
            return None
        finally:
            socket.setdefaulttimeout(patience)
    return datasets.MNIST(root, train, to_normalised_tensor)


def _on_disk(root: Path) -> bool:
    return all((root / "MNIST" / "raw" / name).exists() for name in RAW_FILES)


def _mirror_answers() -> bool:
    """Whether torchvision's first mirror answers within a few seconds.

    Name resolution ignores socket timeouts, so the question is asked in a thread that is left
    behind when it takes too long.
    """
    answered = threading.Event()

    def ask() -> None:
        url = datasets.MNIST.mirrors[0] + RAW_FILES[1] + ".gz"
        request = urllib.request.Request(url, method="HEAD")
        try:
            with urllib.request.urlopen(request, timeout=NETWORK_PATIENCE_S):
                answered.set()
        except OSError:
            pass

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(NETWORK_PATIENCE_S)
    return answered.is_set()


# --8<-- [end:full_mnist]


def main(arguments: list[str] | None = None) -> int:
    """Unpack the subset for code that asks torchvision for MNIST."""
    parser = argparse.ArgumentParser(prog="python -m lesson_code.data", description=main.__doc__)
    parser.add_argument("root", type=Path, help="folder in which MNIST/raw is made")
    root = parser.parse_args(arguments).root
    try:
        raw = lay_out_subset(root)
    except OSError as problem:
        print(
            f"error: can't write to {root}: {problem.strerror}; choose another folder",
            file=sys.stderr,
        )
        return 2
    print(f"the MNIST subset lies in {raw}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
