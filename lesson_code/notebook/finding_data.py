"""Digits for a notebook that may lie anywhere: in this project, alone in a folder, on a server.

Shapes: an image is (1, 28, 28), float32.
"""

from pathlib import Path

from torch.utils.data import Dataset, TensorDataset
from torchvision import datasets

from lesson_code.data import (
    Sample,
    full_mnist,
    lay_out_subset,
    synthetic_digits,
    to_normalised_tensor,
)

Digits = tuple[Dataset[Sample], Dataset[Sample]]


# --8<-- [start:find_digits]
def find_digits(source: str, root: Path) -> tuple[Digits, str]:
    """Training and test digits, and which they are, in words.

    Args:
        source: ``"full"``, ``"subset"`` or ``"synthetic"`` for one kind alone; ``"auto"`` for the
            first of them that can be had. For the full set it tries one download.
        root: The folder for MNIST's files.

    Raises:
        FileNotFoundError: If that kind can't be had here.
        ValueError: If there is no such kind.
    """
    if source not in ("auto", "full", "subset", "synthetic"):
        raise ValueError(f'DATA is {source!r}; choose "auto", "full", "subset" or "synthetic"')
    if source in ("auto", "full"):
        training = full_mnist(root, train=True)
        if training is not None:
            return (training, datasets.MNIST(root, False, to_normalised_tensor)), "MNIST"
        if source == "full":
            raise FileNotFoundError(f"MNIST is neither in {root} nor downloadable from here")
    if source in ("auto", "subset"):
        packed_in = find_subset()
        if packed_in is not None:
            lay_out_subset(root / "subset", packed_in)
            subset = (
                datasets.MNIST(root / "subset", train=train, transform=to_normalised_tensor)
                for train in (True, False)
            )
            return (next(subset), next(subset)), "a tenth of MNIST, real digits"
        if source == "subset":
            raise FileNotFoundError("there is no folder mnist_subset beside this notebook")
    images, labels, test_images, test_labels = synthetic_digits(6000, 1000)
    made_up = TensorDataset(images, labels), TensorDataset(test_images, test_labels)
    return made_up, "made-up patterns in MNIST's shapes, no digits"  # type: ignore[return-value]


def find_subset() -> Path | None:
    """The folder of the digits that ship with the lesson: beside this notebook, or above it."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        for place in (folder / "mnist_subset", folder / "lesson_code" / "mnist_subset"):
            if place.is_dir():
                return place
    return None


# --8<-- [end:find_digits]
