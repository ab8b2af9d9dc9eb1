"""A training step of ResNet-50 in every number format and memory layout, with its peak memory.

Made-up images of 224 × 224 pixels in batches of 32, 64 and 128: float32 with TF32 off and on,
bfloat16, and float16 with loss scaling, each in the usual layout and with the channels last.
"""

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.cases._training_step import (
    FORMATS,
    Step,
    Training,
    arms_that_fit,
    peaks_of,
    random_images,
    resnet50,
)
from benchmarks.method import measure
from results.cases import Family, names_of
from results.entry import Entry

BATCH_SIZES = (32, 64, 128)
PIXELS, QUICK_PIXELS, QUICK_BATCH = 224, 32, 2
LAYOUTS = {"": torch.contiguous_format, "_channels_last": torch.channels_last}
TIMES = tuple(
    f"batch_{n}.cuda_{format}{layout}"
    for n in BATCH_SIZES
    for format in FORMATS
    for layout in LAYOUTS
)
FAMILIES = tuple(
    Family(
        f"batch_{{n}}.cuda_{{format}}{layout}{what}",
        f"{words} ResNet-50, {{n}} images, {{format}}{', channels last' if layout else ''}",
        {"n": BATCH_SIZES, "format": tuple(FORMATS)},
        unit="megabytes" if what else "s",
        device="cuda",
        rate="" if what else "samples_per_s",
        counts="" if what else "images",
    )
    for what, words in (
        ("", "a training step on the GPU of"),
        ("_peak", "the most memory that a step holds on the GPU of"),
    )
    for layout in LAYOUTS
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Time of every arm at one batch size, then their peaks; nothing without a GPU."""
    if plan.gpu is None:
        return
    for n in BATCH_SIZES[:1] if plan.quick else BATCH_SIZES:
        yield Part(f"batch_{n}", partial(_times, plan, plan.gpu, n), expected_s=3 + 0.05 * n)
        yield Part(f"batch_{n}.peak", partial(_peaks, plan, plan.gpu, n), expected_s=2 + 0.04 * n)


def _times(plan: Plan, gpu: torch.device, batch_size: int) -> dict[str, Entry]:
    return measure(arms_that_fit(_steps(plan, gpu, batch_size)), plan.repetitions)


def _peaks(plan: Plan, gpu: torch.device, batch_size: int) -> dict[str, Entry]:
    return peaks_of(_steps(plan, gpu, batch_size))


def _steps(plan: Plan, gpu: torch.device, batch_size: int) -> dict[str, partial[Step]]:
    """What builds each step with this batch size, by the name of its entry."""
    template = resnet50(plan.quick)
    pixels = QUICK_PIXELS if plan.quick else PIXELS
    images, labels = random_images(QUICK_BATCH if plan.quick else batch_size, pixels)
    settings = {"model": "ResNet-50", "pixels": pixels, "optimizer": "SGD, lr 0.01, momentum 0.9"}

    def build(format: str, layout: str) -> Step:
        memory_format = LAYOUTS[layout]
        training = Training(template, gpu, FORMATS[format])
        training.model.to(memory_format=memory_format)
        batch = images.to(gpu).to(memory_format=memory_format), labels
        return Step(training, batch, {**settings, "channels_last": layout != ""})

    return {
        f"batch_{batch_size}.cuda_{format}{layout}": partial(build, format, layout)
        for format in FORMATS
        for layout in LAYOUTS
    }
