"""Training loops on this machine's CPU, against which the timeline is held.

``python -m benchmarks.timeline`` measures each part of a loop alone and the loops, in turn, and
writes ``results/timeline_measured.json``: some minutes. PyTorch computes with one thread, so that
the processes of the loader find a core of their own.
"""

import sys
import time
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from benchmarks import provenance
from benchmarks.method import Arm, measure
from lesson_code.data import Sample, load_mnist
from lesson_code.gpu_training.training import Batch, train_one_epoch
from lesson_code.models import MNISTClassifier
from results.timeline_measured import FILE, Measured, Setting, write_measured

Loader = DataLoader[Any]
CPU = torch.device("cpu")
REPETITIONS = 15
STEPS = {64: 40, 1024: 20, 4096: 12}  # of a sample, by batch
WORKERS = (0, 1, 2, 4)
PAUSE = 0.05  # seconds in which a worker has the next batch ready
SETTINGS = (
    *(Setting("sleep", 0.01, 64, workers) for workers in WORKERS),
    *(Setting("sleep", 0.01, 1024, workers) for workers in WORKERS),
    *(Setting("sleep", 0.03, 1024, workers) for workers in WORKERS),
    *(Setting("sleep", 0.03, 4096, workers) for workers in WORKERS),
    *(Setting("mnist", 0.0, 64, workers) for workers in (0, 1)),
)


class Slow(Dataset[Batch]):
    """Batches that lie in memory, handed out after a wait: as if they came from elsewhere."""

    def __init__(self, seconds: float, batch: int, length: int) -> None:
        self.seconds = seconds
        self.length = length
        self.batch = torch.zeros(batch, 1, 28, 28), torch.arange(batch) % 10

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, _: int) -> Batch:
        time.sleep(self.seconds)
        return self.batch


class First(Dataset[Sample]):
    """The first images of a data set, again and again."""

    def __init__(self, dataset: Dataset[Sample], length: int) -> None:
        self.dataset = dataset
        self.length = length
        self.size = len(dataset)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Sample:
        return self.dataset[index % self.size]


def loader_of(setting: Setting, steps: int, digits: Dataset[Sample], workers: int) -> Loader:
    """The loader of a setting, with so many workers, which stay for the next round."""
    persistent = workers > 0
    if setting.images == "sleep":
        slow = Slow(setting.load, setting.batch, steps)
        return DataLoader(slow, None, num_workers=workers, persistent_workers=persistent)
    first = First(digits, steps * setting.batch)
    return DataLoader(first, setting.batch, num_workers=workers, persistent_workers=persistent)


def arms(setting: Setting, steps: int, digits: Dataset[Sample]) -> dict[str, Arm]:
    """The loop, its loader alone and its training alone, each for so many steps."""
    alone = loader_of(setting, steps, digits, workers=0)
    loader = loader_of(setting, steps, digits, setting.workers)
    batch: Batch = next(iter(alone))
    torch.manual_seed(0)
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def train(batches: Iterable[Batch]) -> float:
        return train_one_epoch(model, batches, optimizer, nn.CrossEntropyLoss(), CPU)

    return {
        "loads": Arm(lambda: sum(1 for _ in alone), CPU),
        "computes": Arm(lambda: train(islice(cycle([batch]), steps)), CPU),
        "loops": Arm(lambda: train(loader), CPU),
    }


def hand_over(setting: Setting, digits: Dataset[Sample], times: int = 9) -> list[float]:
    """Seconds in which Python takes over a batch that a worker has ready; without workers none."""
    if not setting.workers:
        return [0.0]
    batches = iter(loader_of(setting, times + 1, digits, setting.workers))
    next(batches)
    samples = []
    for _ in range(times):
        time.sleep(PAUSE)
        begun = time.perf_counter()
        next(batches)
        samples.append(time.perf_counter() - begun)
    return samples


def measured(setting: Setting, digits: Dataset[Sample], repetitions: int) -> Measured:
    """The parts and the whole of a loop, in turn."""
    steps = STEPS[setting.batch]
    hands = hand_over(setting, digits)
    found = measure(arms(setting, steps, digits), repetitions, warmups=1, shortest_sample_s=0)
    per_step = {name: tuple(s / steps for s in entry.samples) for name, entry in found.items()}
    return Measured(setting, steps, hands=tuple(hands), **per_step)


def main(path: Path = FILE, repetitions: int = REPETITIONS) -> int:
    """Measure every setting, tell what came out, and write the file."""
    torch.set_num_threads(1)
    digits = load_mnist(source="subset")
    found = []
    for setting in SETTINGS:
        found.append(measured(setting, digits, repetitions))
        one = found[-1]
        print(
            f"{setting.images} {setting.load * 1e3:g} ms, batch {setting.batch}, "
            f"{setting.workers} workers: {1 / one.seconds:.4g} steps a second, "
            f"simulated {1 / one.simulated:.4g}, off by {one.error:.2f}, spread {one.spread:.2f}",
            flush=True,
        )
    write_measured(found, provenance.here(), path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
