"""Gradient accumulation: the loop that loses examples, the one that does not, and what is equal.

Shapes: B is the batch size; images are (B, 1, 28, 28), labels (B,).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_, parameters_to_vector

from lesson_code.data import synthetic_digits
from lesson_code.foundations.autograd import summed_gradient, train_in_groups
from lesson_code.lab.models import TinyCNN
from lesson_code.models import MNISTClassifier

Batch = tuple[torch.Tensor, torch.Tensor]


# --8<-- [start:every_kth]
def every_kth(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: Sequence[Batch], k: int
) -> int:
    """Wrong in two places: one update after every k-th micro-batch; returns how many."""
    updates = 0
    optimizer.zero_grad()
    for i, (x, y) in enumerate(batches):
        loss = cross_entropy(model(x), y) / k
        loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
            updates += 1
    return updates


# --8<-- [end:every_kth]


# --8<-- [start:one_update]
def one_update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    group: Sequence[Batch],
    dtype: torch.dtype,
) -> None:
    """One update from a whole group of micro-batches, however many and however long."""
    examples = sum(len(y) for _, y in group)
    optimizer.zero_grad()
    for x, y in group:
        with torch.autocast(x.device.type, dtype=dtype, enabled=dtype != torch.float32):
            loss = cross_entropy(model(x), y)
        share = len(y) / examples
        scaler.scale(share * loss).backward()
    scaler.unscale_(optimizer)  # from here on once a group: the gradients are complete
    clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)
    scaler.update()


# --8<-- [end:one_update]


def batches_of(sizes: Sequence[int], dtype: torch.dtype = torch.float32) -> list[Batch]:
    """Made-up digits in batches of these sizes; the same ones, however they are cut."""
    images, labels, _, _ = synthetic_digits(sum(sizes), 1)
    return list(zip(images.to(dtype).split(list(sizes)), labels.split(list(sizes)), strict=True))


def classifier() -> nn.Module:
    """The digit classifier, with the same weights on every call."""
    torch.manual_seed(1)
    return MNISTClassifier()


def compare_updates(sizes: Sequence[int], k: int = 4) -> tuple[int, int, float]:
    """Train with both loops, SGD 0.5, on the same micro-batches.

    Returns:
        The updates of ``every_kth``, those of the right loop, and how far apart the weights end,
        as a share of how far the right ones moved.
    """
    start = parameters_to_vector(classifier().parameters())
    ends, updates = [], []
    for train in (every_kth, train_in_groups):
        model = classifier()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        updates.append(train(model, optimizer, batches_of(sizes), k))
        ends.append(parameters_to_vector(model.parameters()))
    wrong, right = ends
    return updates[0], updates[1], ((wrong - right).norm() / (right - start).norm()).item()


LAYOUTS = {"8 x 32": [32] * 8, "10 x 32": [32] * 10, "7 x 32, 1 x 8": [32] * 7 + [8]}


def print_left_over() -> dict[str, float]:
    """Print what every_kth makes of three passes over the data.

    Returns:
        For each layout how far the weights end from the right ones.
    """
    print(f"{'micro-batches':15}{'updates':>8}{'wanted':>7}{'off by':>8}")
    found = {}
    for name, sizes in LAYOUTS.items():
        updates, wanted, off = compare_updates(sizes)
        print(f"{name:15}{updates:>8}{wanted:>7}{off:>8.0%}")
        found[name] = off
    return found


# --8<-- [start:by_what_counts]
def by_what_counts(
    model: nn.Module, group: Sequence[Batch], weight: torch.Tensor | None = None
) -> torch.Tensor:
    """The gradient of a group, all parameters in one row.

    Args:
        model: Is given no update.
        group: Micro-batches; a label of -100 is left out of the loss.
        weight: Of each class; None where all count the same.
    """
    labels = torch.cat([y for _, y in group])
    kept = labels[labels != -100]
    counted = len(kept) if weight is None else weight[kept].sum()
    model.zero_grad()
    for x, y in group:
        total = cross_entropy(model(x), y, weight, reduction="sum")
        (total / counted).backward()
    return parameters_to_vector([p.grad for p in model.parameters() if p.grad is not None])


# --8<-- [end:by_what_counts]


def by_examples(
    model: nn.Module, group: Sequence[Batch], weight: torch.Tensor | None = None
) -> torch.Tensor:
    """The gradient of a group in which each mean loss is weighted by its share of the examples."""
    examples = sum(len(y) for _, y in group)
    model.zero_grad()
    for x, y in group:
        (len(y) / examples * cross_entropy(model(x), y, weight)).backward()
    return parameters_to_vector([p.grad for p in model.parameters() if p.grad is not None])


REAL = (30, 4, 16, 8)  # labels of each micro-batch of 32; the rest is padding
CLASS_WEIGHTS = torch.tensor([1.0, 20.0]).repeat(5)


def padded_batches() -> list[Batch]:
    """Micro-batches of 32 in which as many labels as ``REAL`` says are not -100."""
    batches = batches_of([32] * len(REAL))
    for (_, labels), real in zip(batches, REAL, strict=True):
        labels[real:] = -100
    return batches


def print_what_counts() -> dict[str, float]:
    """Print how far two ways to weigh a micro-batch are from one batch.

    Returns:
        For each row the norm of the difference, divided by that of the one batch's gradient.
    """
    losses = {
        "padding left out": (padded_batches(), None),
        "classes weighted": (batches_of([32] * 4), CLASS_WEIGHTS),
    }
    weighted = {
        "its share of the examples": by_examples,
        "its share of what counts": by_what_counts,
    }
    print(f"{'loss':18}{'each micro-batch by':26}{'off by':>8}")
    found = {}
    for loss, (group, weight) in losses.items():
        one = [(torch.cat([x for x, _ in group]), torch.cat([y for _, y in group]))]
        whole = by_examples(classifier(), one, weight)
        for way, gradient in weighted.items():
            off = ((gradient(classifier(), group, weight) - whole).norm() / whole.norm()).item()
            print(f"{loss:18}{way:26}{off:>8.1%}")
            found[f"{loss}, {way}"] = off
    return found


class UnderAutocast(nn.Module):
    """A model whose forward pass runs under autocast; its scores come out as float32."""

    def __init__(self, model: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.model, self.dtype = model, dtype

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores (B, 10), float32."""
        with torch.autocast(images.device.type, dtype=self.dtype):
            scores: torch.Tensor = self.model(images)
        return scores.float()


def with_dropout() -> nn.Module:
    """The classifier's layers with a dropout of 0.2 behind the hidden ones."""
    model = MNISTClassifier()
    hidden = (model.fc1, model.relu, nn.Dropout(0.2), model.fc2, model.relu, nn.Dropout(0.2))
    return nn.Sequential(model.flatten, *hidden, model.fc3)


WHOLE = 128
# The largest relative difference that rounding explains
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 1e-2, torch.float16: 1e-2}


@dataclass(frozen=True)
class Row:
    """Micro-batches that are compared with all their examples in one batch.

    Attributes:
        model: Makes the model.
        dtype: Of the weights, or of the products where that is a 16-bit type.
        sizes: The micro-batches; 128 examples in all.
        factor: Multiplies the mean loss of each; where None, its share of the examples does.
        cleared: Whether the gradients are cleared at each micro-batch, not once.
    """

    model: Callable[[], nn.Module]
    dtype: torch.dtype = torch.float32
    sizes: Sequence[int] = (32, 32, 32, 32)
    factor: float | None = None
    cleared: bool = False


SPLIT_IN_48, SPLIT_IN_60 = (48, 48, 32), (60, 60, 8)
NO_NORM, GROUP_NORM, BATCH_NORM = TinyCNN, partial(TinyCNN, "group"), partial(TinyCNN, "batch")
ROWS = {
    "four of 32, by share": {
        "MLP": Row(MNISTClassifier),
        "MLP, float64": Row(MNISTClassifier, torch.float64),
        "CNN": Row(NO_NORM),
        "CNN, GroupNorm": Row(GROUP_NORM),
        "CNN, GroupNorm, float64": Row(GROUP_NORM, torch.float64),
        "CNN, BatchNorm": Row(BATCH_NORM),
        "CNN, BatchNorm, float64": Row(BATCH_NORM, torch.float64),
        "MLP, dropout": Row(with_dropout),
        "MLP, bfloat16": Row(MNISTClassifier, torch.bfloat16),
        "MLP, float16": Row(MNISTClassifier, torch.float16),
        "CNN, bfloat16": Row(NO_NORM, torch.bfloat16),
        "CNN, float16": Row(NO_NORM, torch.float16),
    },
    "the MLP, cut otherwise": {
        "48, 48, 32, each times 1/3": Row(MNISTClassifier, sizes=SPLIT_IN_48, factor=1 / 3),
        "60, 60, 8, each times 1/3": Row(MNISTClassifier, sizes=SPLIT_IN_60, factor=1 / 3),
        "48, 48, 32, by share": Row(MNISTClassifier, sizes=SPLIT_IN_48),
        "60, 60, 8, by share": Row(MNISTClassifier, sizes=SPLIT_IN_60),
        "four of 32, not divided": Row(MNISTClassifier, factor=1.0),
        "four of 32, cleared each time": Row(MNISTClassifier, cleared=True),
    },
}


@dataclass(frozen=True)
class Difference:
    """How far the gradient of micro-batches is from that of one batch.

    Attributes:
        largest: The largest difference of two entries.
        relative: The norm of the difference, divided by that of the one batch's gradient.
        equal: Whether rounding explains it.
    """

    largest: float
    relative: float
    equal: bool


def difference(row: Row) -> Difference:
    """Compare the summed gradient of the micro-batches with that of one batch."""
    half = row.dtype in (torch.bfloat16, torch.float16)
    dtype = torch.float32 if half else row.dtype
    torch.manual_seed(1)
    model = row.model().to(dtype)
    if half:
        model = UnderAutocast(model, row.dtype)
    whole = summed_gradient(model, batches_of([WHOLE], dtype), [1.0])
    batches = batches_of(row.sizes, dtype)
    factors = [row.factor or size / WHOLE for size in row.sizes]
    if row.cleared:  # of all micro-batches the last one is left
        batches, factors = batches[-1:], factors[-1:]
    summed = summed_gradient(model, batches, factors)
    relative = ((summed - whole).norm() / whole.norm()).item()
    largest = (summed - whole).abs().max().item()
    return Difference(largest, relative, relative <= TOLERANCE[row.dtype])


def print_equality() -> dict[str, dict[str, float]]:
    """Print for each row whether the micro-batches give the gradient of one batch of 128.

    Returns:
        ``largest`` and ``relative`` of each row.
    """
    data = {}
    print("= equal up to rounding, ≠ not equal")
    for title, rows in ROWS.items():
        print(f"{title}:")
        for name, row in rows.items():
            found = difference(row)
            off = f"< {TOLERANCE[row.dtype]:.0e}" if found.equal else f"{found.relative:.1%}"
            print(f"  {'=' if found.equal else '≠'} {off:>7}  {name}")
            data[name] = {"largest": found.largest, "relative": found.relative}
    return data
