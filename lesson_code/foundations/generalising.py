"""Learning or memorising: what a training loss, a validation loss and a test accuracy each prove.

The model is Part 3's ``DigitClassifier``, its dropout off unless told, trained on a few hundred
real digits.

Shapes: images are (N, 1, 28, 28), float32; labels and what is known of each image are (N,); B is
the batch size. Losses are in nats per image, accuracies are fractions.
"""

import contextlib
import copy
import functools
import io
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lesson_code.data import PIXEL_MEAN, PIXEL_STD, as_tensors, load_mnist
from lesson_code.foundations.modules import DigitClassifier

Images = tuple[torch.Tensor, torch.Tensor]
Prepare = Callable[[torch.Tensor], torch.Tensor]

SIZE = 300  # training images
EPOCHS = 50
SHOWN_EPOCHS = (1, 2, 5, 10, 20, 50)
UPDATES = 600  # of each remedy
BATCH_SIZE = 32
DECIMALS = {"training": 2, "loss": 2, "accuracy": 3}  # of the study's columns
PATIENCE = 5
SEEDS = range(5)
BLANK = -PIXEL_MEAN / PIXEL_STD  # a normalised pixel without ink


@functools.cache
def known_digits() -> tuple[Images, Images]:
    """The subset's 6,000 training images and its 1,000 test images."""
    with contextlib.redirect_stdout(io.StringIO()):
        training, test = (load_mnist(train=train, source="subset") for train in (True, False))
    return as_tensors(training), as_tensors(test)


# --8<-- [start:sets]
def three_sets(size: int) -> tuple[Images, Images, Images]:
    """So many training images, 1,000 validation images, and the 1,000 test images."""
    (images, labels), test = known_digits()
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(13))
    validation, training = order[:1000], order[1000 : 1000 + size]
    return (images[training], labels[training]), (images[validation], labels[validation]), test


# --8<-- [end:sets]


def build(seed: int, dropout: float = 0.0) -> nn.Module:
    """The digit classifier with weights of this seed and its dropout at this rate."""
    torch.manual_seed(seed)
    model = DigitClassifier()
    model.dropout.p = dropout
    return model


# --8<-- [start:learn]
def train_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor, labels: torch.Tensor
) -> float:
    """One pass in random order; returns the mean loss of an image."""
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).split(BATCH_SIZE):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def judge(
    model: nn.Module, images: torch.Tensor, labels: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of each image, and whether the model reads it right: both (N,)."""
    model.eval()
    logits = model(images)
    losses = functional.cross_entropy(logits, labels, reduction="none")
    return losses, logits.argmax(dim=1) == labels


# --8<-- [end:learn]


@dataclass(frozen=True)
class Epoch:
    """What one epoch ends with.

    Attributes:
        training_loss: The mean over the epoch's batches.
        validation_loss: The mean over the validation images.
        accuracy: The share of validation images that are read right.
        loss_of_the_wrong: The mean loss of those that are read wrong; NaN if none is.
    """

    training_loss: float
    validation_loss: float
    accuracy: float
    loss_of_the_wrong: float


# --8<-- [start:early_stopping]
class EarlyStopping:
    """Keeps the weights with the lowest validation loss, and says when to stop waiting.

    Args:
        patience: How many epochs in a row may bring no lower loss; at least 1.
    """

    def __init__(self, patience: int) -> None:
        if patience < 1:
            raise ValueError(f"patience must be at least 1, not {patience}")
        self.patience, self.waited = patience, 0
        self.best_loss, self.best_epoch = math.inf, 0
        self.best_state: dict[str, torch.Tensor] = {}

    def should_stop(self, epoch: int, validation_loss: float, model: nn.Module) -> bool:
        """Call it once after each epoch."""
        if validation_loss < self.best_loss:  # a tie is not lower, and a NaN never is
            self.best_loss, self.best_epoch, self.waited = validation_loss, epoch, 0
            self.best_state = copy.deepcopy(model.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience


# --8<-- [end:early_stopping]


def learn(
    model: nn.Module,
    training: Images,
    validation: Images,
    epochs: int = EPOCHS,
    stopping: EarlyStopping | None = None,
    weight_decay: float = 0.0,
    prepare: Prepare | None = None,
) -> list[Epoch]:
    """Train with Adam, and judge the validation images after each epoch.

    Args:
        model: What learns.
        training: Images and labels to train on.
        validation: Images and labels that only judge.
        epochs: How many there are at most.
        stopping: What may end the training earlier, and keeps the best weights.
        weight_decay: AdamW's: each update takes rate times decay off each weight.
        prepare: What is done to the training images anew in each epoch.
    """
    # AdamW without decay is Adam
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=weight_decay)
    images, labels = training
    history: list[Epoch] = []
    for number in range(1, epochs + 1):
        prepared = prepare(images) if prepare else images
        training_loss = train_epoch(model, optimizer, prepared, labels)
        losses, right = judge(model, *validation)
        mean = losses.mean().item()
        history.append(
            Epoch(training_loss, mean, share(right), losses[right.logical_not()].mean().item())
        )
        if stopping and stopping.should_stop(number, mean, model):
            break
    return history


def share(right: torch.Tensor) -> float:
    """The share of images that are read right, from (N,) truth values."""
    return right.double().mean().item()


def print_memorising() -> dict[str, Any]:
    """Losses and accuracy of a network that learns 300 images by heart, epoch by epoch.

    Returns:
        Both losses and the accuracy after every epoch, and the losses of the tenth and the last.
    """
    training, validation, _ = three_sets(SIZE)
    history = learn(build(seed=0), training, validation)
    print(f"{'':7}{'training':>10}{'validation':>12}{'validation':>12}{'loss of a':>14}")
    print(f"{'epoch':7}{'loss':>10}{'loss':>12}{'accuracy':>12}{'wrong answer':>14}")
    for number in SHOWN_EPOCHS:
        epoch = history[number - 1]
        print(
            f"{number:<7}{epoch.training_loss:>10.3f}{epoch.validation_loss:>12.2f}"
            f"{epoch.accuracy:>12.2f}{epoch.loss_of_the_wrong:>14.1f}"
        )
    curves = {
        "training": [round(epoch.training_loss, 3) for epoch in history],
        "validation": [round(epoch.validation_loss, 2) for epoch in history],
    }
    accuracies = [round(epoch.accuracy, 2) for epoch in history]
    shown = {"tenth": losses_of(history[9]), "last": losses_of(history[-1])}
    return {"accuracy": accuracies, **curves, **shown}


def losses_of(epoch: Epoch) -> dict[str, float]:
    """The three losses of an epoch, in three digits."""
    losses = asdict(epoch)
    del losses["accuracy"]
    return {name: three_digits(loss) for name, loss in losses.items()}


def three_digits(value: float) -> float:
    """What a page says of a number that was trained."""
    return float(f"{value:.3g}")


def print_early_stopping() -> dict[str, float]:
    """Where the same training stops with a patience of five epochs, and what it keeps."""
    training, validation, _ = three_sets(SIZE)
    model, stopping = build(seed=0), EarlyStopping(PATIENCE)
    history = learn(model, training, validation, stopping=stopping)
    model.load_state_dict(stopping.best_state)
    loss = judge(model, *validation)[0].mean().item()
    print(f"stopped after epoch {len(history)}, validation loss {history[-1].validation_loss:.2f}")
    print(f"kept epoch {stopping.best_epoch}, validation loss {loss:.2f}")
    return {"stopped": len(history), "kept": stopping.best_epoch, "loss": three_digits(loss)}
