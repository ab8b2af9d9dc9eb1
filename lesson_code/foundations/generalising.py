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
from collections.abc import Callable, Sequence
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
DECIMALS = {"training": 3, "loss": 2, "accuracy": 3}  # of the study's columns
PATIENCE = 5
SEEDS = range(5)
PAIRS = range(20)  # seeds of a comparison in pairs
POOL = 1000  # images from which each of them draws
BLANK = -PIXEL_MEAN / PIXEL_STD  # a normalised pixel without ink


@functools.cache
def known_digits() -> tuple[Images, Images]:
    """The subset's 6,000 training images and its 1,000 test images."""
    with contextlib.redirect_stdout(io.StringIO()):
        training, test = (load_mnist(train=train, source="subset") for train in (True, False))
    return as_tensors(training), as_tensors(test)


# --8<-- [start:sets]
def three_sets(size: int) -> tuple[Images, Images, Images]:
    """So many training images, 1,000 for validation, and the 1,000 test images."""
    (images, labels), test = known_digits()
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(13))
    at, held = order[1000 : 1000 + size], order[:1000]
    return (images[at], labels[at]), (images[held], labels[held]), test


# --8<-- [end:sets]


def others() -> Images:
    """The 4,000 images in none of the sets of up to 1,000 training images."""
    (images, labels), _ = known_digits()
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(13))
    at = order[1000 + POOL :]
    return images[at], labels[at]


def drawn(size: int, seed: int) -> Images:
    """So many of the 1,000 training images, other ones for each seed.

    Raises:
        ValueError: If there are not so many; the next ones are among ``others``, which judge.
    """
    if size > POOL:
        raise ValueError(f"{size} images to train on, and all but {POOL} are there to judge")
    (images, labels), _, _ = three_sets(POOL)
    at = torch.randperm(POOL, generator=torch.Generator().manual_seed(seed))[:size]
    return images[at], labels[at]


def build(seed: int, dropout: float = 0.0) -> nn.Module:
    """The digit classifier with weights of this seed and its dropout at this rate."""
    torch.manual_seed(seed)
    model = DigitClassifier()
    model.dropout.p = dropout
    return model


# --8<-- [start:learn]
def train_epoch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: torch.Tensor,
    labels: torch.Tensor,
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
    """Keeps the weights with the lowest validation loss, and says when to stop.

    Args:
        patience: How many epochs in a row may bring no lower loss; at least 1.
    """

    def __init__(self, patience: int) -> None:
        if patience < 1:
            raise ValueError(f"patience must be at least 1, not {patience}")
        self.patience, self.waited = patience, 0
        self.best_loss, self.best_epoch = math.inf, 0
        self.best_state: dict[str, torch.Tensor] = {}

    def should_stop(self, epoch: int, loss: float, model: nn.Module) -> bool:
        """Call it with the validation loss, once after each epoch."""
        if loss < self.best_loss:  # a tie is not lower, and a NaN never is
            self.best_loss, self.best_epoch, self.waited = loss, epoch, 0
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


def range_of(values: Sequence[float], decimals: int = 2) -> str:
    """The lowest and the highest of them, with so many decimals."""
    return f"{min(values):.{decimals}f} to {max(values):.{decimals}f}"


def ends(values: Sequence[float]) -> dict[str, float]:
    """The lowest and the highest of them, in three digits."""
    return {"lowest": three_digits(min(values)), "highest": three_digits(max(values))}


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


# --8<-- [start:guessers]
def best_guesser(guessers: int, seed: int = 0) -> tuple[float, float]:
    """Choose among coin flippers on 100 validation images; returns its accuracies.

    Each answer of each of them is right with probability 1/2, in both sets.
    """
    random = torch.Generator().manual_seed(seed)
    validation = torch.randint(2, (guessers, 100), generator=random).double().mean(1)
    test = torch.randint(2, (guessers, 1000), generator=random).double().mean(1)
    best = validation.argmax()
    return validation[best].item(), test[best].item()


def expected_best(guessers: int, images: int = 100) -> float:
    """The accuracy to expect of the best of them on so many images, exactly."""
    at_most = missed = 0.0
    for right in range(images):
        at_most += math.comb(images, right) / 2**images  # one has at most so many
        missed += at_most**guessers  # and so have all
    return 1 - missed / images


# --8<-- [end:guessers]


def print_guessers() -> dict[str, dict[str, float]]:
    """What the best of 1, 10, 100 and 1,000 coin flippers seems to know, and what it knows."""
    found = {}
    print(f"{'':10}{'best on 100 validation images':>36}{'the same one':>20}")
    print(f"{'guessers':10}{'expected':>24}{'drawn':>12}{'on test images':>20}")
    for guessers in (1, 10, 100, 1000):
        expected = expected_best(guessers)
        validation, test = best_guesser(guessers)
        print(f"{guessers:<10,}{expected:>24.3f}{validation:>12.2f}{test:>20.3f}")
        found[f"{guessers}"] = {"expected": expected, "validation": validation, "test": test}
    return found


def study_choosing() -> dict[str, float]:
    """Twenty seeds of one network; the best is chosen on 100 images, ten times over.

    Returns:
        Means over the ten choices: the best one's accuracy on the 100 images that chose it and on
        the 1,000 test images; and the mean accuracy of all twenty on each.
    """
    training, validation, test = three_sets(SIZE)
    answers, tested = [], []
    for seed in range(20):
        model = build(seed)
        learn(model, training, validation, epochs=10)
        answers.append(judge(model, *validation)[1].double())
        tested.append(share(judge(model, *test)[1]))
    small = torch.stack(answers).reshape(20, 10, 100).mean(dim=2)  # (models, choices)
    chosen = small.argmax(dim=0)
    of_test = torch.tensor(tested, dtype=torch.float64)
    found = {
        "validation": round(small.amax(dim=0).mean().item(), 3),
        "test": round(of_test[chosen].mean().item(), 3),
        "all_validation": round(small.mean().item(), 3),
        "all_test": round(of_test.mean().item(), 3),
    }
    print(f"{'':24}{'100 validation images':>24}{'1,000 test images':>20}")
    print(f"{'mean of the 20 models':24}{found['all_validation']:>24.3f}{found['all_test']:>20.3f}")
    print(f"{'the one that was chosen':24}{found['validation']:>24.3f}{found['test']:>20.3f}")
    return found


# --8<-- [start:standard_error]
def standard_error(accuracy: float, images: int) -> float:
    """How far an accuracy on so many images typically is from that on all of them.

    Raises:
        ValueError: If the accuracy is not a fraction, or there is no image.
    """
    if not 0 <= accuracy <= 1 or images < 1:
        raise ValueError(f"an accuracy of {accuracy} on {images} images")
    return math.sqrt(accuracy * (1 - accuracy) / images)


# --8<-- [end:standard_error]


# --8<-- [start:paired_difference]
def paired_difference(a: torch.Tensor, b: torch.Tensor) -> tuple[float, float]:
    """How much more often the first model is right, and the standard error of that.

    Args:
        a: Whether the first model reads each image right, (N,) truth values.
        b: The same of the second model, for the same images.
    """
    difference = a.double() - b.double()  # 1 or -1 where one alone is right
    return difference.mean().item(), difference.std().item() / math.sqrt(len(a))


# --8<-- [end:paired_difference]


def print_standard_errors() -> dict[str, float]:
    """The standard error of an accuracy of 95 % on 100, 1,000 and 10,000 images, in points."""
    found = {}
    print(f"{'images':10}{'accuracy':>12}{'standard error, points':>26}")
    for images in (100, 1000, 10_000):
        points = 100 * standard_error(0.95, images)
        print(f"{images:<10,}{'95 %':>12}{points:>26.2f}")
        found[f"{images}"] = points
    return found


def print_differences() -> dict[str, dict[str, float]]:
    """Two pairs of models on the same validation images: another seed, and more images."""
    right = {}
    for name, seed, size in (("seed_0", 0, 300), ("seed_1", 1, 300), ("more", 0, 1000)):
        training, validation, _ = three_sets(size)
        model = build(seed)
        learn(model, training, validation, epochs=10)
        right[name] = judge(model, *validation)[1]
    found = {}
    print(f"{'':28}{'only the first':>16}{'only the second':>17}")
    print(f"{'':28}{'is right':>16}{'is right':>17}{'difference':>13}{'standard error':>17}")
    for name, first, second in (
        ("another seed", "seed_1", "seed_0"),
        ("1,000 images against 300", "more", "seed_0"),
    ):
        a, b = right[first], right[second]
        difference, error = paired_difference(a, b)
        only_first, only_second = int((a & ~b).sum()), int((b & ~a).sum())
        print(
            f"{name:28}{only_first:>16}{only_second:>17}{100 * difference:>13.1f}"
            f"{100 * error:>17.1f}"
        )
        found[first] = {"points": round(100 * difference, 1), "error": round(100 * error, 1)}
    return found


# --8<-- [start:leak]
def train_with_a_leak(leaked: int, seed: int = 0) -> tuple[float, float]:
    """Train on 1,000 images, so many of them for validation; returns two accuracies."""
    (images, labels), validation, test = three_sets(1000)
    images, labels = images.clone(), labels.clone()
    images[:leaked], labels[:leaked] = (part[:leaked] for part in validation)
    model = build(seed)
    learn(model, (images, labels), validation, epochs=10)
    return share(judge(model, *validation)[1]), share(judge(model, *test)[1])


# --8<-- [end:leak]


def print_leak() -> dict[str, dict[str, float]]:
    """Accuracies of a training without a leak, and of one that has seen half of the validation."""
    found = {}
    print(f"{'training images':44}{'validation':>12}{'test':>8}")
    for name, leaked, label in (
        ("clean", 0, "1,000 of its own"),
        ("leaky", 500, "500 of its own, 500 validation images"),
    ):
        validation, test = train_with_a_leak(leaked)
        print(f"{label:44}{validation:>12.2f}{test:>8.2f}")
        found[name] = {"validation": round(validation, 2), "test": round(test, 2)}
    return found


# --8<-- [start:shifted]
def shifted(images: torch.Tensor, most: int = 2) -> torch.Tensor:
    """Each image moved at random by up to so many pixels in both directions."""
    padded = functional.pad(images, [most] * 4, value=BLANK)
    windows = padded.unfold(2, 28, 1).unfold(3, 28, 1)  # each place to move to
    down, right = torch.randint(2 * most + 1, (2, len(images)))
    return windows[torch.arange(len(images)), :, down, right]


# --8<-- [end:shifted]


@dataclass(frozen=True)
class Remedy:
    """One way to train, and what it changes of the plain one.

    Attributes:
        label: What it is called in the table.
        size: Training images.
        dropout: The share of hidden units that are off in training.
        weight_decay: AdamW's.
        prepare: What is done to the training images in each epoch.
        patience: That of early stopping; 0 trains to the end.
    """

    label: str
    size: int = SIZE
    dropout: float = 0.0
    weight_decay: float = 0.0
    prepare: Prepare | None = None
    patience: int = 0


REMEDIES = {
    "plain": Remedy("300 images, nothing else"),
    "stopping": Remedy("early stopping, patience 5", patience=PATIENCE),
    "decay": Remedy("weight decay 0.01", weight_decay=0.01),
    "strong_decay": Remedy("weight decay 1", weight_decay=1.0),
    "dropout": Remedy("dropout 0.5", dropout=0.5),
    "shifts": Remedy("shifts by up to 2 pixels", prepare=shifted),
    "images_1000": Remedy("1,000 images", size=1000),
    "images_5000": Remedy("5,000 images", size=5000),
}


def trained(remedy: Remedy, seed: int, training: Images) -> nn.Module:
    """A model after about 600 updates; early stopping has put its best weights back."""
    _, validation, _ = three_sets(remedy.size)
    model = build(seed, remedy.dropout)
    stopping = EarlyStopping(remedy.patience) if remedy.patience else None
    epochs = round(UPDATES / math.ceil(remedy.size / BATCH_SIZE))
    learn(model, training, validation, epochs, stopping, remedy.weight_decay, remedy.prepare)
    if stopping:
        model.load_state_dict(stopping.best_state)
    return model


def train_with(remedy: Remedy, seed: int) -> tuple[float, float, float]:
    """Train with about 600 updates; returns training loss, validation loss and accuracy."""
    training, validation, _ = three_sets(remedy.size)
    model = trained(remedy, seed, training)
    losses, right = judge(model, *validation)
    return judge(model, *training)[0].mean().item(), losses.mean().item(), share(right)


def study_remedies() -> dict[str, dict[str, float]]:
    """Losses and validation accuracy with each remedy, the range of five seeds.

    Returns:
        For each remedy the lowest and the highest of its training losses, validation losses and
        validation accuracies.
    """
    found = {}
    print(f"{'':28}{'training':>16}{'validation':>16}{'validation':>16}")
    print(f"{'five seeds':28}{'loss':>16}{'loss':>16}{'accuracy':>16}")
    for name, remedy in REMEDIES.items():
        runs = [train_with(remedy, seed) for seed in SEEDS]
        columns = dict(zip(DECIMALS, zip(*runs, strict=True), strict=True))
        ranges = [range_of(values, DECIMALS[column]) for column, values in columns.items()]
        print(f"{remedy.label:28}" + "".join(f"{text:>16}" for text in ranges))
        found[name] = {
            f"{end}_{column}": value
            for column, values in columns.items()
            for end, value in ends(values).items()
        }
    return found


def accuracies(remedy: Remedy) -> torch.Tensor:
    """What each seed reads right of ``others``, with the images it draws, in percent: (seeds,)."""
    images, labels = others()
    models = (trained(remedy, seed, drawn(remedy.size, seed)) for seed in PAIRS)
    shares = [share(judge(model, images, labels)[1]) for model in models]
    return 100 * torch.tensor(shares, dtype=torch.float64)


def study_gains() -> dict[str, dict[str, float]]:
    """What remedies for 300 images, and having more, gain over nothing else, seed by seed.

    With each seed come other weights and another draw of training images.

    Returns:
        For each the mean gain in accuracy, its standard error in pairs and without them, all in
        points, and how many seeds gain.
    """
    plain = accuracies(REMEDIES["plain"])
    found = {}
    print(f"{'':28}{'mean gain,':>12}{'standard error, points':>30}{'seeds':>12}")
    print(
        f"{'twenty seeds and draws':28}{'points':>12}{'in pairs':>14}{'not in pairs':>16}"
        f"{'that gain':>12}"
    )
    for name in ("stopping", "strong_decay", "dropout", "shifts", "images_1000"):
        remedied = accuracies(REMEDIES[name])
        mean, error = paired_difference(remedied, plain)
        points = round(mean, 2) + 0.0  # which makes 0 of -0
        apart = math.sqrt((remedied.var() + plain.var()).item() / len(plain))
        seeds = int((remedied > plain).sum())
        errors = f"{error:>14.2f}{apart:>16.2f}"
        print(f"{REMEDIES[name].label:28}{points:>12.2f}{errors}{seeds:>12}")
        columns = {"points": points, "error": error, "error_apart": apart}
        rounded = {column: round(value, 2) for column, value in columns.items()}
        found[name] = {**rounded, "seeds": seeds}
    return found
