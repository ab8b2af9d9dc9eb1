"""Where the time of a training step goes: labelled parts, a profile of them, and what it shows.

Three trainings spend their time in three ways: on decoding images, on many small operations, and
on arithmetic. One loop trains them all.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,); B is the batch size. Times are in
seconds.
"""

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torchvision.io import decode_image, encode_png

from lesson_code.data import PIXEL_MEAN, PIXEL_STD
from lesson_code.devices import choose_device, synchronize
from lesson_code.foundations.generalising import known_digits
from lesson_code.models import MNISTClassifier

CPU = torch.device("cpu")
PARTS = ("load", "forward", "backward", "update")  # and "move", which costs a CPU nothing
PRODUCTS = ("aten::mm", "aten::addmm")  # the rows of matrix products
BATCH_SIZE, LARGE_BATCH, WIDTH = 32, 256, 1024
FIRST, WARM_UP, STEPS = 1, 2, 3  # steps before the profiler, with it for nothing, and that count
Sample = tuple[Tensor, Tensor]
Loss = Callable[[nn.Module, Tensor, Tensor], Tensor]
Run = Callable[[Callable[[], None]], None]  # trains, and calls what it gets after each step


# --8<-- [start:train]
def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: Iterable[Sample],
    loss_of: Loss,
    device: torch.device,
    after_step: Callable[[], None] = lambda: None,
) -> None:
    """One epoch, each part of a step under a name."""
    batches = iter(loader)
    while True:
        with record_function("load"):
            batch = next(batches, None)
        if batch is None:
            return
        with record_function("move"):
            images, labels = (part.to(device, non_blocking=True) for part in batch)
        with record_function("forward"):
            loss = loss_of(model, images, labels)
        with record_function("backward"):
            loss.backward()
        with record_function("update"):
            optimizer.step()
            optimizer.zero_grad()
        after_step()


# --8<-- [end:train]


# --8<-- [start:profiled]
def profiled(run: Run, device: torch.device) -> profile:
    """Profile three steps of ``run``, which calls what it gets after each step."""
    activities = [ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    plan = schedule(wait=FIRST, warmup=WARM_UP, active=STEPS, repeat=1)
    with profile(activities=activities, schedule=plan) as profiler:
        run(profiler.step)
    return profiler


# --8<-- [end:profiled]


# --8<-- [start:losses]
def whole_batch(model: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
    """The loss of a batch, computed at once."""
    return F.cross_entropy(model(images), labels)


def one_by_one(model: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
    """The same loss, image after image."""
    losses = [
        F.cross_entropy(model(image[None]), label[None])
        for image, label in zip(images, labels, strict=True)
    ]
    return torch.stack(losses).mean()


# --8<-- [end:losses]


# --8<-- [start:compressed]
class CompressedDigits(Dataset[Sample]):
    """Images kept as PNG, as files are; each one is decoded at every visit."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        self.files = [as_png(image) for image in images]
        self.labels = labels

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Sample:
        pixels = decode_image(self.files[index]).float()
        return (pixels / 255 - PIXEL_MEAN) / PIXEL_STD, self.labels[index]


# --8<-- [end:compressed]


def as_png(image: Tensor) -> Tensor:
    """A normalised image of (1, 28, 28) as the bytes of a PNG file."""
    pixels = 255 * (image * PIXEL_STD + PIXEL_MEAN)
    return encode_png(pixels.round().to(torch.uint8))


def wide_model() -> nn.Module:
    """Two hidden layers of 1,024 units."""
    return nn.Sequential(
        nn.Flatten(),
        *(nn.Linear(784, WIDTH), nn.ReLU()),
        *(nn.Linear(WIDTH, WIDTH), nn.ReLU()),
        nn.Linear(WIDTH, 10),
    )


@dataclass(frozen=True)
class Training:
    """What is trained, and on what.

    Attributes:
        build: Makes the model.
        dataset: Makes the dataset of images and labels.
        loss_of: The loss of a batch.
        batch_size: Images in a batch.
    """

    build: Callable[[], nn.Module] = MNISTClassifier
    dataset: Callable[..., Dataset[Any]] = TensorDataset
    loss_of: Loss = whole_batch
    batch_size: int = BATCH_SIZE

    def prepare(self, device: torch.device) -> Run:
        """A function that trains for six steps."""
        torch.manual_seed(0)
        model = self.build().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        images, labels = known_digits()[0]
        count = self.batch_size * (FIRST + WARM_UP + STEPS)
        loader = DataLoader(self.dataset(images[:count], labels[:count]), self.batch_size)
        return lambda after_step: train(model, optimizer, loader, self.loss_of, device, after_step)


TRAININGS = {
    "A": Training(dataset=CompressedDigits),
    "B": Training(loss_of=one_by_one),
    "C": Training(wide_model, batch_size=LARGE_BATCH),
}
MENDED = {"A": Training(), "B": Training()}


def rows_of(profiler: profile) -> dict[str, tuple[int, float]]:
    """For each row its calls in a step, and the seconds that they took on the CPU."""
    return {
        row.key: (row.count // STEPS, row.cpu_time_total / 1e6 / STEPS)
        for row in profiler.key_averages()
    }


# --8<-- [start:step_seconds]
def step_seconds(run: Run, device: torch.device) -> float:
    """The median step of ``run``, without a profiler and without the first step."""
    ends: list[float] = []

    def after_step() -> None:
        synchronize(device)
        ends.append(time.perf_counter())

    run(after_step)
    return statistics.median(end - start for start, end in itertools.pairwise(ends))


# --8<-- [end:step_seconds]


def in_ms(seconds: float) -> str:
    """Seconds as milliseconds, as wide as a column."""
    return f"{1e3 * seconds:9.2f} ms"


def print_parts() -> dict[str, int]:
    """The parts of each training's step, a step without the profiler, and its matrix products.

    Returns:
        The number of products in a step of each.
    """
    products = {}
    for name, training in TRAININGS.items():
        run = training.prepare(CPU)
        rows = rows_of(profiled(run, CPU))
        products[name] = sum(rows[product][0] for product in PRODUCTS)
        parts = "".join(in_ms(rows[part][1]) for part in PARTS)
        print(f"{name}{parts}{in_ms(step_seconds(run, CPU))}{products[name]:6}")
    return products


def print_products() -> None:
    """How often each row of the products is called in a step of B and of C, and for how long."""
    found = [rows_of(profiled(TRAININGS[name].prepare(CPU), CPU)) for name in "BC"]
    for row in PRODUCTS:
        print(f"{row:12}" + "".join(f"{found[row][0]:6}{in_ms(found[row][1])}" for found in found))


def print_mended() -> None:
    """A step of A and of B, without the profiler, before and after what slowed it down is gone."""
    for name, mended in MENDED.items():
        before, after = (
            step_seconds(training.prepare(CPU), CPU) for training in (TRAININGS[name], mended)
        )
        print(f"{name}{in_ms(before)}{in_ms(after)}")


def main(arguments: list[str] | None = None) -> int:
    """Profile one of the trainings here, on the GPU if there is one."""
    parser = argparse.ArgumentParser(
        prog="python -m lesson_code.foundations.profiling", description=main.__doc__
    )
    parser.add_argument("training", choices=TRAININGS, help="which one")
    parser.add_argument("--trace", metavar="FILE", help="write a trace for a viewer, too")
    parsed = parser.parse_args(arguments)
    device = choose_device()
    profiler = profiled(TRAININGS[parsed.training].prepare(device), device)
    # --8<-- [start:look]
    clock = "self_device_time_total" if device.type == "cuda" else "self_cpu_time_total"
    print(profiler.key_averages().table(sort_by=clock, row_limit=12))
    if parsed.trace:
        profiler.export_chrome_trace(parsed.trace)
    # --8<-- [end:look]
    return 0


if __name__ == "__main__":
    sys.exit(main())
