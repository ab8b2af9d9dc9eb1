"""A training step of ResNet-18, a model with much to compute: CPU, GPU, and mixed precision.

Made-up images of 224 × 224 pixels. A batch that a CPU can bear on both devices, so that their
ratio compares the same work; then a batch of a size that suits a GPU, on the GPU in float32 with
TF32 off and on, and in mixed precision (float16 with loss scaling).
"""

from collections.abc import Iterator
from functools import partial

import torch
from torchvision.models.resnet import BasicBlock, ResNet

from benchmarks.cases import Part, Plan
from benchmarks.cases._training_step import (
    FORMATS,
    SEED,
    Step,
    Training,
    arms_that_fit,
    peaks_of,
    random_images,
)
from benchmarks.method import measure
from results.cases import Family, names_of
from results.entry import Entry

SMALL, LARGE = 8, 128
QUICK = {SMALL: 2, LARGE: 4}  # what stands in for these batch sizes in a quick run
PIXELS, QUICK_PIXELS = 224, 32
GPU_FORMATS = ("float32", "tf32", "float16")
STEP = f"{{n}} images of {PIXELS} × {PIXELS} pixels"
FAMILIES = (
    Family(
        "batch_{n}.cpu_float32",
        f"a training step of ResNet-18 on the CPU, {STEP}",
        {"n": (SMALL,)},
        rate="samples_per_s",
        counts="images",
    ),
    Family(
        "batch_{n}.cuda_{format}",
        f"a training step of ResNet-18 on the GPU, {STEP}, {{format}}",
        {"n": (SMALL, LARGE), "format": GPU_FORMATS},
        device="cuda",
        rate="samples_per_s",
        counts="images",
    ),
    Family(
        "batch_{n}.cuda_{format}_peak",
        "the most memory that a step of ResNet-18 on {n} images holds on the GPU, {format}",
        {"n": (LARGE,), "format": GPU_FORMATS},
        unit="megabytes",
        device="cuda",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """The batch that every device gets; then time and peak memory of the GPU's own."""
    yield Part("small_batch", partial(_times, plan, SMALL), expected_s=20)
    if plan.gpu:
        yield Part("large_batch", partial(_times, plan, LARGE), expected_s=8)
        yield Part("large_batch.peak", partial(_peaks, plan), expected_s=5)


def _times(plan: Plan, batch_size: int) -> dict[str, Entry]:
    return measure(arms_that_fit(_steps(plan, batch_size)), plan.repetitions)


def _peaks(plan: Plan) -> dict[str, Entry]:
    return peaks_of(_steps(plan, LARGE))


def _steps(plan: Plan, batch_size: int) -> dict[str, partial[Step]]:
    """What builds each step with this batch size, by the name of its entry."""
    torch.manual_seed(SEED)
    template = ResNet(BasicBlock, [1, 1, 1, 1] if plan.quick else [2, 2, 2, 2])
    size, pixels = (QUICK[batch_size], QUICK_PIXELS) if plan.quick else (batch_size, PIXELS)
    batch = random_images(size, pixels)
    settings = {"model": "ResNet-18", "pixels": pixels, "optimizer": "SGD, lr 0.01, momentum 0.9"}

    def build(device: torch.device, format: str) -> Step:
        return Step(Training(template, device, FORMATS[format]), batch, settings)

    builds = {}
    if batch_size == SMALL:
        builds[f"batch_{SMALL}.cpu_float32"] = partial(build, plan.cpu, "float32")
    if plan.gpu:
        for format in GPU_FORMATS:
            builds[f"batch_{batch_size}.cuda_{format}"] = partial(build, plan.gpu, format)
    return builds
