"""A whole training script: seeds, data, model, loop, validation, checkpoint, one final test figure.

``python -m lesson_code.foundations.train_mnist --data FOLDER`` runs it. It trains on MNIST's files
and on nothing else: where they are missing and cannot be downloaded, it says so and stops.

Shapes: an image is (1, 28, 28), float32; B is the batch size; accuracies are fractions.
"""

# --8<-- [start:data]
import argparse
import math
import random
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, random_split
from torchvision import datasets, transforms

from lesson_code.foundations.modules import DigitClassifier
from lesson_code.foundations.optimizers_and_checkpoints import save_checkpoint

Sample = tuple[torch.Tensor, int]
PREPARE = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])


def load_digits(folder: Path, train: bool) -> datasets.MNIST:
    """MNIST from ``folder``, downloaded on first use; nothing else ever stands in for it."""
    try:
        return datasets.MNIST(folder, train, transform=PREPARE, download=True)
    except (OSError, RuntimeError):
        names = ", ".join(Path(file).stem for file, _ in datasets.MNIST.resources)
        raw = folder / "MNIST" / "raw"
        sys.exit(f"error: no MNIST and no download; put the unpacked files into {raw}: {names}")


def make_loaders(
    folder: Path, order: torch.Generator, limit_train: int | None, limit_val: int | None
) -> tuple[DataLoader[Sample], DataLoader[Sample]]:
    """Loaders for training and validation; both parts come out of the training files."""
    known = load_digits(folder, train=True)
    held_out = len(known) // 12  # 5,000 of 60,000
    parts = [len(known) - held_out, held_out]
    training, validation = random_split(known, parts, torch.Generator().manual_seed(13))
    return (
        DataLoader(first(training, limit_train), batch_size=128, shuffle=True, generator=order),
        DataLoader(first(validation, limit_val), batch_size=512),
    )


def first(part: Subset[Sample], limit: int | None) -> Subset[Sample]:
    """The part, or its first ``limit`` images."""
    return Subset(part, range(min(limit, len(part)))) if limit else part


# --8<-- [end:data]


# --8<-- [start:model]
def build_model() -> nn.Module:
    """A fresh classifier; its weights come from torch's current random state."""
    return DigitClassifier()


def build_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    """Adam over every parameter that the model has registered."""
    return torch.optim.Adam(model.parameters(), lr=1e-3)


# --8<-- [end:model]


# --8<-- [start:loop]
def train_one_epoch(
    model: nn.Module,
    loader: DataLoader[Sample],
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    device: torch.device,
) -> float:
    """Train on every batch once and return the mean loss of an example."""
    model.train()
    total_loss, seen = 0.0, 0
    for number, (images, labels) in enumerate(loader, start=1):
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        value = loss.item()
        if not math.isfinite(value):
            raise FloatingPointError(f"batch {number}: the loss is {value}")
        loss.backward()
        optimizer.step()
        total_loss += value * len(labels)
        seen += len(labels)
    return total_loss / seen


@torch.no_grad()
def validate(model: nn.Module, loader: DataLoader[Sample], device: torch.device) -> float:
    """The share of right answers, between 0 and 1."""
    model.eval()
    right, seen = 0, 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        right += int((model(images).argmax(dim=1) == labels).sum())
        seen += len(labels)
    return right / seen


# --8<-- [end:loop]


# --8<-- [start:main]
def seed_everything(seed: int) -> None:
    """Fix Python's, NumPy's and PyTorch's draws; torch.manual_seed covers every device."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def main(arguments: list[str] | None = None) -> None:
    """Train on MNIST, keep the best epoch, and use the test images once."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of MNIST/raw")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--limit-train", type=int, help="use only so many training images")
    parser.add_argument("--limit-val", type=int, help="use only so many validation images")
    parser.add_argument("--checkpoint", type=Path, default=Path("best.pt"))
    args = parser.parse_args(arguments)
    if args.epochs < 1:
        parser.error("--epochs must be at least 1")

    seed_everything(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    order = torch.Generator().manual_seed(args.seed)
    train_loader, validation_loader = make_loaders(
        args.data, order, args.limit_train, args.limit_val
    )
    model = build_model().to(device)
    optimizer = build_optimizer(model)
    criterion = nn.CrossEntropyLoss()

    best_accuracy, best_epoch = -1.0, 0  # below every accuracy: the first epoch always saves
    for epoch in range(1, args.epochs + 1):
        try:
            loss = train_one_epoch(model, train_loader, criterion, optimizer, device)
        except FloatingPointError as problem:
            sys.exit(f"error: epoch {epoch}, {problem}")
        accuracy = validate(model, validation_loader, device)
        if accuracy > best_accuracy:
            best_accuracy, best_epoch = accuracy, epoch
            save_checkpoint(
                args.checkpoint, epoch, model, optimizer, accuracy, order, {"seed": args.seed}
            )
        print(f"epoch {epoch}: training loss {loss:.4f}, validation accuracy {accuracy:.4f}")
    print(f"best: epoch {best_epoch}, validation accuracy {best_accuracy:.4f}")

    best = torch.load(args.checkpoint, map_location="cpu", weights_only=True)
    model.load_state_dict(best["model_state_dict"])
    test_loader = DataLoader(load_digits(args.data, train=False), batch_size=512)
    print(f"test accuracy of that epoch: {validate(model, test_loader, device):.4f}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
