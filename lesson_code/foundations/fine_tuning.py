"""Fine-tuning: start from a network that learnt other digits, with a new head.

It learnt the digits 0 to 4 of those in ``generalising``, and few images of 5 to 9 have to do.

Shapes: images are (N, 1, 28, 28), float32, labels (N,), from 0 to 4 in both tasks; features are
(N, 288); B is the batch size. Accuracies are fractions.
"""

import functools
from operator import gt
from statistics import fmean
from typing import Self

import torch
from torch import nn

from lesson_code.foundations.generalising import (
    BATCH_SIZE,
    Images,
    judge,
    share,
    three_digits,
    three_sets,
    train_epoch,
)

SEEDS = range(10)
OLD, NEW = range(5), range(5, 10)  # the digits of the two tasks
PRETRAINING_EPOCHS, UPDATES = 3, 100
SIZES, FEW = (4, 10, 100), 10  # images a class
RATE, SCRATCH_RATE, HEAD_RATE = 0.001, 0.003, 0.01
RATES = (0.0, 0.001, 0.01, 0.1)  # of the features
State = dict[str, torch.Tensor]


# --8<-- [start:network]
def block(inputs: int, outputs: int) -> list[nn.Module]:
    """Halves height and width."""
    layer = nn.Conv2d(inputs, outputs, kernel_size=3, padding=1)
    return [layer, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]


class DigitReader(nn.Module):
    """Features of an image, and a head that names its class."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        blocks = block(1, 8) + block(8, 16) + block(16, 32)
        self.features = nn.Sequential(*blocks, nn.Flatten())
        self.head = nn.Linear(288, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Raw logits (B, classes) of images (B, 1, 28, 28)."""
        return self.head(self.features(images))

    def train(self, mode: bool = True) -> Self:
        """Frozen features stay in evaluation mode, whatever a loop asks for."""
        super().train(mode)
        if not any(p.requires_grad for p in self.features.parameters()):
            self.features.eval()
        return self


# --8<-- [end:network]


# --8<-- [start:start_from]
def start_from(state: State, trained_classes: int, classes: int) -> DigitReader:
    """The trained features, and a fresh head for so many classes."""
    model = DigitReader(trained_classes)
    model.load_state_dict(state)  # strict: every name and every shape has to fit
    model.head = nn.Linear(model.head.in_features, classes)
    return model


# --8<-- [end:start_from]


# --8<-- [start:train_head]
def train_head(model: DigitReader, data: Images, epochs: int) -> None:
    """Train the head alone; the features are computed once."""
    images, labels = data
    model.features.requires_grad_(False)
    model.eval()
    features = model.features(images)  # (N, 288)
    optimizer = torch.optim.Adam(model.head.parameters(), lr=HEAD_RATE)
    for _ in range(epochs):
        train_epoch(model.head, optimizer, features, labels)


# --8<-- [end:train_head]


# --8<-- [start:train_all]
def train_all(model: DigitReader, data: Images, epochs: int, rate: float = RATE) -> None:
    """Train everything, the features at this rate and the head no slower."""
    model.features.requires_grad_(True)
    features = {"params": model.features.parameters(), "lr": rate}
    head = {"params": model.head.parameters(), "lr": max(rate, HEAD_RATE)}
    optimizer = torch.optim.Adam([features, head])
    for _ in range(epochs):
        train_epoch(model, optimizer, *data)


# --8<-- [end:train_all]


def task(images: torch.Tensor, labels: torch.Tensor, digits: range) -> Images:
    """The images of these digits, with labels from 0."""
    at = (labels >= digits.start) & (labels < digits.stop)
    return images[at], labels[at] - digits.start


def few(size: int, seed: int) -> Images:
    """So many training images of each new digit, drawn with this seed."""
    images, labels = task(*three_sets(5000)[0], NEW)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    at = torch.cat([order[labels[order] == label][:size] for label in range(len(NEW))])
    return images[at], labels[at]


def accuracy(model: nn.Module, digits: range) -> float:
    """The share of the test images of these digits that are read right."""
    return share(judge(model, *task(*three_sets(0)[2], digits))[1])


def from_nothing(seed: int, data: Images, epochs: int, rate: float) -> DigitReader:
    """A network whose weights begin with this seed."""
    torch.manual_seed(seed)
    model = DigitReader(classes=5)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs):
        train_epoch(model, optimizer, *data)
    return model


@functools.cache
def pretrained(seed: int) -> State:
    """The state of a network that has learnt the old digits."""
    old = task(*three_sets(5000)[0], OLD)
    return from_nothing(seed, old, PRETRAINING_EPOCHS, RATE).state_dict()


def fine_tuned(seed: int, size: int, rate: float) -> DigitReader:
    """The features trained at this rate; at 0 they are frozen."""
    state = pretrained(seed)
    torch.manual_seed(seed)
    model = start_from(state, trained_classes=5, classes=5)
    if rate > 0:
        train_all(model, few(size, seed), epochs_of(size), rate)
    else:
        train_head(model, few(size, seed), epochs_of(size))
    return model


def epochs_of(size: int) -> int:
    """As many as make the updates, or a few more."""
    batches = -(-len(NEW) * size // BATCH_SIZE)
    return -(-UPDATES // batches)


def study_sizes() -> dict[str, dict[str, float]]:
    """Accuracy on the new digits from few and from many images, with and without a start.

    Returns:
        For each number of images a class the mean of ten seeds each way, and in how many of them
        the head alone, and everything, reads more than what began from nothing.
    """
    found = {}
    print(f"{'':16}{'accuracy, mean of ten seeds':^42}{'better than from nothing':^28}")
    heads = ("from nothing", "head", "all", "head", "all")
    print(f"{'images a class':16}" + "".join(f"{head:>14}" for head in heads))
    for size in SIZES:
        nothing, head, everything = [], [], []
        for seed in SEEDS:
            model = from_nothing(seed, few(size, seed), epochs_of(size), SCRATCH_RATE)
            nothing.append(accuracy(model, NEW))
            head.append(accuracy(fine_tuned(seed, size, 0.0), NEW))
            everything.append(accuracy(fine_tuned(seed, size, RATE), NEW))
        runs = {"nothing": nothing, "head": head, "all": everything}
        means = {way: three_digits(fmean(of)) for way, of in runs.items()}
        better = [sum(map(gt, of, nothing)) for of in (head, everything)]
        print(f"{size:<16}" + "".join(f"{mean:>14.3f}" for mean in means.values()), end="")
        print("".join(f"{f'{seeds} of {len(SEEDS)}':>14}" for seeds in better))
        found[f"{size}"] = {**means, "head_better": better[0], "all_better": better[1]}
    return found


def study_rates() -> dict[str, dict[str, float]]:
    """What the features' rate does to the new digits, and to the old ones under the old head.

    Returns:
        For each rate and each task the mean accuracy of ten seeds.
    """
    found = {}
    print(f"{'rate of features':18}{'of the head':>12}{'new digits':>12}{'old digits':>12}")
    for rate in RATES:
        new, old = [], []
        for seed in SEEDS:
            model = fine_tuned(seed, FEW, rate)
            new.append(accuracy(model, NEW))
            old_head = {key[5:]: of for key, of in pretrained(seed).items() if "head." in key}
            model.head.load_state_dict(old_head)
            old.append(accuracy(model, OLD))
        means = {"new": three_digits(fmean(new)), "old": three_digits(fmean(old))}
        name = f"{rate or '0, frozen'}"
        print(f"{name:18}{max(rate, HEAD_RATE):>12}{means['new']:>12.2f}{means['old']:>12.2f}")
        found[f"{rate:g}".replace(".", "_")] = means
    return found
