"""The incident, replayed: one network trained twice on real digits, healthy and with two defects.

The first defect, gradients that are never reset, ruins the weights. The second, dropout that is
still on during validation, ruins only the measurement. Nothing is raised, and every loss is finite.

Run it with ``python -m lesson_code.foundations.incident``.

Shapes: images are (N, 1, 28, 28), float32; labels are (N,), int64.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from lesson_code.data import as_tensors, load_mnist
from lesson_code.foundations.generalising import Images, range_of

PASSES = 4  # validation passes with dropout on
LOW_RATE = 0.01
EPOCHS_AT_LOW_RATE = (1, 4, 15)  # the ones that are shown, the last of which is the last one


@dataclass(frozen=True)
class Replay:
    """What one training run leaves behind.

    Attributes:
        losses: The mean loss of each epoch's images.
        best_batches: The lowest loss of one batch in each epoch: what a selective log would print.
        accuracies: After each epoch, the share of unseen images that the model gets right.
        with_dropout: The same share after the last epoch, with dropout on, once for each pass.
    """

    losses: list[float]
    best_batches: list[float]
    accuracies: list[float]
    with_dropout: list[float]


# --8<-- [start:build]
def build(rate: float = 0.1) -> tuple[nn.Module, torch.optim.Optimizer]:
    """A network of 101,770 parameters, and plain SGD for it."""
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10)
    )
    return model, torch.optim.SGD(model.parameters(), lr=rate)


# --8<-- [end:build]


# --8<-- [start:train_epoch]
def train_epoch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: torch.Tensor,
    labels: torch.Tensor,
    reset_gradients: bool,
) -> tuple[float, float]:
    """One pass in random order; the mean loss, and the lowest of one batch."""
    model.train()
    total, lowest = 0.0, math.inf
    for batch in torch.randperm(len(images)).split(128):
        if reset_gradients:
            optimizer.zero_grad()
        loss = functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
        lowest = min(lowest, loss.item())
    return total / len(images), lowest


# --8<-- [end:train_epoch]


# --8<-- [start:accuracy]
@torch.no_grad()
def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    """The share of images that the model gets right, in whichever mode it is."""
    return (model(images).argmax(dim=1) == labels).float().mean().item()


# --8<-- [end:accuracy]


def replay(
    training: Images,
    unseen: Images,
    reset_gradients: bool,
    seed: int = 0,
    epochs: int = 6,
    rate: float = 0.1,
) -> Replay:
    """Train once and measure after every epoch.

    Args:
        training: Images and labels to train on.
        unseen: Images and labels to measure with.
        reset_gradients: Whether each batch begins with fresh gradients; the incident's did not.
        seed: Fixes the first weights, the order of the images and the dropout.
        epochs: How many times to go through the training images.
        rate: The learning rate.
    """
    torch.manual_seed(seed)
    model, optimizer = build(rate)
    losses, best_batches, accuracies = [], [], []
    for _ in range(epochs):
        loss, best = train_epoch(model, optimizer, *training, reset_gradients)
        losses.append(loss)
        best_batches.append(best)
        model.eval()
        accuracies.append(accuracy(model, *unseen))
    model.train()  # the incident's second defect: dropout stays on while you measure
    with_dropout = [accuracy(model, *unseen) for _ in range(PASSES)]
    return Replay(losses, best_batches, accuracies, with_dropout)


def print_replay() -> dict[str, dict[str, float]]:
    """Print both runs epoch by epoch, then the two ways to measure what they left behind.

    Returns:
        For ``healthy`` and ``broken``: the last epoch's mean loss, the first epoch's lowest loss
        of one batch, the last accuracy, and the lowest and highest accuracy with dropout on.
    """
    training = as_tensors(load_mnist(source="subset"))
    unseen = as_tensors(load_mnist(train=False, source="subset"))
    healthy = replay(training, unseen, reset_gradients=True)
    broken = replay(training, unseen, reset_gradients=False)
    print(f"\n{'':7}{'healthy':20}gradients never reset")
    print("epoch     loss  accuracy      loss  best batch  accuracy")
    for epoch in range(len(healthy.losses)):
        print(
            f"{epoch + 1:>5}{healthy.losses[epoch]:>9.2f}{healthy.accuracies[epoch]:>10.2f}"
            f"{broken.losses[epoch]:>10.2f}{broken.best_batches[epoch]:>12.2f}"
            f"{broken.accuracies[epoch]:>10.2f}"
        )
    print("\nthe last model      eval()   dropout on, four passes")
    for name, run in (("healthy", healthy), ("never reset", broken)):
        passes = "  ".join(f"{share:.3f}" for share in run.with_dropout)
        print(f"{name:18}{run.accuracies[-1]:>8.3f}   {passes}")
    return {"healthy": _summary(healthy), "broken": _summary(broken)}


def study_replay() -> dict[str, dict[str, list[float]]]:
    """Print how both runs end with five seeds: other weights, other orders, other dropout.

    Returns:
        For ``healthy`` and ``broken`` the last ``loss`` and the last ``accuracy`` of every seed.
    """
    training = as_tensors(load_mnist(source="subset"))
    unseen = as_tensors(load_mnist(train=False, source="subset"))
    found: dict[str, dict[str, list[float]]] = {}
    print(f"\n{'five seeds':16}{'loss, last epoch':>20}{'accuracy':>20}")
    for name, reset in (("healthy", True), ("broken", False)):
        runs = [replay(training, unseen, reset, seed) for seed in range(5)]
        losses, shares = [run.losses[-1] for run in runs], [run.accuracies[-1] for run in runs]
        title = "healthy" if reset else "never reset"
        print(f"{title:16}{range_of(losses):>20}{range_of(shares):>20}")
        found[name] = {"loss": losses, "accuracy": shares}
    return found


def study_low_rate() -> dict[str, dict[str, list[float]]]:
    """Print how accurate both runs are at a tenth of the rate, with five seeds.

    Returns:
        For ``healthy`` and ``broken`` the accuracy of every seed, by epoch.
    """
    training = as_tensors(load_mnist(source="subset"))
    unseen = as_tensors(load_mnist(train=False, source="subset"))
    found: dict[str, dict[str, list[float]]] = {}
    for name, reset in (("healthy", True), ("broken", False)):
        runs = [
            replay(training, unseen, reset, seed, EPOCHS_AT_LOW_RATE[-1], LOW_RATE)
            for seed in range(5)
        ]
        found[name] = {
            str(epoch): [run.accuracies[epoch - 1] for run in runs] for epoch in EPOCHS_AT_LOW_RATE
        }
    print(f"\nrate {LOW_RATE}, five seeds, accuracy")
    print(f"{'after epoch':12}{'reset':>16}{'no reset':>16}")
    for epoch in map(str, EPOCHS_AT_LOW_RATE):
        healthy, broken = (range_of(by_epoch[epoch]) for by_epoch in found.values())
        print(f"{epoch:12}{healthy:>16}{broken:>16}")
    return found


def _summary(run: Replay) -> dict[str, float]:
    return {
        "last_loss": run.losses[-1],
        "best_batch": min(run.best_batches),
        "first_accuracy": run.accuracies[0],
        "accuracy": run.accuracies[-1],
        "dropout_lowest": min(run.with_dropout),
        "dropout_highest": max(run.with_dropout),
    }


if __name__ == "__main__":
    print_replay()
