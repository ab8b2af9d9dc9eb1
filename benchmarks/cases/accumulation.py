"""Gradient accumulation: one update from four batches of 32 against one from a batch of 128.

ResNet-50 on a GPU, float32 with TF32 off, with the peak memory of both ways; and a small
model of linear layers on every device. The small model's losses must agree. ResNet-50's differ a
little: its batch normalisation sees 32 images at a time instead of 128.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import nn

from benchmarks.cases import Part, Plan
from benchmarks.cases._training_step import (
    SEED,
    Step,
    Training,
    arms_that_fit,
    peaks_of,
    random_images,
    resnet50,
)
from benchmarks.method import measure
from lesson_code.gpu_training.training import Batch
from results.cases import ON, Family, names_of
from results.entry import Entry

BATCH, QUICK_BATCH = 128, 8
ARMS = {"one_batch": 1, "accumulated": 4}  # into how many micro-batches a batch is cut
PIXELS = 224
TIMES = (
    *(f"mlp.{device}_{arm}" for device in ("cpu", "cuda") for arm in ARMS),
    *(f"resnet50.cuda_{arm}" for arm in ARMS),
)
HOW = {"one_batch": f"a batch of {BATCH}", "accumulated": f"four batches of {BATCH // 4}"}
FAMILIES = (
    *(
        Family(
            f"mlp.{device}_{arm}",
            f"one update of a small model from {HOW[arm]} {on}",
            device=device,
        )
        for arm in ARMS
        for device, on in ON.items()
    ),
    *(
        Family(
            f"resnet50.cuda_{arm}",
            f"one update of ResNet-50 on the GPU from {HOW[arm]} images",
            device="cuda",
        )
        for arm in ARMS
    ),
    *(
        Family(
            f"resnet50.cuda_{arm}_peak",
            f"the most memory that an update of ResNet-50 from {HOW[arm]} images holds",
            unit="megabytes",
            device="cuda",
        )
        for arm in ARMS
    ),
)
ENTRIES = names_of(FAMILIES)


class AccumulatedStep(Step):
    """One update from the gradients of several micro-batches, which add up to the batch's."""

    def __init__(
        self, training: Training, batch: Batch, settings: dict[str, Any], micro_batches: int
    ) -> None:
        super().__init__(training, batch, {**settings, "micro_batches": micro_batches})
        inputs, labels = (part.chunk(micro_batches) for part in self.batch)
        self.micro_batches = list(zip(inputs, labels, strict=True))

    def step(self) -> float:
        """Divide each loss by their number: gradients are added, and the mean is wanted."""
        training = self.training
        training.optimizer.zero_grad()
        total = torch.zeros((), device=training.device)
        for inputs, labels in self.micro_batches:
            loss = training.criterion(training.model(inputs), labels) / len(self.micro_batches)
            loss.backward()
            total += loss.detach()
        training.optimizer.step()
        return total.item()


def parts(plan: Plan) -> Iterator[Part]:
    """The small model on every device, then ResNet-50 on the GPU."""
    yield Part("mlp", partial(_times, plan, "mlp"), expected_s=2)
    if plan.gpu:
        yield Part("resnet50", partial(_times, plan, "resnet50"), expected_s=6)
        yield Part("resnet50.peak", partial(_peaks, plan), expected_s=4)


def _times(plan: Plan, model: str) -> dict[str, Entry]:
    return measure(arms_that_fit(_steps(plan, model)), plan.repetitions)


def _peaks(plan: Plan) -> dict[str, Entry]:
    return peaks_of(_steps(plan, "resnet50"))


def _steps(plan: Plan, model: str) -> dict[str, partial[AccumulatedStep]]:
    """What builds both ways of a model, by the name of its entry."""
    size = QUICK_BATCH if plan.quick else BATCH
    template, batch = (_mlp if model == "mlp" else _resnet50)(size, plan.quick)
    settings = {
        "model": model,
        "input_shape": list(batch[0].shape[1:]),
        "optimizer": "SGD, lr 0.01, momentum 0.9",
    }

    def build(device: torch.device, micro_batches: int) -> AccumulatedStep:
        return AccumulatedStep(Training(template, device), batch, settings, micro_batches)

    return {
        f"{model}.{name}_{arm}": partial(build, device, micro_batches)
        for name, device in plan.devices.items()
        for arm, micro_batches in ARMS.items()
        if f"{model}.{name}_{arm}" in TIMES
    }


def _mlp(size: int, quick: bool) -> tuple[nn.Module, Batch]:
    """784 -> 1024 -> 1024 -> 10, and made-up images and labels."""
    torch.manual_seed(SEED)
    width = 64 if quick else 1024
    model = nn.Sequential(
        nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )
    return model, (torch.randn(size, 784), torch.randint(10, (size,)))


def _resnet50(size: int, quick: bool) -> tuple[nn.Module, Batch]:
    return resnet50(quick), random_images(size, 32 if quick else PIXELS)
