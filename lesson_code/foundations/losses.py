"""Output, target and loss have to fit: what happens where they do, and what where they don't.

Shapes: N is the number of rows in a batch, K the number of classes. Logits are raw scores, float32;
class indices are int64.
"""

import contextlib
import io
import math
import statistics
import textwrap
import warnings
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from lesson_code.data import as_tensors, load_mnist
from lesson_code.foundations.modules import DigitClassifier, failure_of

Examples = tuple[torch.Tensor, torch.Tensor]
LossOf = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

DIGIT_EPOCHS = 3
DIGIT_BATCH = 128
DIGIT_SEEDS = range(3)

TWO_CLASS_SEEDS = range(10)
NAMES_IN_FIGURES = ("cross_entropy", "bce", "one_hot", "same_shape", "after_sigmoid", "broadcast")


# --8<-- [start:random_loss]
def loss_of_random_logits(seed: int) -> float:
    """Cross-entropy of 32 made-up rows: nobody has learned anything here."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(32, 10, generator=generator)  # raw scores, one for each class
    labels = torch.randint(10, (32,), generator=generator)  # class indices, int64
    return nn.CrossEntropyLoss()(logits, labels).item()


# --8<-- [end:random_loss]


def print_first_loss() -> dict[str, float]:
    """Print what cross-entropy gives before anything is learned.

    Returns:
        ``mean`` and ``spread`` (standard deviation) over 1,000 draws of random logits, and the loss
        of an ``untrained`` classifier on real digits, of one with ``softmax_first``, and of one
        that is given ``other_labels``.
    """
    draws = [loss_of_random_logits(seed) for seed in range(1000)]
    digits = as_tensors(load_mnist(train=False, source="subset"))
    untrained = untrained_losses(DigitClassifier, digits)
    softmax_first = untrained_losses(SoftmaxFirst, digits)
    mean, spread = statistics.mean(draws), statistics.stdev(draws)
    print(f"random logits, one draw      {draws[0]:.2f}")
    print(f"random logits, 1,000 draws   {mean:.2f} on average, ± {spread:.2f}")
    print(f"untrained classifier         {untrained['labels']:.2f}")
    print(f"the same, softmax first      {softmax_first['labels']:.2f}")
    print(f"the same, labels 9 - y       {untrained['other_labels']:.2f}")
    print(f"ln 10                        {math.log(10):.2f}")
    return {
        "mean": mean,
        "spread": spread,
        "untrained": untrained["labels"],
        "softmax_first": softmax_first["labels"],
        "other_labels": untrained["other_labels"],
    }


def untrained_losses(
    model_type: type[DigitClassifier], digits: Examples, seed: int = 0
) -> dict[str, float]:
    """The loss of a fresh model, for the ``labels`` of the digits and for ``other_labels``."""
    images, labels = digits
    torch.manual_seed(seed)
    with torch.no_grad():
        logits = model_type().eval()(images)
    return {
        name: nn.CrossEntropyLoss()(logits, target).item()
        for name, target in {"labels": labels, "other_labels": 9 - labels}.items()
    }


def print_label_formats() -> None:
    """Print which forms of the same labels cross-entropy takes, and which BCE does."""
    logits = torch.randn(4, 10, generator=torch.Generator().manual_seed(0))
    indices = torch.tensor([3, 1, 4, 1])
    rows = F.one_hot(indices, 10)
    print("CrossEntropyLoss, logits (4, 10)")
    forms = {
        "indices (4,), int64": indices,
        "indices (4,), uint8": indices.to(torch.uint8),
        "one-hot (4, 10), float32": rows.float(),
        "indices (4,), int32": indices.int(),
        "indices (4,), float32": indices.float(),
        "one-hot (4, 10), int64": rows,
    }
    for name, labels in forms.items():
        _print_loss(name, nn.CrossEntropyLoss(), logits, labels)
    print("\nBCEWithLogitsLoss, logits (4, 1)")
    answers = torch.tensor([[1.0], [0.0], [0.0], [1.0]])
    forms = {
        "answers (4, 1), float32": answers,
        "answers (4,), float32": answers.squeeze(1),
        "answers (4, 1), int64": answers.long(),
    }
    for name, labels in forms.items():
        _print_loss(name, nn.BCEWithLogitsLoss(), logits[:, :1], labels)


def _print_loss(
    name: str, criterion: nn.Module, logits: torch.Tensor, labels: torch.Tensor
) -> None:
    """Print the loss, or the type of the refusal: its text differs between releases."""
    try:
        print(f"  {name:26}loss {criterion(logits, labels):.4f}")
    except (RuntimeError, ValueError) as error:
        print(f"  {name:26}refused: {type(error).__name__}")


# --8<-- [start:softmax_first]
class SoftmaxFirst(DigitClassifier):
    """The same layers, and probabilities in place of logits."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Shares (B, classes) that sum to 1, of images (B, 1, 28, 28)."""
        return torch.softmax(super().forward(images), dim=1)


# --8<-- [end:softmax_first]


# --8<-- [start:floor]
def softmax_first_floor(classes: int) -> float:
    """The loss behind a softmax of a model that is sure and right every time."""
    return math.log(1 + (classes - 1) / math.e)


def gradient_of_a_confident_mistake(softmax_first: bool) -> float:
    """What reaches the true class's logit when it lies 20 below the nine others."""
    logits = torch.tensor([[-20.0] + [0.0] * 9], requires_grad=True)
    outputs = torch.softmax(logits, dim=1) if softmax_first else logits
    loss = nn.CrossEntropyLoss()(outputs, torch.tensor([0]))
    (gradient,) = torch.autograd.grad(loss, logits)
    return gradient[0, 0].item()


# --8<-- [end:floor]


def print_floor() -> dict[str, dict[str, float]]:
    """Print the floor for some numbers of classes, both gradients, and the logarithm by hand.

    Returns:
        The ``floor`` by number of classes, and the ``gradient`` with ``logits`` and with
        ``softmax`` first.
    """
    floors = {str(classes): softmax_first_floor(classes) for classes in (2, 3, 10, 100, 1000)}
    gradients = {
        "logits": gradient_of_a_confident_mistake(softmax_first=False),
        "softmax": gradient_of_a_confident_mistake(softmax_first=True),
    }
    logits, label = torch.tensor([[-300.0, 0.0]]), torch.tensor([0])
    by_hand = -torch.log(torch.softmax(logits, dim=1))[0, 0].item()
    from_logits = nn.CrossEntropyLoss()(logits, label).item()
    print(f"{'classes':14}{'least loss with softmax first':>32}")
    for classes, floor in floors.items():
        print(f"{classes:14}{floor:>32.3f}")
    print("\ngradient of a confident mistake")
    print(f"  logits into the loss         {gradients['logits']:>14.1f}")
    print(f"  softmax first                {gradients['softmax']:>14.1e}")
    print("\ntrue class 300 below the other")
    print(f"  log of a softmax by hand     {by_hand:>14}")
    print(f"  CrossEntropyLoss from logits {from_logits:>14}")
    return {"floor": floors, "gradient": gradients}


def train_digits(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    training: Examples,
    test: Examples,
    reset_gradients: bool = True,
) -> tuple[float, float]:
    """Train for three epochs.

    Args:
        model: Gives what the loss is to see, (B, 10).
        optimizer: Of the model's parameters.
        training: Images and labels to learn from.
        test: Images and labels to be judged by.
        reset_gradients: Whether each batch begins with fresh gradients.

    Returns:
        The average loss of the last epoch, and the share of test images that are recognised.
    """
    criterion = nn.CrossEntropyLoss()
    images, labels = training
    model.train()
    for _ in range(DIGIT_EPOCHS):
        total_loss = 0.0
        for batch in torch.randperm(len(images)).split(DIGIT_BATCH):
            if reset_gradients:
                optimizer.zero_grad()
            loss = criterion(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(batch)
    model.eval()
    with torch.no_grad():
        accuracy = (model(test[0]).argmax(dim=1) == test[1]).float().mean().item()
    return total_loss / len(images), accuracy


def digit_runs(
    model_type: type[DigitClassifier],
    optimizer_type: type[torch.optim.Optimizer],
    rate: float,
    seeds: range,
) -> dict[str, list[float]]:
    """Train on the 6,000 images once for each seed, and judge by the 1,000 test images.

    Returns:
        The ``loss`` of the last epoch and the test ``accuracy`` of each seed.
    """
    with contextlib.redirect_stdout(io.StringIO()):  # the loader's line, twice for each run
        training, test = (
            as_tensors(load_mnist(train=part, source="subset")) for part in (True, False)
        )
    losses, accuracies = [], []
    for seed in seeds:
        torch.manual_seed(seed)
        model = model_type()
        optimizer = optimizer_type(model.parameters(), lr=rate)  # type: ignore[call-arg]
        loss, accuracy = train_digits(model, optimizer, training, test)
        losses.append(loss)
        accuracies.append(accuracy)
    return {"loss": losses, "accuracy": accuracies}


def print_softmax_first_runs() -> dict[str, dict[str, float]]:
    """Print loss and accuracy on real digits, from logits and with softmax first.

    Returns:
        For each of the four kinds of run the smallest and largest loss and accuracy of its seeds.
    """
    return _print_softmax_first(DIGIT_SEEDS)


def study_softmax_first_runs() -> dict[str, dict[str, float]]:
    """The same with five seeds."""
    return _print_softmax_first(range(5))


def _print_softmax_first(seeds: range) -> dict[str, dict[str, float]]:
    optimizers: dict[str, tuple[type[torch.optim.Optimizer], float]] = {
        "adam": (torch.optim.Adam, 1e-3),
        "sgd": (torch.optim.SGD, 0.1),
    }
    models = {"logits": DigitClassifier, "softmax": SoftmaxFirst}
    print(f"6,000 real digits, 3 epochs, {len(seeds)} seeds; accuracy on 1,000 others")
    print(f"{'':22}{'loss, last epoch':>20}{'accuracy':>20}")
    data = {}
    for optimizer, (optimizer_type, rate) in optimizers.items():
        for name, model_type in models.items():
            runs = digit_runs(model_type, optimizer_type, rate, seeds)
            losses, accuracies = sorted(runs["loss"]), sorted(runs["accuracy"])
            data[f"{optimizer}_{name}"] = {
                "smallest_loss": losses[0],
                "largest_loss": losses[-1],
                "smallest_accuracy": accuracies[0],
                "largest_accuracy": accuracies[-1],
            }
            print(
                f"{optimizer_type.__name__:5}{rate:<6}{name:11}"
                f"{f'{losses[0]:.3f} to {losses[-1]:.3f}':>20}"
                f"{f'{accuracies[0]:.3f} to {accuracies[-1]:.3f}':>20}"
            )
    return data


# --8<-- [start:regression]
def print_regression_losses() -> None:
    """Print two losses of the same miss, and a loss that compares the wrong pairs."""
    targets = torch.tensor([1.0, 1.0, 1.0, 10.0])  # shape (4,)
    zeros = torch.zeros(4)
    print(f"MSE of zeros           {nn.MSELoss()(zeros, targets):.2f}")
    print(f"L1 of zeros            {nn.L1Loss()(zeros, targets):.2f}")

    perfect = targets.clone()
    print(f"MSE of perfect values  {nn.MSELoss()(perfect, targets):.2f}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss = nn.MSELoss()(perfect.unsqueeze(1), targets)  # (4, 1) against (4,)
    print(f"the same as a column   {loss:.2f}")
    print(textwrap.fill(str(caught[0].message), 72))


# --8<-- [end:regression]


def mse_of_indices(rows: int, classes: int) -> tuple[str, str]:
    """Give MSE the logits of ``rows`` rows and their class indices.

    Returns:
        What it raises, or the words "no error", and the first sentence of its warning.
    """
    logits = torch.zeros(rows, classes)
    labels = torch.zeros(rows, dtype=torch.int64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        failure = failure_of(lambda: nn.MSELoss()(logits, labels))
    return failure, f"{caught[0].category.__name__}: {str(caught[0].message).split('. ')[0]}"


def print_mse_of_indices() -> None:
    """Print what MSE says to two outputs and index labels, for 16 rows and for two."""
    for rows in (16, 2):
        print(f"MSELoss()(outputs of shape ({rows}, 2), labels of shape ({rows},))")
        failure, warning = mse_of_indices(rows, 2)
        for line in (warning, failure):
            print(textwrap.fill(line, 72, initial_indent="  ", subsequent_indent="    "))


# --8<-- [start:two_classes]
# The model's number of outputs, and the loss of outputs (N, …) and labels (N,).
PAIRS: dict[str, tuple[int, LossOf]] = {
    "cross-entropy": (2, lambda out, y: nn.CrossEntropyLoss()(out, y)),
    "BCE with logits": (1, lambda out, y: nn.BCEWithLogitsLoss()(out[:, 0], y.float())),
    "MSE, one-hot": (2, lambda out, y: nn.MSELoss()(out, F.one_hot(y, 2).float())),
    "MSE, same shape": (1, lambda out, y: nn.MSELoss()(out[:, 0], y.float())),
    "MSE after sigmoid": (1, lambda out, y: nn.MSELoss()(out[:, 0].sigmoid(), y.float())),
    "MSE, (N, 1) and (N,)": (1, lambda out, y: nn.MSELoss()(out, y.float())),
}


def train_pair(name: str, features: torch.Tensor, labels: torch.Tensor) -> nn.Linear:
    """Train one linear layer on features (N, 2) and labels (N,), int64."""
    outputs, loss_of = PAIRS[name]
    model = nn.Linear(2, outputs)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for _ in range(100):
        optimizer.zero_grad()
        loss_of(model(features), labels).backward()
        optimizer.step()
    return model


# --8<-- [end:two_classes]


def two_clouds(rows: int, seed: int) -> Examples:
    """Two round clouds of points that overlap a little: features (N, 2), labels (N,), int64."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (rows,), generator=generator)
    features = torch.randn(rows, 2, generator=generator)
    features[:, 0] += 1.6 * (2 * labels - 1)
    return features, labels


def two_class_run(pair: str, seed: int) -> dict[str, float]:
    """Train on 256 rows and judge by 400 others.

    Returns:
        The final training ``loss``, the ``accuracy`` on the other rows, and of the outputs there
        the ``smallest``, the ``largest`` and the ``spread`` (standard deviation).
    """
    features, labels = two_clouds(256, seed)
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the last pair warns at every step
        model = train_pair(pair, features, labels)
        with torch.no_grad():
            loss = PAIRS[pair][1](model(features), labels)
    test_features, test_labels = two_clouds(400, 1000 + seed)
    with torch.no_grad():
        outputs = model(test_features)
    if outputs.shape[1] == 2:
        predictions = outputs.argmax(dim=1)
    else:
        predicts_the_label = pair.startswith("MSE") and "sigmoid" not in pair
        predictions = (outputs[:, 0] > (0.5 if predicts_the_label else 0.0)).long()
    return {
        "loss": loss.item(),
        "accuracy": (predictions == test_labels).float().mean().item(),
        "smallest": outputs.min().item(),
        "largest": outputs.max().item(),
        "spread": outputs.std().item(),
    }


def gradients_of_a_confident_no() -> tuple[float, float]:
    """How hard both losses pull at a logit of -6 whose label is 1: BCE, and MSE after a sigmoid."""
    pulls = []
    for pair in ("BCE with logits", "MSE after sigmoid"):
        logit = torch.tensor([[-6.0]], requires_grad=True)
        PAIRS[pair][1](logit, torch.tensor([1])).backward()
        assert logit.grad is not None
        pulls.append(abs(logit.grad.item()))
    return pulls[0], pulls[1]


def print_two_classes() -> dict[str, dict[str, float]]:
    """Print what each pair of target and loss makes of two easy classes, over ten seeds.

    Returns:
        For each pair the mean ``loss``, ``accuracy`` and ``spread`` and the ``smallest`` and
        ``largest`` output; under ``confident_no`` the pull of ``bce`` and of ``mse`` at a logit.
    """
    print("ten seeds, averages; outputs from the smallest to the largest")
    print(f"{'':22}{'loss':>8}{'accuracy':>10}{'outputs':>18}{'spread':>9}")
    data = {}
    for pair, name in zip(PAIRS, NAMES_IN_FIGURES, strict=True):
        runs = [two_class_run(pair, seed) for seed in TWO_CLASS_SEEDS]
        row = {key: statistics.mean(run[key] for run in runs) for key in runs[0]}
        row["smallest"] = min(run["smallest"] for run in runs)
        row["largest"] = max(run["largest"] for run in runs)
        data[name] = row
        outputs = f"{row['smallest']:.1f} to {row['largest']:.1f}"
        print(
            f"{pair:22}{row['loss']:>8.3f}{row['accuracy']:>10.3f}{outputs:>18}{row['spread']:>9.3f}"
        )
    bce, mse = gradients_of_a_confident_no()
    print("\nlabel 1, logit -6: how hard the loss pulls")
    print(f"{'BCE with logits':22}{bce:>8.3f}\n{'MSE after sigmoid':22}{mse:>8.3f}")
    data["confident_no"] = {"bce": bce, "mse": mse}
    return data
