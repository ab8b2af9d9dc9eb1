"""What ``backward`` adds up and gives back, a missing reset, and graphs that follow branches.

Shapes: B is the batch size.
"""

import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.data import as_tensors, load_mnist
from lesson_code.models import MNISTClassifier

Batch = tuple[torch.Tensor, torch.Tensor]  # features (B, F) and labels (B,)


# --8<-- [start:accumulation]
def print_accumulation() -> None:
    """Send three multiples of x backward, with one reset on the way."""
    x = torch.tensor(2.0, requires_grad=True)
    (3 * x).backward()
    print("3x, backward:       ", x.grad)
    (5 * x).backward()
    print("5x, backward:       ", x.grad)
    x.grad = None
    (7 * x).backward()
    print("reset, 7x, backward:", x.grad)


# --8<-- [end:accumulation]


# --8<-- [start:summed_gradient]
def summed_gradient(
    model: nn.Module, batches: Sequence[Batch], factors: Sequence[float]
) -> torch.Tensor:
    """What several backward passes leave in ``.grad``, all parameters in one row.

    Args:
        model: Is given no update.
        batches: Features and labels, one backward pass for each.
        factors: Multiplies the mean loss of each batch.
    """
    model.zero_grad()
    for (features, labels), factor in zip(batches, factors, strict=True):
        loss = cross_entropy(model(features), labels)
        (factor * loss).backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    return nn.utils.parameters_to_vector(gradients)


# --8<-- [end:summed_gradient]


# --8<-- [start:train_in_groups]
def train_in_groups(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Batch],
    group_size: int,
) -> int:
    """One update for each group of micro-batches; what is left over makes its own.

    Returns:
        The number of updates.
    """
    groups = [batches[i : i + group_size] for i in range(0, len(batches), group_size)]
    for group in groups:
        examples = sum(len(labels) for _, labels in group)
        optimizer.zero_grad()  # once an update, not once a backward
        for features, labels in group:
            share = len(labels) / examples
            (share * cross_entropy(model(features), labels)).backward()
        optimizer.step()
    return len(groups)


# --8<-- [end:train_in_groups]


def made_up_batches(sizes: Sequence[int]) -> list[Batch]:
    """Batches of 20 random features and five classes; the same examples, however they are cut."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(sum(sizes), 20, generator=generator)
    labels = torch.randint(5, (sum(sizes),), generator=generator)
    return list(zip(features.split(list(sizes)), labels.split(list(sizes)), strict=True))


def made_up_model() -> nn.Module:
    """A network for those batches; the same weights on every call."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 5))


@dataclass(frozen=True)
class Accumulation:
    """How the gradient of micro-batches compares with that of all their examples at once.

    Attributes:
        length: Its norm, divided by that of the full gradient.
        error: Norm of the difference, divided by that of the full gradient.
    """

    length: float
    error: float


def compare_accumulation(sizes: Sequence[int], factors: Sequence[float]) -> Accumulation:
    """Add up micro-batches of these sizes and look how far that is from one large batch."""
    model = made_up_model()
    whole = summed_gradient(model, made_up_batches([sum(sizes)]), [1.0])
    summed = summed_gradient(model, made_up_batches(sizes), factors)
    return Accumulation(
        (summed.norm() / whole.norm()).item(), ((summed - whole).norm() / whole.norm()).item()
    )


def print_micro_batches() -> dict[str, dict[str, float]]:
    """Print the gradient of four micro-batches against that of all examples at once.

    Returns:
        ``length`` and ``error`` of each row.
    """
    even, uneven = [16, 16, 16, 16], [16, 16, 16, 8]
    rows = {
        "divided": (even, "1/4", [1 / 4] * 4),
        "undivided": (even, "1", [1.0] * 4),
        "uneven_divided": (uneven, "1/4", [1 / 4] * 4),
        "uneven_by_share": (uneven, "its share of 56", [size / sum(uneven) for size in uneven]),
    }
    print(f"{'micro-batches':18}{'each loss times':18}{'length':>8}{'off by':>9}")
    data = {}
    for name, (sizes, factor, factors) in rows.items():
        found = compare_accumulation(sizes, factors)
        cut = ", ".join(map(str, sizes))
        print(f"{cut:18}{factor:18}{found.length:>8.4f}{found.error:>9.2%}")
        data[name] = {"length": found.length, "error": found.error}
    return data


# --8<-- [start:train]
@dataclass
class Run:
    """Loss and global gradient norm of each step, and the last parameters."""

    losses: list[float]
    norms: list[float]
    parameters: torch.Tensor


def train(steps: int, reset: bool = True, momentum: float = 0.0) -> Run:
    """Fit one small batch again and again, with or without a reset before each pass."""
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    features, labels = torch.randn(16, 4), torch.randint(2, (16,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)

    losses, norms = [], []
    for _ in range(steps):
        if reset:
            optimizer.zero_grad()
        loss = cross_entropy(model(features), labels)
        loss.backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norms.append(nn.utils.get_total_norm(gradients).item())  # look, then step
        optimizer.step()
        losses.append(loss.item())
    return Run(losses, norms, nn.utils.parameters_to_vector(model.parameters()).detach())


# --8<-- [end:train]


def print_healthy_run() -> None:
    """Print three steps in the healthy order."""
    run = train(3)
    for step, (loss, norm) in enumerate(zip(run.losses, run.norms, strict=True)):
        print(f"step {step}   loss {loss:.4f}   gradient norm {norm:.4f}")


def print_two_norms() -> None:
    """Print one gradient measured in two ways."""
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    features, labels = torch.randn(16, 4), torch.randint(2, (16,))
    cross_entropy(model(features), labels).backward()

    lengths = [p.grad.norm().item() for p in model.parameters() if p.grad is not None]
    clipped = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    print(f"norms of weight and bias, added:   {sum(lengths):.4f}")
    print(f"what clip_grad_norm_ works with:   {clipped.item():.4f}")


def print_missing_reset() -> dict[str, float]:
    """Print what happens without the reset, and what a momentum of 1.0 does.

    Returns:
        ``norm_0`` to ``norm_7`` of the first steps without a reset, ``lowest_loss`` and
        ``highest_loss`` of 1,000 of them, the ``healthy_loss`` after as many, and ``difference``:
        how far any parameter lies from that of a run with reset and momentum 1.0.
    """
    healthy, broken, momentum = train(1000), train(1000, reset=False), train(1000, momentum=1.0)
    difference = (broken.parameters - momentum.parameters).abs().max().item()

    print(f"{'':6}{'gradient norm':^22}{'loss':^22}")
    print(f"{'step':6}" + f"{'reset':>10}{'no reset':>12}" * 2)
    for step in (*range(8), 50, 100, 500, 999):
        print(
            f"{step:<6}{healthy.norms[step]:>10.3f}{broken.norms[step]:>12.3f}"
            f"{healthy.losses[step]:>10.3f}{broken.losses[step]:>12.3f}"
        )
    print("\nafter 1,000 steps, no reset against reset and momentum=1.0:")
    print(f"largest difference between two parameters: {difference:.7f}")
    return {
        **{f"norm_{step}": norm for step, norm in enumerate(broken.norms[:8])},
        "lowest_loss": min(broken.losses),
        "highest_loss": max(broken.losses),
        "healthy_loss": healthy.losses[-1],
        "difference": difference,
    }


# --8<-- [start:stays_finite]
def stays_finite(rate: float, reset: bool, seed: int = 0) -> bool:
    """Whether an epoch on 6,000 digits, with plain SGD, has no loss that is infinite or NaN."""
    images, labels = digits()
    torch.manual_seed(seed)
    model = MNISTClassifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for batch in torch.randperm(len(images)).split(64):
        if reset:
            optimizer.zero_grad()
        loss = cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        if not loss.isfinite():
            return False
    return True


# --8<-- [end:stays_finite]


def digits() -> Batch:
    """The 6,000 training images (N, 1, 28, 28) that ship with the lesson, and their labels."""
    with contextlib.redirect_stdout(io.StringIO()):  # it says which data it found
        return as_tensors(load_mnist(train=True, source="subset"))


def print_rates() -> None:
    """Print which of two learning rates keep every loss finite, with and without the reset."""
    print(f"{'rate':7}{'reset':16}no reset")
    for rate in (0.1, 0.5):
        ends = ["finite" if stays_finite(rate, reset) else "not finite" for reset in (True, False)]
        print(f"{rate:<7}{ends[0]:16}{ends[1]}")


# --8<-- [start:none_gradients]
def print_none_gradients() -> None:
    """Print what ``.grad`` is around a reset, and what a step without gradients moves."""
    layer = nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, weight_decay=0.5)
    weights = layer.weight.detach().clone()
    print("before the first backward:", layer.bias.grad)

    layer(torch.ones(1, 4)).sum().backward()
    print("after backward:           ", layer.bias.grad)
    optimizer.zero_grad()
    print("after zero_grad:          ", layer.bias.grad)

    optimizer.step()
    print("weights as before:        ", torch.equal(weights, layer.weight))


# --8<-- [end:none_gradients]


# --8<-- [start:branching]
def branching_loss(x: torch.Tensor) -> torch.Tensor:
    """Mean of squares where the mean of ``x`` is positive, else mean of absolute values."""
    if x.mean().item() > 0:
        return x.square().mean()
    return x.abs().mean()


def print_branching() -> None:
    """Print loss and gradient of an input for each branch."""
    for values in ([1.0, 2.0, -0.5], [-1.0, -2.0, 0.5]):
        x = torch.tensor(values, requires_grad=True)
        loss = branching_loss(x)
        loss.backward()
        print(f"{values}: loss {loss.item():.4f}, {x.grad}")


# --8<-- [end:branching]


# --8<-- [start:where]
def loss_without_branch(x: torch.Tensor) -> torch.Tensor:
    """The same loss; both ways are computed, and the mean chooses between them."""
    return torch.where(x.mean() > 0, x.square(), x.abs()).mean()


# --8<-- [end:where]


# --8<-- [start:second_backward]
def sum_of_squares(x: torch.Tensor) -> torch.Tensor:
    """One number from two operations; the first needs ``x`` again on the way back."""
    return (x * x).sum()


def print_second_backward() -> None:
    """Go backward twice where nothing was saved, and where something was."""
    operations: dict[str, Callable[[torch.Tensor], torch.Tensor]]
    operations = {"x.sum()": torch.sum, "(x * x).sum()": sum_of_squares}
    for name, operation in operations.items():
        x = torch.ones(3, requires_grad=True)
        y = operation(x)
        y.backward()
        try:
            y.backward()
        except RuntimeError as error:
            print(f"{name}: RuntimeError: {str(error).partition(' (')[0]}")
        else:
            print(f"{name}: worked twice, {x.grad}")


# --8<-- [end:second_backward]
