"""Loading data of your own: what is drawn in a worker, and what decoding costs beside a step.

Shapes: a batch is (B, 1, H, W), here of 28 by 28; uint8 as it is kept, float32 for the model.
"""

import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Subset, get_worker_info

from lesson_code.foundations.generalising import build
from lesson_code.foundations.made_up_writers import temporary_folder
from lesson_code.foundations.own_data import ImageFiles, tensors, two_sets
from lesson_code.foundations.rate_and_batch import train
from lesson_code.timing import time_repeatedly

BATCH_SIZE = 64
CPU = torch.device("cpu")


# --8<-- [start:draws]
class Draws(Dataset[torch.Tensor]):
    """Two examples, each with one number from each of four generators."""

    def __init__(self) -> None:
        self.own = np.random.default_rng(0)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, _: int) -> torch.Tensor:
        seeded = torch.rand(1).item(), random.random(), np.random.rand()
        return torch.tensor([*seeded, self.own.random()])


# --8<-- [end:draws]


# --8<-- [start:own_seed]
def own_seed(_: int) -> None:
    """For ``worker_init_fn``: the worker's copy of the data set draws anew."""
    worker: Any = get_worker_info()
    worker.dataset.own = np.random.default_rng(worker.seed)


# --8<-- [end:own_seed]


# --8<-- [start:decode_once]
def decode_once(dataset: ImageFiles, file: Path) -> None:
    """Keep images without a transform in one file: (N, 1, H, W), uint8, and labels."""
    images, labels = tensors(dataset)
    torch.save({"images": images.mul(255).round().byte(), "labels": labels}, file)


def normalised(rows: torch.Tensor, mean: float, std: float) -> torch.Tensor:
    """A whole batch of bytes as float32, on the device where they are."""
    return rows.float().div_(255).sub_(mean).div_(std)


# --8<-- [end:decode_once]


def print_draws() -> None:
    """What two workers draw from each generator, in two epochs."""
    drawn = []
    for start in (None, own_seed):
        torch.manual_seed(0)
        loader = DataLoader(Draws(), batch_size=None, num_workers=2, worker_init_fn=start)
        drawn.append(torch.stack([example for _ in range(2) for example in loader]).T.tolist())
    print(f"{'':24}{'epoch 1':^20}{'epoch 2':^20}")
    print(f"{'generator':24}" + f"{'worker 0':>10}{'worker 1':>10}" * 2)
    names = ("torch.rand", "random.random", "numpy.random.rand", "self.own", "self.own, own_seed")
    for name, numbers in zip(names, [*drawn[0], drawn[1][-1]], strict=True):
        print(f"{name:24}" + "".join(f"{number:>10.2f}" for number in numbers))


def print_times() -> None:
    """How long a batch takes in files and in bytes, and a training step with it."""
    with temporary_folder(range(8)) as folder:
        training, _, kept = two_sets(folder)
        decode_once(ImageFiles(training.files, training.classes), folder / "decoded.pt")
        images = torch.load(folder / "decoded.pt", weights_only=True)["images"]
        files = DataLoader(Subset(training, range(BATCH_SIZE)), BATCH_SIZE)
        batch, model = next(iter(files)), build(seed=0)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        at = torch.randperm(len(images))[:BATCH_SIZE]
        works: dict[str, Callable[[], object]] = {
            "one file": lambda: training[0],
            "64 files": lambda: next(iter(files)),
            "64 rows of bytes": lambda: normalised(images[at], kept["mean"], kept["std"]),
            "a training step": lambda: train(model, optimizer, [batch]),
        }
        for name, work in works.items():
            time_s = statistics.median(time_repeatedly(work, CPU, repetitions=9, warmup=2))
            print(f"{name:20}{1000 * time_s:>10.2f} ms")
