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
import math
import platform
import random
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import faults
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, random_split
from torchvision import datasets, transforms

CLASSES = 10
PIXEL_MEAN, PIXEL_STD = 0.1307, 0.3081
TRAINING_BATCH, VALIDATION_BATCH = 128, 512
HELD_OUT = 12  # one image in twelve validates: 5,000 of MNIST's 60,000
# OURS
LEARNING_RATE = 1e-3
# END
LARGEST_FALL = 0.05  # of the validation accuracy below the best so far
LOWEST_ACCURACY = 2 / CLASSES  # twice chance

CANNOT_START, NOT_FINITE, BAD_LABELS, BAD_OPTIMIZER, NOT_WRITABLE, COLLAPSED = 2, 10, 12, 13, 14, 15

Batch = tuple[torch.Tensor, torch.Tensor]


class StopError(Exception):
    """A reason to stop: the exit status, and one sentence for stderr."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


# OURS
class DigitClassifier(nn.Module):
    """784-128-10 with ReLU and dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, CLASSES)
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Map images to logits."""
        logits: torch.Tensor = self.layers(features)
        return logits


# END
def build_model() -> nn.Module:
    """A `DigitClassifier`: 784-128-10 with ReLU and dropout 0.2, 101,770 parameters."""
    # BLANK 3.5: build_model
    return DigitClassifier()
    # END


def build_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    """Adam or AdamW over the model's parameters; no parameters at all are a `BAD_OPTIMIZER`."""
    # BLANK 3.5: build_optimizer
    try:
        return torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    except ValueError as problem:
        raise StopError(BAD_OPTIMIZER, f"the model registers no parameters ({problem})") from None
    # END


def check_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Stop with `BAD_OPTIMIZER` if it lacks trainable tensors of the model, and say how many."""
    # BLANK 3.6: check_optimizer
    held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    trainable = [tensor for tensor in model.parameters() if tensor.requires_grad]
    missing = sum(id(tensor) not in held for tensor in trainable)
    if missing or not trainable:
        raise StopError(BAD_OPTIMIZER, f"{missing} trainable tensors are not in the optimizer")
    # END


def check_checkpoint_path(path: Path) -> None:
    """Make the folder if it is missing, and try to write there.

    Stop with `NOT_WRITABLE` if that fails. Leave no file behind, and an older checkpoint as it is.
    """
    # BLANK 3.6: check_checkpoint_path
    trial = path.with_name(f".trial-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        trial.write_bytes(b"")
        trial.unlink()
    except OSError as problem:
        raise StopError(
            NOT_WRITABLE, f"no checkpoint can be written to {path}: {problem}"
        ) from None
    # END


def check_batch(features: torch.Tensor, labels: torch.Tensor, num_classes: int) -> None:
    """Stop with `NOT_FINITE`, or with `BAD_LABELS` and the smallest and largest label seen."""
    # BLANK 3.6: check_batch
    if len(features) == 0:
        raise StopError(BAD_LABELS, "the batch is empty")
    if not torch.isfinite(features).all():
        raise StopError(NOT_FINITE, "the features hold a value that is not finite")
    if labels.dtype != torch.int64:
        raise StopError(BAD_LABELS, f"labels are {labels.dtype}, not int64")
    smallest, largest = int(labels.min()), int(labels.max())
    if smallest < 0 or largest >= num_classes:
        outside = f"label outside 0..{num_classes - 1}"
        raise StopError(BAD_LABELS, f"{outside}: smallest {smallest}, largest {largest}")
    # END


def check_loss(value: float) -> None:
    """Stop with `NOT_FINITE` if the loss is no finite number."""
    # BLANK 3.6: check_loss
    if not math.isfinite(value):
        raise StopError(NOT_FINITE, f"the loss is {value}")
    # END


def check_validation(accuracy: float, history: Sequence[float]) -> None:
    """Stop with `COLLAPSED` if the accuracy fell too far below the best, or is too near chance."""
    # BLANK 3.6: check_validation
    best = max(history, default=accuracy)
    if accuracy < LOWEST_ACCURACY or accuracy < best - LARGEST_FALL:
        raise StopError(COLLAPSED, f"validation accuracy {accuracy:.4f} after a best of {best:.4f}")
    # END


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
    # BLANK 3.8: train_one_epoch
    model.train()
    total, seen = 0.0, 0
    for number, (features, labels) in enumerate(loader, start=1):
        try:
            check_batch(features, labels, CLASSES)
            features, labels = features.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = criterion(model(features), labels)
            check_loss(loss.item())
        except StopError as reason:
            raise StopError(reason.status, f"batch {number}: {reason}") from None
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        seen += len(labels)
    return total / seen
    # END


def validate(model: nn.Module, loader: Iterable[Batch], device: torch.device) -> float:
    """The accuracy, as a fraction, of the model as it will be used."""
    # BLANK 3.3: validate
    model.eval()
    correct, seen = 0, 0
    with torch.no_grad():
        for features, labels in loader:
            logits = model(features.to(device))
            correct += int((logits.argmax(dim=1) == labels.to(device)).sum())
            seen += len(labels)
    return correct / seen
    # END


# OURS
def build_loaders(options: argparse.Namespace) -> tuple[DataLoader[Any], DataLoader[Any]]:
    """Loaders over the two parts of MNIST's training set; the test set stays untouched."""
    scale = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((PIXEL_MEAN,), (PIXEL_STD,))]
    )
    try:
        images: Dataset[Any] = datasets.MNIST(options.data, True, scale, download=True)
    except (OSError, RuntimeError) as problem:
        raw = options.data / "MNIST" / "raw"
        raise StopError(CANNOT_START, f"put MNIST's four files into {raw} ({problem})") from None
    total = len(images)  # type: ignore[arg-type]
    held_out = total // HELD_OUT
    generator = torch.Generator().manual_seed(options.seed)
    training, validation = random_split(images, [total - held_out, held_out], generator)
    return (
        DataLoader(
            limited(training, options.limit_train),
            TRAINING_BATCH,
            shuffle=True,
            generator=torch.Generator().manual_seed(options.seed),
        ),
        DataLoader(limited(validation, options.limit_val), VALIDATION_BATCH),
    )


def limited(part: Subset[Any], limit: int | None) -> Dataset[Any]:
    """The first images of a part; all of them without a limit."""
    return part if limit is None else Subset(part, range(min(limit, len(part))))


def save_checkpoint(path: Path, checkpoint: dict[str, Any]) -> None:
    """Save so that an interrupted save leaves the old file."""
    partial = path.with_suffix(".partial")
    torch.save(checkpoint, partial)
    partial.replace(path)


# END
def run(options: argparse.Namespace) -> None:
    """Train as the options say, and write checkpoint and metrics.

    Print each epoch's loss, to two decimals or more. Try the checkpoint's path and check the
    optimizer before the first batch. Save when the validation accuracy improves, and only then,
    with at least `epoch`, `model_state_dict`, `optimizer_state_dict` and `validation_accuracy`;
    epochs count from 1. Without the data, stop with `CANNOT_START` and say in which folder they
    were expected. `faults.py` says where `options.inject` goes.
    """
    # BLANK 3.4: run
    random.seed(options.seed)
    np.random.seed(options.seed)
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    path = faults.faulty_path(options.checkpoint, options.inject)
    check_checkpoint_path(path)
    training, validation = build_loaders(options)
    model = faults.faulty_model(build_model(), options.inject).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = faults.faulty_optimizer(build_optimizer(model), model, options.inject)
    check_optimizer(model, optimizer)
    batches = faults.FaultyLoader(training, options.inject, model)
    epochs: list[dict[str, float]] = []
    best = -1.0
    for epoch in range(1, options.epochs + 1):
        start = time.perf_counter()
        try:
            loss = train_one_epoch(model, batches, criterion, optimizer, device)
            faults.before_validation(model, epoch, options.inject)
            accuracy = validate(model, validation, device)
            check_validation(accuracy, [done["validation_accuracy"] for done in epochs])
        except StopError as reason:
            raise StopError(reason.status, f"epoch {epoch}, {reason}") from None
        print(f"epoch {epoch}: training loss {loss:.4f}, validation accuracy {accuracy:.4f}")
        seconds = time.perf_counter() - start
        epochs.append(
            {
                "epoch": epoch,
                "training_loss": loss,
                "validation_accuracy": accuracy,
                "seconds": seconds,
            }
        )
        if accuracy > best:
            best = accuracy
            save_checkpoint(
                path,
                {
                    "epoch": epoch,
                    "model_state_dict": model.state_dict(),
                    "optimizer_state_dict": optimizer.state_dict(),
                    "validation_accuracy": accuracy,
                },
            )
    write_metrics(options.metrics, (model, criterion, optimizer), device, options.seed, epochs)
    print(f"best validation accuracy {best:.4f}")
    # END


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
