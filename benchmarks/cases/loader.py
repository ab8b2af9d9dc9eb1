"""The lesson's loader with more and more worker processes.

One pass over all 60,000 training images without any training, with 0, 1, 2, 4 and 8 workers, no
more than the machine has cores. On a GPU also an epoch of training with the most workers, with
batches in pageable or in pinned memory, and with blocking or non-blocking copies.
"""

import os
from collections.abc import Iterator
from functools import partial

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from benchmarks.cases import Part, Plan
from benchmarks.cases.mnist_epoch import BATCH_SIZE, training_images
from benchmarks.method import Arm, measure
from lesson_code.data import Sample
from lesson_code.gpu_training.training import Batch, train_one_epoch
from lesson_code.models import MNISTClassifier
from results.cases import Family, names_of
from results.entry import Entry

WORKERS = (0, 1, 2, 4, 8)
REPETITIONS = 3  # a pass takes seconds
SEED = 0
COPIES = {  # pinned memory, non-blocking copies
    "cuda_pageable": (False, False),
    "cuda_pageable_non_blocking": (False, True),
    "cuda_pinned": (True, False),
    "cuda_pinned_non_blocking": (True, True),
}
FAMILIES = (
    Family(
        "workers_{n}",
        "one pass over 60,000 MNIST images through the lesson's loader, number of workers: {n}",
        {"n": WORKERS},
        rate="samples_per_s",
        counts="images",
    ),
    *(
        Family(
            name,
            f"an MNIST epoch on the GPU, batches in {'pinned' if pinned else 'ordinary'} memory, "
            f"{'non-blocking' if non_blocking else 'blocking'} copies",
            device="cuda",
        )
        for name, (pinned, non_blocking) in COPIES.items()
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Passes of the loader alone; on a GPU epochs of training, too."""
    yield Part("workers", partial(_compare_workers, plan), expected_s=45, cpu_only=True)
    if plan.gpu:
        yield Part("copies", partial(_compare_copies, plan, plan.gpu), expected_s=30)


def worker_counts(plan: Plan) -> list[int]:
    """Which numbers of workers this machine can give a core each; a quick run takes two of them."""
    counts = [n for n in WORKERS if n <= (os.cpu_count() or 1)]
    return counts[:2] if plan.quick else counts


def _compare_workers(plan: Plan) -> dict[str, Entry]:
    dataset = training_images(plan)
    arms = {f"workers_{n}": _loader_pass(dataset, n) for n in worker_counts(plan)}
    repetitions = min(REPETITIONS, plan.repetitions)
    return measure(arms, repetitions, warmups=1, shortest_sample_s=0)


def _loader_pass(dataset: Dataset[Sample], workers: int) -> Arm:
    """A pass over all images; the first one, the warm-up, ends when the workers have started."""
    loader = _loader(dataset, workers)
    started = False

    def loader_pass() -> None:
        nonlocal started
        for _ in loader:
            if not started:
                break
        started = True

    size = len(dataset)  # type: ignore[arg-type]
    settings = {"samples": size, "batch_size": BATCH_SIZE, "workers": workers}
    return Arm(loader_pass, torch.device("cpu"), settings, SEED, amount=size)


def _compare_copies(plan: Plan, gpu: torch.device) -> dict[str, Entry]:
    dataset, workers = training_images(plan), max(worker_counts(plan))
    arms = {
        name: _training(dataset, workers, gpu, pinned, non_blocking)
        for name, (pinned, non_blocking) in COPIES.items()
    }
    return measure(arms, min(REPETITIONS, plan.repetitions), warmups=1)


def _training(
    dataset: Dataset[Sample], workers: int, gpu: torch.device, pinned: bool, non_blocking: bool
) -> Arm:
    # Memory can be pinned for a GPU only; where the CPU stands in for it PyTorch would warn.
    loader = _loader(dataset, workers, pinned and gpu.type == "cuda")
    torch.manual_seed(SEED)
    model = MNISTClassifier().to(gpu)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    def copied() -> Iterator[Batch]:
        for images, labels in loader:
            yield (
                images.to(gpu, non_blocking=non_blocking),
                labels.to(gpu, non_blocking=non_blocking),
            )

    def epoch() -> float:
        return train_one_epoch(model, copied(), optimizer, criterion, gpu)

    size = len(dataset)  # type: ignore[arg-type]
    settings = {
        "samples": size,
        "batch_size": BATCH_SIZE,
        "workers": workers,
        "pin_memory": pinned,
        "non_blocking": non_blocking,
    }
    return Arm(epoch, gpu, settings, SEED, amount=size)


def _loader(dataset: Dataset[Sample], workers: int, pinned: bool = False) -> DataLoader[Sample]:
    """Its workers stay between passes, so that starting them belongs to the warm-up."""
    return DataLoader(
        dataset,
        BATCH_SIZE,
        shuffle=True,
        generator=torch.Generator().manual_seed(SEED),
        num_workers=workers,
        persistent_workers=workers > 0,
        pin_memory=pinned,
    )
