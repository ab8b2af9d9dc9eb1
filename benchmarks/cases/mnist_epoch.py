"""One epoch of the MNIST classifier on all 60,000 training images.

Three kinds of epoch take turns: with the lesson's loader, which opens and normalises every image
anew; the loader alone, without any training; and with all images prepared beforehand and kept on
the device as one tensor.
"""

from collections.abc import Iterator
from functools import partial
from typing import cast

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from benchmarks.cases import MissingDataError, Part, Plan
from benchmarks.method import Arm, measure
from lesson_code.data import Sample, as_tensors, load_mnist
from lesson_code.gpu_training.training import Batch, train_one_epoch
from lesson_code.models import MNISTClassifier
from results.cases import Family, names_of
from results.entry import Entry

BATCH_SIZE = 64
SEED = 0
FAMILIES = (
    Family("cpu", "an epoch of MNIST on the CPU with the lesson's loader"),
    Family("cuda", "an epoch of MNIST on the GPU with the lesson's loader", device="cuda"),
    Family("loader_only", "the loader alone, all 60,000 images, no training"),
    Family("resident_cpu", "an epoch of MNIST on the CPU, images prepared beforehand"),
    Family(
        "resident_cuda", "an epoch of MNIST on the GPU, all images there already", device="cuda"
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Every kind of epoch on every device, all in one."""
    yield Part("epoch", partial(_compare, plan), expected_s=140)


def _compare(plan: Plan) -> dict[str, Entry]:
    dataset = training_images(plan)
    size = len(dataset)  # type: ignore[arg-type]
    loader = DataLoader(
        dataset, BATCH_SIZE, shuffle=True, generator=torch.Generator().manual_seed(SEED)
    )
    settings = {"samples": size, "batch_size": BATCH_SIZE, "optimizer": "Adam, lr 1e-3"}

    def loader_pass() -> None:
        for _ in loader:
            pass

    arms = {
        "loader_only": Arm(
            loader_pass, torch.device("cpu"), {"samples": size, "batch_size": BATCH_SIZE}, SEED
        )
    }
    everything = as_tensors(dataset)
    for name, device in plan.devices.items():
        arms[name] = _training(loader, device, {**settings, "data": "loader, per image"})
        arms[f"resident_{name}"] = _training(
            _Resident(everything, device), device, {**settings, "data": "prepared, on the device"}
        )
    return measure(arms, plan.repetitions, warmups=1)  # an epoch takes seconds


def training_images(plan: Plan) -> Dataset[Sample]:
    """All training images, or in a quick run those that ship with the lesson.

    Raises:
        MissingDataError: If the full MNIST is not there and can't be downloaded.
    """
    try:
        return load_mnist(plan.data, train=True, source="subset" if plan.quick else "full")
    except FileNotFoundError as problem:
        raise MissingDataError(str(problem)) from problem


def _training(
    batches: "DataLoader[Sample] | _Resident", device: torch.device, settings: dict[str, object]
) -> Arm:
    torch.manual_seed(SEED)
    model = MNISTClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    def epoch() -> float:
        return train_one_epoch(model, batches, optimizer, criterion, device)

    return Arm(epoch, device, settings, SEED, amount=cast(int, settings["samples"]))


class _Resident:
    """All images on the device, dealt out in a new random order in every epoch."""

    def __init__(self, everything: Batch, device: torch.device) -> None:
        self.images, self.labels = everything[0].to(device), everything[1].to(device)

    def __iter__(self) -> Iterator[Batch]:
        order = torch.randperm(len(self.labels), device=self.labels.device)
        for chosen in torch.split(order, BATCH_SIZE):
            yield self.images[chosen], self.labels[chosen]
