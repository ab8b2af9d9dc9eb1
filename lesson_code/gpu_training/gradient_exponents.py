"""The gradients of the lesson's model in float32 training, counted by their size.

They are counted where float16 would hold them: at each layer's output, on their way back, and at
the weights. ``python -m lesson_code.gpu_training.gradient_exponents FILE --data FOLDER`` trains on
MNIST with five seeds and writes what came; the site shows it.

Shapes: images are (N, 1, 28, 28), float32, labels (N,), int64.
"""

import argparse
import datetime
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.data import as_tensors, load_mnist, split_training_data
from lesson_code.devices import cpu_name, one_thread
from lesson_code.gpu_training.exponent_histogram import (
    FIRST_SPLIT,
    PARTS,
    SPLITS,
    Histogram,
    as_row,
)
from lesson_code.models import MNISTClassifier

SEEDS = range(5)
EPOCHS = (1, 5, 10, 20)
EVERY = 10  # steps, of which one is counted
BATCH_SIZE = 64
RATE = 1e-3
LOWEST = -150  # below every number of float32
PLACES = {"logits": "fc3", "layer_2": "fc2", "layer_1": "fc1"}
WEIGHTS = "weights"


class Counter:
    """Counts numbers by size, as ``Histogram`` says."""

    def __init__(self) -> None:
        """Begin with nothing counted."""
        self._counts = torch.zeros(-2 * LOWEST * PARTS, dtype=torch.int64)
        self._zeros = 0

    def add(self, numbers: torch.Tensor) -> None:
        """Count more.

        Args:
            numbers: Finite, float32, of any shape.

        Raises:
            ValueError: If one of them is infinite or not a number.
        """
        sizes = numbers.detach().flatten().double().abs()  # there float32's smallest are normal
        if not sizes.isfinite().all():
            raise ValueError("only finite numbers can be counted by size")
        sizes = sizes[sizes > 0]
        self._zeros += numbers.numel() - sizes.numel()
        halves, powers = torch.frexp(sizes)
        share, exponents = 2 * halves, powers.long() - 1
        first, second, third = SPLITS
        parts = (share > first).long() + (share >= second) + (share >= third)
        exact = share == 1  # a power of two is the upper end of the bin below
        exponents -= exact.long()
        parts[exact] = PARTS - 1
        places = (exponents - LOWEST) * PARTS + parts
        self._counts += torch.bincount(places, minlength=len(self._counts))

    def histogram(self) -> Histogram:
        """What was counted until now."""
        rows = self._counts.view(-1, PARTS).tolist()
        bins = {LOWEST + place: tuple(counts) for place, counts in enumerate(rows) if any(counts)}
        merged = {e: counts if e >= FIRST_SPLIT else (sum(counts),) for e, counts in bins.items()}
        return Histogram(self._zeros, merged)


def count_gradients(
    images: torch.Tensor,
    labels: torch.Tensor,
    seed: int,
    epochs: Sequence[int] = EPOCHS,
    every: int = EVERY,
) -> dict[int, tuple[float, dict[str, Histogram]]]:
    """Train in float32 with Adam, and count gradients in some epochs.

    Args:
        images: The training images.
        labels: Their digits.
        seed: Draws the first weights, and another one from it the order of the batches.
        epochs: In which to count, from one.
        every: Steps, of which the first is counted.

    Returns:
        For each of the epochs its average loss, and by place what was counted.
    """
    torch.manual_seed(seed)
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    order = torch.Generator().manual_seed(100 + seed)
    found = {}
    for epoch in range(1, max(epochs) + 1):
        total_loss = 0.0
        counters = {place: Counter() for place in (*PLACES, WEIGHTS)}
        for step, batch in enumerate(
            torch.randperm(len(images), generator=order).split(BATCH_SIZE)
        ):
            counted = epoch in epochs and step % every == 0
            optimizer.zero_grad()
            with _counted_at(model, counters if counted else {}):
                loss = cross_entropy(model(images[batch]), labels[batch])
                loss.backward()
            if counted:
                for parameter in model.parameters():
                    assert parameter.grad is not None
                    counters[WEIGHTS].add(parameter.grad)
            optimizer.step()
            total_loss += loss.item() * len(batch)
        if epoch in epochs:
            counts = {place: counter.histogram() for place, counter in counters.items()}
            found[epoch] = (total_loss / len(images), counts)
    return found


@contextmanager
def _counted_at(model: nn.Module, counters: dict[str, Counter]) -> Iterator[None]:
    """Count the gradient at each layer's output, where a counter is given for it."""

    def watch(counter: Counter) -> Any:
        def hook(_layer: nn.Module, _inputs: object, output: torch.Tensor) -> None:
            output.register_hook(counter.add)

        return hook

    hooks = [
        model.get_submodule(layer).register_forward_hook(watch(counters[place]))
        for place, layer in PLACES.items()
        if place in counters
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def record(images: torch.Tensor, labels: torch.Tensor) -> dict[str, Any]:
    """Train with every seed: what was counted, and how, on which machine, ready for JSON."""
    runs = []
    with one_thread():
        for seed in SEEDS:
            for epoch, (loss, places) in count_gradients(images, labels, seed).items():
                runs += [
                    {
                        "seed": seed,
                        "epoch": epoch,
                        "loss": loss,
                        "place": place,
                        "zeros": histogram.zeros,
                        "bins": as_row(histogram),
                    }
                    for place, histogram in places.items()
                ]
            print(f"seed {seed} is counted", file=sys.stderr)
        threads = torch.get_num_threads()
    return {
        "model": "MNISTClassifier",
        "images": len(images),
        "batch_size": BATCH_SIZE,
        "optimizer": f"Adam, learning rate {RATE}",
        "every": EVERY,
        "splits": SPLITS,
        "provenance": {
            "processor": cpu_name(),
            "cores": os.cpu_count(),
            "threads": threads,
            "torch": torch.__version__,
            "python": platform.python_version(),
            "date": datetime.date.today().isoformat(),
        },
        "runs": runs,
    }


def as_json(recorded: dict[str, Any]) -> str:
    """What was recorded, a histogram a line."""
    head = {key: value for key, value in recorded.items() if key != "runs"}
    runs = [json.dumps(run, separators=(",", ":")) for run in recorded["runs"]]
    return json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n' + ",\n".join(runs) + "\n]}\n"


def main(arguments: list[str] | None = None) -> int:
    """Count the gradients of the lesson's model on MNIST and write them to a file."""
    name = "python -m lesson_code.gpu_training.gradient_exponents"
    parser = argparse.ArgumentParser(prog=name, description=main.__doc__)
    parser.add_argument("file", type=Path, help="where to write; an older one is replaced")
    parser.add_argument("--data", type=Path, default=Path("data"), help="where MNIST/raw is")
    asked = parser.parse_args(arguments)
    if not asked.file.parent.is_dir():
        return _refuse(f"there is no folder {asked.file.parent}; make it, or write elsewhere")
    try:
        training, _ = split_training_data(load_mnist(asked.data, source="full"))
    except FileNotFoundError as problem:
        return _refuse(str(problem))
    written = as_json(record(*as_tensors(training)))
    unfinished = asked.file.with_suffix(".unfinished")
    try:
        unfinished.write_text(written, encoding="utf-8")
        unfinished.replace(asked.file)
    except OSError as problem:
        return _refuse(f"can't write {asked.file}: {problem.strerror}; write elsewhere")
    return 0


def _refuse(why: str) -> int:
    print(f"error: {why}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
