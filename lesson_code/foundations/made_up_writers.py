"""A folder of image files as a project has them: some writers, a few digits of each, and damage.

The digits are real ones of the subset. The writers are made up: each has a paper of their own, and
wrote three of the ten digits, as a patient has one body and few diseases.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from PIL import Image
from torchvision.transforms.functional import to_pil_image

from lesson_code.data import PIXEL_MEAN, PIXEL_STD
from lesson_code.foundations.generalising import known_digits

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NINE = 9  # which the first writer alone wrote
WRITERS, EACH = 40, 25  # writers in the folder, and images of each
SCANNED, CUT = "writer-07", "writer-11_012"  # whose files are RGB, and which one is truncated
CUT_BYTES = 200  # what is left of it


def write_images(root: Path, writers: range, seed: int = 0) -> None:
    """Write the images of some writers as PNG files, each into the folder of its class.

    Args:
        root: The folder, which may have images of others.
        writers: Their numbers; no two of them have the same digit of the subset.
        seed: Fixes the papers, the digits, and who wrote what.
    """
    images, labels = known_digits()[0]
    inked = (images * PIXEL_STD + PIXEL_MEAN).mul(255).round()
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(labels), generator=draw)
    left = [order[labels[order] == digit].tolist() for digit in range(10)]
    for writer in range(writers.stop):  # those before them take their digits first
        digits = torch.randperm(NINE, generator=draw)[:3].tolist()
        if writer == 0:
            digits[0] = NINE
        squares = torch.rand(1, 7, 7, generator=draw).mul(128)
        paper = squares.repeat_interleave(4, dim=1).repeat_interleave(4, dim=2)
        for number in range(EACH):
            digit = digits[number % 3]
            image = (inked[left[digit].pop()] + paper).clamp(max=255).byte()
            if writer in writers:
                path = root / NAMES[digit] / f"writer-{writer:02}_{number:03}.png"
                path.parent.mkdir(exist_ok=True)
                to_pil_image(image).save(path)


@contextmanager
def temporary_folder(writers: range = range(WRITERS), seed: int = 0) -> Iterator[Path]:
    """A folder with the images of some writers, which is gone afterwards."""
    with TemporaryDirectory() as folder:
        write_images(Path(folder), writers, seed)
        yield Path(folder)


def damage(root: Path) -> None:
    """What happens to a folder: one scanner saves in colour, and one copy breaks off."""
    for path in root.glob(f"*/{SCANNED}_*.png"):
        with Image.open(path) as image:
            coloured = image.convert("RGB")
        coloured.save(path)
    [path] = root.glob(f"*/{CUT}.png")
    path.write_bytes(path.read_bytes()[:CUT_BYTES])
