"""The steps of a training step in five orders, and digits that come sorted by their label.

Shapes: images are (N, 1, 28, 28), labels (N,).
"""

import contextlib
import functools
import tempfile
import textwrap
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from lesson_code.data import as_tensors, lay_out_subset, load_mnist
from lesson_code.foundations import train_mnist
from lesson_code.foundations.train_mnist import (
    Sample,
    build_model,
    build_optimizer,
    train_one_epoch,
    validate,
)

CPU = torch.device("cpu")

# --8<-- [start:orders]
ORDERS = {
    "as it should be": ("zero", "forward", "backward", "step"),
    "step before backward": ("zero", "forward", "step", "backward"),
    "zero after backward": ("forward", "backward", "zero", "step"),
    "step, zero, backward": ("forward", "step", "zero", "backward"),
    "zero at the end": ("forward", "backward", "step", "zero"),
}


def one_layer() -> nn.Module:
    """Four features to two logits."""
    return nn.Linear(4, 2)


def two_layers() -> nn.Module:
    """The same with eight hidden units."""
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def train(
    order: tuple[str, ...], rounds: int = 50, build: Callable[[], nn.Module] = one_layer
) -> list[float]:
    """Train on the same 64 rows in every round; returns the loss of each round."""
    torch.manual_seed(0)
    model = build()
    features = torch.randn(64, 4)
    labels = (features[:, 0] > 0).long()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(rounds):
        for action in order:
            match action:
                case "zero":
                    optimizer.zero_grad()
                case "forward":
                    loss = nn.functional.cross_entropy(model(features), labels)
                    losses.append(loss.item())
                case "backward":
                    loss.backward()
                case "step":
                    optimizer.step()
    return losses


# --8<-- [end:orders]


def print_orders() -> dict[str, list[float]]:
    """The first three losses and the last one, for each order of the steps."""
    results = {name: train(order) for name, order in ORDERS.items()}
    print(f"{'round':22}{1:>8}{2:>8}{3:>8}{50:>8}")
    for name, losses in results.items():
        print(f"{name:22}" + "".join(f"{losses[i]:8.4f}" for i in (0, 1, 2, -1)))
    return {"healthy": results["as it should be"], "late": results["step, zero, backward"]}


def print_two_layers() -> None:
    """What PyTorch says of the late order where a layer's weight is needed to go back."""
    order = ORDERS["step, zero, backward"]
    for rounds in (1, 2):
        try:
            train(order, rounds, two_layers)
        except RuntimeError as error:
            said = str(error).partition(": ")[0]
            print(f"round {rounds}: {textwrap.fill(f'RuntimeError: {said}', 72)}")
        else:
            print(f"round {rounds}: no error")


# --8<-- [start:sorted]
def train_on_sorted_digits(shuffle: bool, seed: int) -> tuple[nn.Module, list[float], list[float]]:
    """Three epochs on digits sorted by label; returns the model, the losses, the accuracies."""
    training, test_loader = sorted_digits()
    torch.manual_seed(seed)
    order = torch.Generator().manual_seed(seed)
    loader = DataLoader(training, batch_size=32, shuffle=shuffle, generator=order)
    model = build_model()
    optimizer = build_optimizer(model)
    losses, accuracies = [], []
    for _ in range(3):
        losses.append(train_one_epoch(model, loader, nn.CrossEntropyLoss(), optimizer, CPU))
        accuracies.append(validate(model, test_loader, CPU))
    return model, losses, accuracies


# --8<-- [end:sorted]


@functools.cache
def sorted_digits() -> tuple[Dataset[Sample], DataLoader[Sample]]:
    """The subset's training images, sorted by label, and a loader of its test images."""
    images, labels = as_tensors(load_mnist(train=True, source="subset"))
    by_label = labels.argsort(stable=True)
    training: Any = TensorDataset(images[by_label], labels[by_label])
    test: Any = TensorDataset(*as_tensors(load_mnist(train=False, source="subset")))
    return training, DataLoader(test, batch_size=512)


def print_sorted_digits() -> dict[str, dict[str, Any]]:
    """Loss and test accuracy of each epoch, with and without shuffling."""
    results = {}
    rows = []
    for name, shuffle in (("shuffled", True), ("not shuffled", False)):
        model, losses, accuracies = train_on_sorted_digits(shuffle, seed=0)
        rows.append(f"{name:14}{columns(losses, 2)}    {columns(accuracies, 3)}")
        results[name.replace(" ", "_")] = {
            "accuracy": accuracies,
            "first_loss": round(losses[0], 2),
            "last_loss": round(losses[-1], 2),
            "late_share": late_share(model),
        }
    print(f"{'':14}{'loss, epochs 1 to 3':>24}    {'accuracy, epochs 1 to 3':>24}")
    print("\n".join(rows))
    return results


def study_sorted_digits() -> dict[str, dict[str, list[float]]]:
    """Last loss and test accuracy of five seeds, with and without shuffling."""
    found: dict[str, dict[str, list[float]]] = {}
    print(f"{'five seeds, epoch 3':22}{'loss':>14}{'accuracy':>18}")
    for name, shuffle in (("shuffled", True), ("not shuffled", False)):
        runs = [train_on_sorted_digits(shuffle, seed) for seed in range(5)]
        losses, shares = [run[1][-1] for run in runs], [run[2][-1] for run in runs]
        loss = f"{min(losses):.2f} to {max(losses):.2f}"
        share = f"{min(shares):.2f} to {max(shares):.2f}"
        print(f"{name:22}{loss:>14}{share:>18}")
        found[name.replace(" ", "_")] = {"loss": losses, "accuracy": shares}
    return found


@torch.no_grad()
def late_share(model: nn.Module) -> float:
    """How often a model answers 8 or 9, the digits that came last, on the test images."""
    _, test_loader = sorted_digits()
    answers = torch.cat([model(images).argmax(dim=1) for images, _ in test_loader])
    return (answers >= 8).float().mean().item()


def columns(values: list[float], decimals: int) -> str:
    """Numbers side by side."""
    return "".join(f"{value:8.{decimals}f}" for value in values)


def print_training_run() -> None:
    """What the MNIST script prints on the 6,000 training images that ship with the lesson."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        lay_out_subset("data")
        train_mnist.main([])
