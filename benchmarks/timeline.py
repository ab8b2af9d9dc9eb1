"""Training loops on this machine's CPU, against which the timeline is held.

``python -m benchmarks.timeline`` measures each part of a loop alone and the loops, in turn, and
writes ``results/timeline_measured.json``: some minutes. PyTorch computes with one thread, so that
the processes of the loader find a core of their own.
"""

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from benchmarks import provenance
from benchmarks.method import Arm, measure
from lesson_code.gpu_training.training import Batch, train_one_epoch
from lesson_code.models import MNISTClassifier
from results.timeline_measured import FILE, Measured, Setting, write_measured

Loader = DataLoader[Any]
CPU = torch.device("cpu")
REPETITIONS = 7
STEPS = {64: 150, 1024: 30, 4096: 12}  # of a sample, by batch
WORKERS = (0, 1, 2, 4)
PAUSE = 0.05  # seconds in which a worker has the next batch ready
SETTINGS = (
    *(Setting("sleep", 0.01, 64, workers) for workers in WORKERS),
    *(Setting("sleep", 0.01, 1024, workers) for workers in WORKERS),
    *(Setting("sleep", 0.03, 1024, workers) for workers in WORKERS),
    *(Setting("sleep", 0.03, 4096, workers) for workers in WORKERS),
    *(Setting("work", 0.01, 64, workers) for workers in (0, 1)),
)


class Slow(Dataset[Batch]):
    """Batches that lie in memory, handed out after a wait or after work: as if just prepared."""

    def __init__(self, setting: Setting, length: int) -> None:
        self.setting = setting
        self.length = length
        size = setting.batch
        self.batch = torch.rand(size, 1, 28, 28), torch.randint(10, (size,))

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, _: int) -> Batch:
        end = time.perf_counter() + self.setting.load
        if self.setting.images == "sleep":
            time.sleep(self.setting.load)
        while time.perf_counter() < end:
            pass
        return self.batch


def loader_of(setting: Setting, steps: int, workers: int) -> Loader:
    """The loader of a setting, with so many workers, which stay for the next round."""
    slow = Slow(setting, steps)
    return DataLoader(slow, None, num_workers=workers, persistent_workers=workers > 0)


def arms(setting: Setting, steps: int) -> dict[str, Arm]:
    """The loop, its loader alone and its training alone, each for so many steps."""
    alone = loader_of(setting, steps, workers=0)
    loader = loader_of(setting, steps, setting.workers)
    prepared = [(images.clone(), labels.clone()) for images, labels in alone]
    torch.manual_seed(0)
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def train(batches: Iterable[Batch]) -> float:
        return train_one_epoch(model, batches, optimizer, nn.CrossEntropyLoss(), CPU)

    return {
        "loads": Arm(lambda: sum(1 for _ in alone), CPU),
        "computes": Arm(lambda: train(prepared), CPU),
        "loops": Arm(lambda: train(loader), CPU),
    }


def hand_over(setting: Setting, times: int = 9) -> list[float]:
    """Seconds in which Python takes over a batch that a worker has ready; without workers none."""
    if not setting.workers:
        return [0.0]
    batches = iter(loader_of(setting, times + 1, setting.workers))
    next(batches)
    samples = []
    for _ in range(times):
        time.sleep(PAUSE)
        begun = time.perf_counter()
        next(batches)
        samples.append(time.perf_counter() - begun)
    return samples


def measured(setting: Setting, repetitions: int) -> Measured:
    """The parts and the whole of a loop, in turn."""
    steps = STEPS[setting.batch]
    hands = hand_over(setting)
    found = measure(arms(setting, steps), repetitions, warmups=1, shortest_sample_s=0)
    per_step = {name: tuple(s / steps for s in entry.samples) for name, entry in found.items()}
    return Measured(setting, steps, hands=tuple(hands), **per_step)


def main(path: Path = FILE, repetitions: int = REPETITIONS) -> int:
    """Measure every setting, tell what came out, and write the file."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # so that a step takes the same time when the loss is small
    found = []
    for setting in SETTINGS:
        found.append(measured(setting, repetitions))
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
