"""Data of your own: from a folder of image files to batches that a GPU need not wait for.

Shapes: an image is (1, H, W), here (1, 28, 28), float32; a label is a class index; N is a number
of images, B the batch size. Accuracies are fractions.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, random_split
from torchvision import transforms
from torchvision.transforms.functional import pil_to_tensor

from lesson_code.foundations.generalising import Images, build, ends, judge, learn, range_of, share
from lesson_code.foundations.made_up_writers import WRITERS, damage, temporary_folder

OTHERS = range(WRITERS, WRITERS + 20)  # writers who are not in the folder
MORE = range(WRITERS + 4)  # the same and four more
SEEDS = range(5)
EPOCHS = 10
NameOf = Callable[[Path], str]
Transform = Callable[[torch.Tensor], torch.Tensor]


# --8<-- [start:look]
def group_of(path: Path) -> str:
    """Who wrote it: ``eight/writer-11_012.png`` is by ``writer-11``."""
    return path.stem.split("_")[0]


def look(root: Path) -> None:
    """Print what each class consists of, after opening every file to its end."""
    unreadable = []
    print(f"{'class':8}{'files':>6}{'writers':>9}  {'sizes':11}modes")
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        files = sorted(folder.glob("*.png"))
        sizes: set[str] = set()
        modes: Counter[str] = Counter()
        for path in files:
            try:
                with Image.open(path) as image:
                    image.load()  # open() reads the head of the file alone
            except OSError:
                unreadable.append(path.relative_to(root).as_posix())
                continue
            sizes.add(f"{image.width} × {image.height}")
            modes[image.mode] += 1
        writers = {group_of(path) for path in files}
        counted = ", ".join(f"{count} {mode}" for mode, count in modes.items())
        print(
            f"{folder.name:8}{len(files):>6}{len(writers):>9}"
            f"  {', '.join(sorted(sizes)):11}{counted}"
        )
    print("\nunreadable:", *unreadable)


# --8<-- [end:look]


# --8<-- [start:dataset]
def class_names(root: Path) -> list[str]:
    """The sub-folders, sorted: a class index is a place in this list."""
    return sorted(path.name for path in root.iterdir() if path.is_dir())


class ImageFiles(Dataset[tuple[torch.Tensor, int]]):
    """Image files that are opened when they are asked for."""

    def __init__(
        self, files: list[Path], classes: list[str], transform: Transform | None = None
    ) -> None:
        self.files, self.classes, self.transform = files, classes, transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, int]:
        path = self.files[at]
        try:
            with Image.open(path) as opened:
                pixels = pil_to_tensor(opened.convert("L"))  # (1, H, W), uint8
        except OSError as error:
            raise OSError(f"cannot read {path}: {error}") from error
        image = pixels.float() / 255
        if self.transform:
            image = self.transform(image)
        return image, self.classes.index(path.parent.name)


# --8<-- [end:dataset]


# --8<-- [start:split]
def held_out(name: str, percent: int = 20) -> bool:
    """Whether a group is for validation; its name decides, and nothing else."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return int(digest, 16) % 100 < percent


def split(root: Path, name_of: NameOf = group_of) -> tuple[list[Path], list[Path]]:
    """The files to train on, and those to validate with."""
    files = sorted(root.glob("*/*.png"))
    training = [path for path in files if not held_out(name_of(path))]
    validation = [path for path in files if held_out(name_of(path))]
    return training, validation


# --8<-- [end:split]


# --8<-- [start:prepare]
def mean_and_std(dataset: ImageFiles) -> tuple[float, float]:
    """Of all pixels, in one pass over the files."""
    count, total, squares = 0, 0.0, 0.0
    for at in range(len(dataset)):
        pixels = dataset[at][0].double()
        count += pixels.numel()
        total += pixels.sum().item()
        squares += pixels.square().sum().item()
    mean = total / count
    return mean, math.sqrt(squares / count - mean**2)


def shifted(image: torch.Tensor) -> torch.Tensor:
    """Moved by up to two pixels; what comes in repeats the edge."""
    _, height, width = image.shape
    top, left = torch.randint(5, (2,)).tolist()
    padded = functional.pad(image, (2, 2, 2, 2), mode="replicate")
    return padded[:, top : top + height, left : left + width]


def two_sets(root: Path) -> tuple[ImageFiles, ImageFiles, dict[str, Any]]:
    """Training and validation images, and what the checkpoint has to keep."""
    classes = class_names(root)
    training, validation = split(root)
    mean, std = mean_and_std(ImageFiles(training, classes))
    normalise = transforms.Normalize([mean], [std])
    return (
        ImageFiles(training, classes, transforms.Compose([shifted, normalise])),
        ImageFiles(validation, classes, normalise),
        {"classes": classes, "mean": mean, "std": std},
    )


# --8<-- [end:prepare]


def tensors(dataset: ImageFiles) -> Images:
    """A whole data set in one batch."""
    images, labels = next(iter(DataLoader(dataset, batch_size=len(dataset))))
    return images, labels


def print_look() -> None:
    """What a look finds in a damaged folder."""
    with temporary_folder() as folder:
        damage(folder)
        look(folder)


def print_more_files() -> dict[str, int]:
    """How many of 1,000 files change sides when four writers bring 100 more."""
    drawn, hashed = [], []
    with temporary_folder(MORE) as folder:
        for last in (MORE.stop, WRITERS):
            for writer in range(last, MORE.stop):  # in the second round those four are gone again
                for path in folder.glob(f"*/writer-{writer}_*.png"):
                    path.unlink()
            paths: Any = sorted(folder.glob("*/*.png"))
            _, at = random_split(paths, [0.8, 0.2], torch.Generator().manual_seed(0))
            drawn.append({paths[number] for number in at.indices})
            hashed.append(set(split(folder)[1]))
    known = set(paths)
    found = {
        name: len((after & known) ^ before)
        for name, (after, before) in {"random": drawn, "hash": hashed}.items()
    }
    print(f"{'split by':24}{'files that change sides':>24}")
    print(f"{'random_split, one seed':24}{found['random']:>24}")
    print(f"{'hash of the writer':24}{found['hash']:>24}")
    return {"files": len(known), "held": len(hashed[-1]), **found}


def one_run(name_of: NameOf, seed: int) -> tuple[float, float, float]:
    """Accuracies on validation images, on other writers', and on these not normalised."""
    with temporary_folder(seed=seed) as here, temporary_folder(OTHERS, seed) as elsewhere:
        classes = class_names(here)
        training, held = split(here, name_of)
        others = sorted(elsewhere.glob("*/*.png"))
        mean, std = mean_and_std(ImageFiles(training, classes))
        sets = [tensors(ImageFiles(files, classes)) for files in (training, held, others)]
    learnt, seen, unseen = (((images - mean) / std, labels) for images, labels in sets)
    model = build(seed)
    learn(model, learnt, seen, EPOCHS)
    validation, new, raw = (share(judge(model, *of)[1]) for of in (seen, unseen, sets[2]))
    return validation, new, raw


def study_split() -> dict[str, dict[str, float]]:
    """One network, its images split by file and by writer, and judged by other writers too.

    Returns:
        For each split the range of five seeds' accuracies on the validation images, on those of
        writers who are in neither set, and on these without the normalisation.
    """
    ways: dict[str, NameOf] = {"file": lambda path: path.stem, "writer": group_of}
    found = {}
    print(f"{'split by':12}{'validation':>16}{'other writers':>20}")
    for way, name_of in ways.items():
        validation, others, raw = zip(*(one_run(name_of, seed) for seed in SEEDS), strict=True)
        print(f"{way:12}{range_of(validation):>16}{range_of(others):>20}")
        found[way] = {
            f"{name}_{end}": accuracy
            for name, of in {"validation": validation, "others": others, "raw": raw}.items()
            for end, accuracy in ends(of).items()
        }
    return found
