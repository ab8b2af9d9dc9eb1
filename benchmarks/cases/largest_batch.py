"""The largest batch of ResNet-50 that fits in 8 GB of GPU memory, and the one that is fastest.

PyTorch is allowed 8 GB, whatever the GPU has. The largest batch is found by doubling until a step
fails and then halving the gap, in a process of its own: near the cap a convolution may have to take
a slower algorithm, which a process keeps for every later batch of that size. The best is the batch
with the least time for an image, among the powers of two below the largest, and the largest itself.
In float32 with TF32 off, and in mixed precision.
"""

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
import torch.multiprocessing

from benchmarks.cases import Part, Plan, SkipPartError
from benchmarks.cases._training_step import (
    FORMATS,
    SEED,
    Step,
    Training,
    random_images,
    resnet50,
)
from benchmarks.method import Arm, measure, unless_memory_lacks
from lesson_code.devices import synchronize
from results.cases import Family, names_of
from results.entry import Entry, entry

CAP_BYTES = 8_000_000_000
MOST, QUICK_MOST = 1024, 2  # where the search ends even if more would fit
SMALLEST_CANDIDATE = 8
PIXELS, QUICK_PIXELS = 224, 64
GPU_FORMATS = ("float32", "float16")
WITHIN = f"within {CAP_BYTES / 1e9:.0f} GB of GPU memory"
FAMILIES = (
    Family(
        "cuda_{format}_largest",
        f"the largest batch of ResNet-50 that fits {WITHIN}, {{format}}",
        {"format": GPU_FORMATS},
        unit="count",
        device="cuda",
    ),
    Family(
        "cuda_{format}_best",
        f"the batch size at which ResNet-50 takes the least time for an image {WITHIN}, {{format}}",
        {"format": GPU_FORMATS},
        unit="count",
        device="cuda",
    ),
    Family(
        "cuda_{format}_{which}_time",
        f"a training step of ResNet-50 at its {{which}} batch size {WITHIN}, {{format}}",
        {"format": GPU_FORMATS, "which": ("largest", "best")},
        device="cuda",
        rate="samples_per_s",
        counts="images",
        rate_figure="largest_batch.cuda_{format}_{which}_rate",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each format; nothing without a GPU."""
    if plan.gpu:
        for format in GPU_FORMATS:
            yield Part(format, partial(_search, plan, plan.gpu, format), expected_s=20)


def _search(plan: Plan, gpu: torch.device, format: str) -> dict[str, Entry]:
    most = QUICK_MOST if plan.quick else MOST
    pixels = QUICK_PIXELS if plan.quick else PIXELS
    settings: dict[str, Any] = {
        "model": "ResNet-50",
        "pixels": pixels,
        "optimizer": "SGD, lr 0.01, momentum 0.9",
        "cap_bytes": CAP_BYTES,
    }
    build = partial(_builder, plan.quick, gpu, format, pixels, settings)
    with ProcessPoolExecutor(1, torch.multiprocessing.get_context("spawn")) as fresh:
        largest = fresh.submit(_largest, build, gpu, CAP_BYTES, most).result()
    if largest == 0:
        raise SkipPartError("not even one image fits under the cap")
    times = _times(plan, build(), largest)
    best = min(times, key=lambda size: times[size].median / size)
    settings["seconds_for_an_image"] = {str(n): time.median / n for n, time in times.items()}
    return {
        f"cuda_{format}_largest": entry(
            [float(largest)], "samples", device=gpu.type, settings=settings
        ),
        f"cuda_{format}_best": entry([float(best)], "samples", device=gpu.type, settings=settings),
        f"cuda_{format}_largest_time": times[largest],
        f"cuda_{format}_best_time": times[best],
    }


def _builder(
    quick: bool, gpu: torch.device, format: str, pixels: int, settings: dict[str, Any]
) -> Callable[[int], Step]:
    """Makes steps of any batch size, all of one new model."""
    training = Training(resnet50(quick), gpu, FORMATS[format])
    return lambda batch_size: Step(training, random_images(batch_size, pixels), settings)


def _largest(
    build: Callable[[], Callable[[int], Step]], gpu: torch.device, cap_bytes: int, most: int
) -> int:
    """The largest batch under the cap; 0 if not even one image fits."""
    step = build()
    with memory_cap(gpu, cap_bytes):
        return largest_that_fits(lambda size: _fits(step, size), most)


def _times(plan: Plan, build: Callable[[int], Step], largest: int) -> dict[int, Entry]:
    """The time of a step at each candidate, by batch size; the cap is lifted meanwhile.

    All candidates train one model: several would not fit beside each other on a small GPU.
    """
    powers = [2**n for n in range(largest.bit_length()) if SMALLEST_CANDIDATE <= 2**n < largest]
    arms = {}
    for size in (*powers, largest):
        step = build(size)
        training = step.training
        arms[str(size)] = Arm(
            step, training.device, step.settings, SEED, size, around=training.switches
        )
    return {int(size): time for size, time in measure(arms, plan.repetitions, 3).items()}


def _fits(build: Callable[[int], Step], batch_size: int) -> bool:
    """Whether steps with this batch size succeed; whatever they held is given back."""
    succeeded = _succeeds(build, batch_size)
    gc.collect()  # not earlier: the exception would still hold the tensors of the failed step
    torch.cuda.empty_cache()
    return succeeded


def _succeeds(build: Callable[[int], Step], batch_size: int) -> bool:
    """Two steps, since the optimizer makes its state in the first; other errors are not caught."""
    with unless_memory_lacks():
        step = build(batch_size)
        step.settle()
        synchronize(step.training.device)
        return True
    return False


def largest_that_fits(fits: Callable[[int], bool], most: int) -> int:
    """The largest size up to ``most`` for which ``fits`` holds, 0 if it holds for none.

    Args:
        fits: True up to some size and False above it.
        most: Where to stop even if more would fit.
    """
    works, fails = 0, most + 1
    while works + 1 < fails:
        found_the_end = fails <= most
        size = (works + fails) // 2 if found_the_end else min(max(1, 2 * works), most)
        if fits(size):
            works = size
        else:
            fails = size
    return works


@contextmanager
def memory_cap(gpu: torch.device, cap_bytes: int) -> Iterator[None]:
    """Let PyTorch take only so much of the GPU's memory, and put the limit back afterwards.

    On a CPU, which stands in for a GPU in tests, nothing is limited.

    Raises:
        SkipPartError: If less than that is free.
    """
    if gpu.type != "cuda":
        yield
        return
    free, total = torch.cuda.mem_get_info(gpu)
    if free < cap_bytes:
        raise SkipPartError(f"it needs {cap_bytes / 1e9:.0f} GB of free GPU memory")
    before = torch.cuda.get_per_process_memory_fraction(gpu)
    torch.cuda.set_per_process_memory_fraction(cap_bytes / total, gpu)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(before, gpu)
