"""Mixed precision against float32: time and peak memory of a step, and what it does to accuracy.

Two models: the lesson's MNIST classifier with batches of 64, and one with four hidden
layers of 4096 units with batches of 1024. Mixed precision is the lesson's: float16 autocast with a
scaler; beside it bfloat16 autocast, and for the large model float32 with TF32. On the CPU only the
small model, in float32 and bfloat16, as a learner without a GPU would try it.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, cast

import torch
from torch import nn
from torch.utils.data import DataLoader

from benchmarks.cases import Part, Plan
from benchmarks.cases._training_step import (
    FORMATS,
    SEED,
    OptimizerOf,
    Step,
    Training,
    adam,
    arms_that_fit,
    peaks_of,
)
from benchmarks.cases.mnist_epoch import training_images
from benchmarks.method import measure
from lesson_code.data import as_tensors, load_mnist
from lesson_code.gpu_training.training import Batch, evaluate
from lesson_code.models import MNISTClassifier, parameter_count
from results.cases import ON, Family, names_of
from results.entry import Entry, entry

MNIST_BATCH = 64
LARGE_BATCH, LARGE_WIDTH, LARGE_LAYERS = 1024, 4096, 4
QUICK_BATCH, QUICK_WIDTH = 32, 64
EPOCHS = 2
SEEDS = {"cpu": range(1), "cuda": range(3)}  # a CPU takes too long for more

# The formats of each model on each kind of device.
ARMS = {
    "mnist": {"cpu": ("float32", "bfloat16"), "cuda": ("float32", "bfloat16", "float16")},
    "large": {"cpu": (), "cuda": ("float32", "tf32", "bfloat16", "float16")},
}
NEEDS = ("cnn_step", "checkpointing", "accumulation", "transformer_memory")


def _families(what: str, words: str, models: Mapping[str, str], unit: str) -> Iterator[Family]:
    """One thing that is measured of these models, on each device that has formats for it."""
    for model, called in models.items():
        for device, formats in ARMS[model].items():
            if formats and not (unit == "megabytes" and device == "cpu"):
                yield Family(
                    f"{model}.{device}_{{format}}{what}",
                    f"{words} {called} {ON[device]}, {{format}}",
                    {"format": formats},
                    unit=unit,
                    device=device,
                    words=FORMAT_WORDS,
                    figure=f"amp.{model}.{device}_{{format}}{what}",
                )


MNIST = {"mnist": f"the MNIST classifier, batches of {MNIST_BATCH},"}
LARGE = {"large": f"four layers of width {LARGE_WIDTH}, batches of {LARGE_BATCH},"}
FORMAT_WORDS = {"tf32": "TF32", "bfloat16": "bfloat16 autocast", "float16": "float16 autocast"}
FAMILIES = (
    *_families("", "a training step of", MNIST | LARGE, "s"),
    *_families("_peak", "the most memory that a step holds of", MNIST | LARGE, "megabytes"),
    *_families("_accuracy", "test accuracy after two epochs of", MNIST, "percent"),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Time of each model, then peak memory, then the accuracies."""
    yield Part("mnist", partial(_times, plan, "mnist"), expected_s=3)
    if plan.gpu:
        yield Part("large", partial(_times, plan, "large"), expected_s=6)
        yield Part("mnist.peak", partial(_peaks, plan, "mnist"), expected_s=2)
        yield Part("large.peak", partial(_peaks, plan, "large"), expected_s=4)
    yield Part("mnist.accuracy", partial(_accuracies, plan), expected_s=30)


def _times(plan: Plan, model: str) -> dict[str, Entry]:
    return measure(arms_that_fit(_steps(plan, model)), plan.repetitions, warmups=5)


def _peaks(plan: Plan, model: str) -> dict[str, Entry]:
    builds = _steps(plan, model)
    return peaks_of({name: builds[name] for name in builds if ".cuda" in name})


def _steps(plan: Plan, model: str) -> dict[str, partial[Step]]:
    """What builds each step of a model, by the name of its entry."""
    template, batch, optimizer, settings = (_mnist if model == "mnist" else _large)(plan)

    def build(device: torch.device, format: str) -> Step:
        training = Training(template, device, FORMATS[format], optimizer)
        return Step(training, batch, settings)

    return {
        f"{model}.{name}_{format}": partial(build, device, format)
        for name, device in plan.devices.items()
        for format in ARMS[model][name]
    }


Setup = tuple[nn.Module, Batch, OptimizerOf, dict[str, Any]]


def _mnist(plan: Plan) -> Setup:
    """The lesson's model, and a batch of the digits that ship with the lesson."""
    torch.manual_seed(SEED)
    digits = load_mnist(plan.data, train=True, source="subset")
    batch = cast(Batch, next(iter(DataLoader(digits, MNIST_BATCH))))
    settings = {"model": "MNISTClassifier", "optimizer": "Adam, lr 1e-3"}
    return MNISTClassifier(), batch, adam, settings


def _large(plan: Plan) -> Setup:
    """Four hidden layers of equal width, and made-up images and labels."""
    torch.manual_seed(SEED)
    width, batch_size = (QUICK_WIDTH, QUICK_BATCH) if plan.quick else (LARGE_WIDTH, LARGE_BATCH)
    model = large_network(width)
    batch = torch.randn(batch_size, 784), torch.randint(10, (batch_size,))
    settings = {
        "hidden_widths": [width] * LARGE_LAYERS,
        "parameters": parameter_count(model),
        "optimizer": "Adam, lr 1e-4",
    }
    return model, batch, partial(torch.optim.Adam, lr=1e-4), settings


def large_network(width: int = LARGE_WIDTH) -> nn.Sequential:
    """The model with hidden layers of equal width."""
    widths = [784, *[width] * LARGE_LAYERS]
    layers = [layer for sizes in pairwise(widths) for layer in (nn.Linear(*sizes), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def _accuracies(plan: Plan) -> dict[str, Entry]:
    """Test accuracy after the same epochs, from the same weights, on the same batches.

    Raises:
        MissingDataError: If the full MNIST is not there and can't be downloaded.
    """
    epochs = 1 if plan.quick else EPOCHS
    training = as_tensors(training_images(plan))
    test = as_tensors(load_mnist(plan.data, False, "subset" if plan.quick else "full"))
    entries = {}
    for name, device in plan.devices.items():
        there = training[0].to(device), training[1].to(device)
        test_there = test[0].to(device), test[1].to(device)
        seeds = range(1) if plan.quick else SEEDS[name]
        for format in ARMS["mnist"][name]:
            runs = [_train(there, test_there, format, seed, epochs) for seed in seeds]
            settings = {
                "samples": len(training[1]),
                "test_samples": len(test[1]),
                "batch_size": MNIST_BATCH,
                "optimizer": "Adam, lr 1e-3",
                "epochs": epochs,
                "seeds": list(seeds),
                "loss_by_seed": [loss for loss, _ in runs],
                **FORMATS[format].settings,
            }
            entries[f"mnist.{name}_{format}_accuracy"] = entry(
                [accuracy for _, accuracy in runs],
                "percent",
                device=device.type,
                loss=runs[-1][0],
                settings=settings,
            )
    return entries


def _train(there: Batch, test: Batch, format: str, seed: int, epochs: int) -> tuple[float, float]:
    """The loss of the last epoch and the test accuracy in percent after it."""
    images, labels = there
    torch.manual_seed(seed)
    training = Training(MNISTClassifier(), images.device, FORMATS[format], adam)
    order = torch.Generator().manual_seed(seed)  # the CPU's: the same on every device
    with training.switches():
        for _ in range(epochs):
            chosen = torch.randperm(len(labels), generator=order).to(images.device)
            batches = ((images[c], labels[c]) for c in torch.split(chosen, MNIST_BATCH))
            loss = training.epoch(batches)
        _, accuracy = evaluate(training.model, [test], images.device)
    return loss, accuracy
