"""What graphs keep alive, and the two switches: ``no_grad`` and ``eval``.

Shapes: B is the batch size.
"""

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.data import as_tensors, load_mnist
from lesson_code.saved_tensors import SavedBytes

MEBIBYTE = 2**20


# --8<-- [start:logging]
def print_logging() -> None:
    """Print what ``item`` and ``detach`` make of a loss."""
    numbers = torch.randn(4, requires_grad=True)
    loss = numbers.square().mean()
    history = [loss.item()]
    detached = loss.detach()
    print("in the list:      ", type(history[0]).__name__)
    print("the loss:          requires_grad", loss.requires_grad)
    print("the detached loss: requires_grad", detached.requires_grad)


# --8<-- [end:logging]


# --8<-- [start:keep]
Results = Iterator[tuple[torch.Tensor, torch.Tensor]]  # each batch's logits and loss

KEEP: dict[str, Callable[[Results], object]] = {
    "losses.append(loss.item())": lambda results: [loss.item() for _, loss in results],
    "losses.append(loss.detach())": lambda results: [loss.detach() for _, loss in results],
    "losses.append(loss)": lambda results: [loss for _, loss in results],
    "kept.append(logits)": lambda results: [logits for logits, _ in results],
    "total += loss": lambda results: sum(loss for _, loss in results),
    "total += loss.item()": lambda results: sum(loss.item() for _, loss in results),
}
# --8<-- [end:keep]


@dataclass(frozen=True)
class Kept:
    """Bytes of saved tensors.

    Attributes:
        peak: Alive at most when a forward pass had just ended.
        after: Alive when all batches are done and what was kept is still there.
    """

    peak: int
    after: int


# --8<-- [start:kept_bytes]
def kept_bytes(
    way: str,
    batches: int,
    training: bool = False,
    gradients: bool = True,
) -> Kept:
    """Run batches, keep their results in one of the ways, and read the meter."""
    torch.manual_seed(0)
    model = nn.Sequential(
        *(nn.Linear(256, 512), nn.ReLU()),
        *(nn.Linear(512, 512), nn.ReLU()),
        nn.Linear(512, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    features, labels = torch.randn(64, 256), torch.randint(10, (64,))
    meter = SavedBytes(model, features)
    readings = []

    def results() -> Results:
        for _ in range(batches):
            logits = model(features)
            loss = cross_entropy(logits, labels)
            readings.append(meter.total())
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            yield logits, loss

    with meter, torch.set_grad_enabled(gradients):
        kept = KEEP[way](results())
    after = meter.total()
    del kept  # until here it pointed at whatever it points at
    return Kept(max(readings), after)


# --8<-- [end:kept_bytes]

SITUATIONS = {
    "training": {"training": True},
    "validation, gradients on": {},
    "validation under no_grad": {"gradients": False},
}
ROWS = (
    ("training", "losses.append(loss.item())"),
    ("training", "losses.append(loss)"),
    ("validation, gradients on", "losses.append(loss.item())"),
    ("validation, gradients on", "losses.append(loss.detach())"),
    ("validation, gradients on", "total += loss.item()"),
    ("validation, gradients on", "losses.append(loss)"),
    ("validation, gradients on", "total += loss"),
    ("validation, gradients on", "kept.append(logits)"),
    ("validation under no_grad", "losses.append(loss)"),
)


def print_kept() -> list[dict[str, int | str]]:
    """Print for each way of keeping results what it keeps alive.

    Returns:
        Of each row ``situation``, ``way``, ``peak``, ``after_10`` and ``after_20``, in bytes.
    """
    print("MiB of saved tensors, 256-512-512-10 network, batches of 64")
    print(f"{'':32}{'at most':>12}{'after 10':>12}{'after 20':>12}")
    rows: list[dict[str, int | str]] = []
    shown = ""
    for situation, way in ROWS:
        ten, twenty = (kept_bytes(way, n, **SITUATIONS[situation]) for n in (10, 20))
        if situation != shown:
            print(situation)
            shown = situation
        sizes = [size / MEBIBYTE for size in (twenty.peak, ten.after, twenty.after)]
        print(f"  {way:30}" + "".join(f"{size:>12.2f}" for size in sizes))
        row = {"peak": twenty.peak, "after_10": ten.after, "after_20": twenty.after}
        rows.append({"situation": situation, "way": way, **row})
    return rows


# --8<-- [start:predict]
def print_predictions() -> None:
    """Predict the classes of five rows with both switches set."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    rows = torch.randn(5, 4)
    print("fresh model, training mode:", model.training)

    model.eval()
    with torch.no_grad():
        logits = model(rows)
        predictions = logits.argmax(dim=1)
    print("predictions:", predictions.tolist())
    print("the logits carry a graph:", logits.requires_grad)


# --8<-- [end:predict]


# --8<-- [start:two_passes]
def two_passes(training: bool, gradients: bool) -> tuple[bool, bool]:
    """Whether two passes over the same rows agree, and whether they leave a graph."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    rows = torch.randn(5, 4)
    model.train(training)
    with torch.set_grad_enabled(gradients):
        first, second = model(rows), model(rows)
    return torch.equal(first, second), first.requires_grad


# --8<-- [end:two_passes]


def print_two_switches() -> None:
    """Print the four combinations of mode and gradients."""
    print(f"{'mode':12}{'gradients':12}{'two passes':14}graph")
    for training in (True, False):
        for gradients in (True, False):
            equal, graph = two_passes(training, gradients)
            print(
                f"{'train()' if training else 'eval()':12}{'on' if gradients else 'no_grad':12}"
                f"{'equal' if equal else 'different':14}{'yes' if graph else 'no'}"
            )


# --8<-- [start:inference_mode]
def print_inference_mode() -> None:
    """Use features from ``no_grad`` and from ``inference_mode`` in a layer that trains."""
    encoder, head = nn.Linear(4, 8), nn.Linear(8, 2)
    rows = torch.ones(3, 4)
    for switch in (torch.no_grad, torch.inference_mode):
        with switch():
            features = encoder(rows)
        try:
            head(features).sum().backward()
        except RuntimeError as error:
            print(f"{switch.__name__}: RuntimeError: {str(error).partition('. ')[0]}")
        else:
            print(f"{switch.__name__}: the head has its gradient")


# --8<-- [end:inference_mode]


def print_dropout() -> dict[str, float]:
    """Send 100,000 ones through dropout, in training mode and in evaluation mode."""
    torch.manual_seed(0)
    ones = torch.ones(100_000)
    dropout = nn.Dropout(0.5)
    out = dropout(ones)
    zeros, mean = (out == 0).float().mean().item(), out.mean().item()
    print(f"train(): {zeros:.1%} zeros, the rest {out.max().item()}, mean {mean:.3f}")

    dropout.eval()
    print("eval():  all ones as before:", torch.equal(ones, dropout(ones)))
    return {"zeros": zeros, "mean": mean}


def validate_with_dropout(seed: int) -> tuple[list[float], list[float]]:
    """Train with dropout on MNIST, then validate with the mode right and with it wrong.

    Returns:
        The accuracies of two passes in evaluation mode, and of ten in training mode.
    """
    images, labels = as_tensors(load_mnist(train=True, source="subset"))
    test_images, test_labels = as_tensors(load_mnist(train=False, source="subset"))
    torch.manual_seed(seed)
    model = nn.Sequential(
        *(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(4):
        for batch in torch.randperm(len(images)).split(128):
            optimizer.zero_grad()
            cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()

    def accuracy(training: bool) -> float:
        model.train(training)
        with torch.no_grad():
            right = model(test_images).argmax(dim=1) == test_labels
        return right.float().mean().item()

    return [accuracy(False) for _ in range(2)], [accuracy(True) for _ in range(10)]


def print_validation_with_dropout() -> dict[str, float]:
    """Validate one trained model twice with the mode right, and ten times with it wrong.

    Returns:
        The accuracy in evaluation mode, ``eval``, and of ten passes in training mode the
        ``lowest``, the ``highest`` and the ``mean``.
    """
    still, wrong = validate_with_dropout(seed=0)
    found = {
        "eval": still[0],
        "lowest": min(wrong),
        "highest": max(wrong),
        "mean": sum(wrong) / len(wrong),
    }
    print("eval(), two passes:  ", "  ".join(f"{share:.3f}" for share in still))
    print(f"train(), ten passes:  {min(wrong):.3f} to {max(wrong):.3f}")
    return found


def study_validation_with_dropout() -> list[dict[str, float]]:
    """The same for models of five seeds: the right accuracy beside the ten wrong ones."""
    found = []
    with contextlib.redirect_stdout(io.StringIO()):  # it says five times which data it found
        runs = [validate_with_dropout(seed) for seed in range(5)]
    print("seed   eval()   train(), ten passes")
    for seed, (still, wrong) in enumerate(runs):
        print(f"{seed:>4}{still[0]:>9.3f}   {min(wrong):.3f} to {max(wrong):.3f}")
        found.append({"eval": still[0], "lowest": min(wrong), "highest": max(wrong)})
    return found


# --8<-- [start:frozen_batch_norm]
def print_frozen_batch_norm() -> None:
    """Send a batch through a layer whose parameters are frozen, in both modes."""
    norm = nn.BatchNorm1d(2).requires_grad_(False)
    batch = torch.full((8, 2), 3.0)
    print("fresh:        running mean", norm.running_mean)
    for mode in (True, False):
        norm.train(mode)(batch)
        print(f"after {'train()' if mode else 'eval()':7} running mean", norm.running_mean)


# --8<-- [end:frozen_batch_norm]
