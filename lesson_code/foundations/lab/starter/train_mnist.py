"""Step 3: train a classifier of handwritten digits, and stop at the first thing that is wrong.

What is given: the options, the metrics file, and how the script stops. The rest is yours. The
loop, the loaders and the checkpoint are in Part 4, the checks in Part 5; the trial write and the
rule for a collapse are yours to invent. Six components are required:

1. `DigitClassifier`, with every layer registered
2. loaders for training (shuffled, with a seeded generator) and for validation
3. cross-entropy, fed with logits and integer labels
4. gradients reset before `backward`
5. validation in evaluation mode and without gradients
6. a checkpoint with the states of the model and of the optimizer

Shapes: features are (B, 1, 28, 28), float32; labels are (B,), int64; logits are (B, 10).
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import faults
import torch
from torch import nn

CLASSES = 10
PIXEL_MEAN, PIXEL_STD = 0.1307, 0.3081
TRAINING_BATCH, VALIDATION_BATCH = 128, 512
HELD_OUT = 12  # one image in twelve validates: 5,000 of MNIST's 60,000
LARGEST_FALL = 0.05  # of the validation accuracy below the best so far
LOWEST_ACCURACY = 2 / CLASSES  # twice chance

CANNOT_START, NOT_FINITE, BAD_LABELS, BAD_OPTIMIZER, NOT_WRITABLE, COLLAPSED = 2, 10, 12, 13, 14, 15

Batch = tuple[torch.Tensor, torch.Tensor]


class StopError(Exception):
    """A reason to stop: the exit status, and one sentence for stderr."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def build_model() -> nn.Module:
    """A `DigitClassifier`: 784-128-10 with ReLU and dropout 0.2, 101,770 parameters."""
    raise NotImplementedError("build_model is yours to write")


def build_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    """Adam or AdamW over the model's parameters; no parameters at all are a `BAD_OPTIMIZER`."""
    raise NotImplementedError("build_optimizer is yours to write")


def check_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Stop with `BAD_OPTIMIZER` if it lacks trainable tensors of the model, and say how many."""
    raise NotImplementedError("check_optimizer is yours to write")


def check_checkpoint_path(path: Path) -> None:
    """Make the folder if it is missing, and try to write there.

    Stop with `NOT_WRITABLE` if that fails. Leave no file behind, and an older checkpoint as it is.
    """
    raise NotImplementedError("check_checkpoint_path is yours to write")


def check_batch(features: torch.Tensor, labels: torch.Tensor, num_classes: int) -> None:
    """Stop with `NOT_FINITE`, or with `BAD_LABELS` and the smallest and largest label seen."""
    raise NotImplementedError("check_batch is yours to write")


def check_loss(value: float) -> None:
    """Stop with `NOT_FINITE` if the loss is no finite number."""
    raise NotImplementedError("check_loss is yours to write")


def check_validation(accuracy: float, history: Sequence[float]) -> None:
    """Stop with `COLLAPSED` if the accuracy fell too far below the best, or is too near chance."""
    raise NotImplementedError("check_validation is yours to write")


def train_one_epoch(
    model: nn.Module,
    loader: Iterable[Batch],
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    device: torch.device,
) -> float:
    """Train on every batch once and return the mean loss of an example.

    Check each batch before the forward pass and each loss before `backward`; a `StopError`
    from here names the batch.
    """
    raise NotImplementedError("train_one_epoch is yours to write")


def validate(model: nn.Module, loader: Iterable[Batch], device: torch.device) -> float:
    """The accuracy, as a fraction, of the model as it will be used."""
    raise NotImplementedError("validate is yours to write")


def run(options: argparse.Namespace) -> None:
    """Train as the options say, print a line an epoch, and write checkpoint and metrics.

    Try the checkpoint's path and check the optimizer before the first batch. Save when the
    validation accuracy improves, and only then, with at least `epoch`, `model_state_dict`,
    `optimizer_state_dict` and `validation_accuracy`; epochs count from 1. Without the data, stop
    with `CANNOT_START` and say in which folder they were expected. `faults.py` says where
    `options.inject` goes.
    """
    raise NotImplementedError("run is yours to write")


def write_metrics(
    path: Path,
    parts: tuple[nn.Module, nn.Module, torch.optim.Optimizer],
    device: torch.device,
    seed: int,
    epochs: list[dict[str, float]],
) -> None:
    """Write what Step 6 reads.

    Args:
        path: Where to.
        parts: The model, the loss and the optimizer.
        device: Where the model was trained.
        seed: What fixed every draw.
        epochs: For each epoch its `epoch`, `training_loss`, `validation_accuracy`, `seconds`.
    """
    names: dict[str, Any] = dict(
        zip(("model", "loss", "optimizer"), (type(part).__name__ for part in parts), strict=True)
    )
    versions = {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "torchvision": version("torchvision"),
    }
    metrics = names | {"device": device.type, "seed": seed, "versions": versions, "epochs": epochs}
    path.write_text(json.dumps(metrics, indent=2) + "\n", encoding="utf-8")


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="train_mnist.py", description="Train on MNIST.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="holds MNIST/raw")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--limit-train", type=int, help="use only so many training images")
    parser.add_argument("--limit-val", type=int, help="use only so many validation images")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/best.pt"))
    parser.add_argument("--metrics", type=Path, default=Path("metrics.json"))
    parser.add_argument("--inject", choices=faults.FAULTS, help="plant a fault")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run, and turn a reason to stop into a sentence and an exit status."""
    options = parse_options(arguments)
    try:
        run(options)
    except StopError as reason:
        print(f"stopped: {reason}", file=sys.stderr)
        return reason.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
