"""A training step of the small residual network on MNIST's digits, beside the MNIST classifier's.

Batches of 64 digits on CPU and GPU, both models in float32, and the residual network in every
format; then batches of 1,024, which give a GPU enough to do between two launches.
"""

from collections.abc import Iterator
from functools import partial
from typing import cast

import torch
from torch import nn
from torch.utils.data import DataLoader

from benchmarks.cases import Part, Plan
from benchmarks.cases._training_step import (
    FORMATS,
    SEED,
    Step,
    Training,
    adam,
    arms_that_fit,
    peaks_of,
)
from benchmarks.cases.mixed_precision import FORMAT_WORDS
from benchmarks.method import measure
from lesson_code.data import load_mnist
from lesson_code.gpu_training.training import Batch
from lesson_code.models import MNISTClassifier, SmallResNet
from results.cases import ON, Family, names_of
from results.entry import Entry

SMALL, LARGE = 64, 1024
QUICK = {SMALL: 2, LARGE: 4}  # what stands in for these batch sizes in a quick run
RESNET = "the small residual network"
FAMILIES = (
    *(
        Family(
            f"mnist.{device}",
            f"a training step of the MNIST classifier {ON[device]}, batches of {SMALL}, float32",
            device=device,
        )
        for device in ("cpu", "cuda")
    ),
    Family(
        "batch_{n}.cpu_float32",
        f"a training step of {RESNET} on the CPU, {{n}} digits, float32",
        {"n": (SMALL,)},
        rate="samples_per_s",
        counts="digits",
    ),
    Family(
        "batch_{n}.cuda_{format}",
        f"a training step of {RESNET} on the GPU, {{n}} digits, {{format}}",
        {"n": (SMALL, LARGE), "format": tuple(FORMATS)},
        device="cuda",
        words=FORMAT_WORDS,
        rate="samples_per_s",
        counts="digits",
    ),
    Family(
        "batch_{n}.cuda_{format}_peak",
        f"the most memory that a step of {RESNET} on {{n}} digits holds on the GPU, {{format}}",
        {"n": (SMALL, LARGE), "format": tuple(FORMATS)},
        unit="megabytes",
        device="cuda",
        words=FORMAT_WORDS,
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Both models and devices with a batch of 64; then the GPU's large batch, and its peaks."""
    yield Part("batch_64", partial(_times, plan, SMALL), expected_s=8)
    if plan.gpu:
        yield Part("batch_1024", partial(_times, plan, LARGE), expected_s=4)
        for n in (SMALL, LARGE):
            yield Part(f"batch_{n}.peak", partial(_peaks, plan, n), expected_s=2)


def _times(plan: Plan, batch_size: int) -> dict[str, Entry]:
    return measure(arms_that_fit(_steps(plan, batch_size)), plan.repetitions)


def _peaks(plan: Plan, batch_size: int) -> dict[str, Entry]:
    builds = _steps(plan, batch_size)
    return peaks_of({name: builds[name] for name in builds if ".cuda_" in name})


def _steps(plan: Plan, batch_size: int) -> dict[str, partial[Step]]:
    """What builds each step with this batch size, by the name of its entry."""
    torch.manual_seed(SEED)
    mnist, resnet = MNISTClassifier(), SmallResNet()
    size = QUICK[batch_size] if plan.quick else batch_size
    digits = load_mnist(plan.data, train=True, source="subset")
    batch = cast(Batch, next(iter(DataLoader(digits, size))))

    def build(template: nn.Module, device: torch.device, format: str = "float32") -> Step:
        settings = {"model": type(template).__name__, "optimizer": "Adam, lr 1e-3"}
        return Step(Training(template, device, FORMATS[format], adam), batch, settings)

    builds = {}
    if batch_size == SMALL:
        for name, device in plan.devices.items():
            builds[f"mnist.{name}"] = partial(build, mnist, device)
        builds[f"batch_{SMALL}.cpu_float32"] = partial(build, resnet, plan.cpu)
    if plan.gpu:
        for format in FORMATS:
            name = f"batch_{batch_size}.cuda_{format}"
            builds[name] = partial(build, resnet, plan.gpu, format)
    return builds
