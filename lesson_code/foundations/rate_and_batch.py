"""The rate and the batch: what a larger batch costs, how to choose a rate, and how to change it.

The model is Part 3's ``DigitClassifier`` without dropout, on 4,096 real digits of those
in ``generalising``: whole batches of every size. A run is as long as its updates, however many
epochs they take.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,); B is the batch size. Losses are in
nats per image.
"""

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LRScheduler

from lesson_code.foundations.generalising import (
    Images,
    build,
    ends,
    judge,
    paired_difference,
    range_of,
    three_digits,
    three_sets,
)

SEEDS = range(5)
IMAGES = 4096  # whole batches of every size: a smaller last one makes the noisiest update
EPOCHS, RATE = 3, 0.1
SMALL, LARGE = 32, 512  # batch sizes
UPDATES = 300  # of a short run with the small batch
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
TARGET = 0.35  # a validation loss
SIZES = (8, 32, 128, 512, 2048)
LOWEST_RATE, MOST_UPDATES = 0.025, 2000  # with which the search for a best rate begins
DECAY_RATES = (0.1, 0.2, 0.3, 0.4)
DECAY_SEEDS = range(20)  # the ends of five hide what a decay gains
WARM_UP, LARGE_UPDATES = 20, 60  # with the large batch and Adam
ADAM_RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
MakeScheduler = Callable[[Optimizer], LRScheduler | None]


@functools.cache
def digits() -> tuple[Images, Images]:
    """The 4,096 training images and the 1,000 validation images."""
    training, validation, _ = three_sets(IMAGES)
    return training, validation


# --8<-- [start:train]
def batches(size: int) -> Iterator[Images]:
    """Batches without end; each epoch has a new order of its images."""
    images, labels = digits()[0]
    while True:
        for batch in torch.randperm(len(images)).split(size):
            yield images[batch], labels[batch]


def train(
    model: nn.Module,
    optimizer: Optimizer,
    data: Iterable[Images],
    scheduler: LRScheduler | None = None,
) -> list[float]:
    """One update for each batch; returns their losses."""
    model.train()
    losses = []
    for images, labels in data:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        if scheduler:
            scheduler.step()  # after each update, not after each epoch
        losses.append(loss.item())
    return losses


# --8<-- [end:train]


def validation_loss(model: nn.Module) -> float:
    """The mean loss of the 1,000 validation images."""
    return judge(model, *digits()[1])[0].mean().item()


# --8<-- [start:sweep]
def sweep(
    rates: Iterable[float], size: int, updates: int, seed: int = 0
) -> dict[float, tuple[list[float], float]]:
    """Batch losses and last validation loss at each rate, from equal weights."""
    found = {}
    for rate in rates:
        model = build(seed)
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        losses = train(model, optimizer, itertools.islice(batches(size), updates))
        found[rate] = losses, validation_loss(model)
    return found


# --8<-- [end:sweep]


# --8<-- [start:updates_to]
def updates_to(loss: float, rate: float, size: int, seed: int, most: int) -> float:
    """Updates until the validation loss is this low; infinity if it takes more."""
    model = build(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    data, done = batches(size), 0
    while done < most:
        more = max(1, done // 20)  # then look: the answer is right to a twentieth
        train(model, optimizer, itertools.islice(data, more))
        done += more
        if validation_loss(model) <= loss:
            return done
    return math.inf


# --8<-- [end:updates_to]


# --8<-- [start:schedule]
def warm_up_and_decay(optimizer: Optimizer, warm_up: int, updates: int) -> LambdaLR:
    """The rate rises in equal steps to its full value, falls to zero, and stays there."""

    def factor(done: int) -> float:
        if done < warm_up:
            return (done + 1) / warm_up
        return max(0.0, (updates - done) / max(1, updates - warm_up))

    return LambdaLR(optimizer, factor)


# --8<-- [end:schedule]


def study_batches() -> dict[str, dict[str, float]]:
    """A small and a large batch: as many images, as many updates, and a higher rate.

    Returns:
        For each run its updates, its images, and the range of five seeds' validation losses.
    """
    small, large = (EPOCHS * IMAGES // size for size in (SMALL, LARGE))
    runs = {
        "small": (SMALL, RATE, small),
        "large": (LARGE, RATE, large),
        "large_longer": (LARGE, RATE, small),
        "large_faster": (LARGE, 2 * RATE, large),
    }
    found = {}
    print(f"{'batch':8}{'rate':>6}{'updates':>10}{'epochs':>8}{'validation loss':>20}")
    for name, (size, rate, updates) in runs.items():
        losses = [sweep([rate], size, updates, seed)[rate][1] for seed in SEEDS]
        epochs = updates * size // IMAGES
        print(f"{size:<8}{rate:>6}{updates:>10}{epochs:>8}{range_of(losses):>20}")
        found[name] = {"updates": updates, "epochs": epochs, **ends(losses)}
    return found


def study_sweep() -> dict[str, dict[str, float]]:
    """What a log and the validation images say of each rate, with five seeds.

    Returns:
        For each rate the mean of ten batch losses at three times, as the median of the seeds, and
        the range of their validation losses.
    """
    found = {}
    print(f"{'':8}{'mean training loss of updates':^32}{'validation loss':>20}")
    print(f"{'rate':8}{'1 to 10':>10}{'91 to 100':>11}{'291 to 300':>11}{'five seeds':>20}")
    for rate in RATES:
        runs = [sweep([rate], SMALL, UPDATES, seed)[rate] for seed in SEEDS]
        early, middle, late = (
            statistics.median(statistics.fmean(losses[last - 10 : last]) for losses, _ in runs)
            for last in (10, 100, 300)
        )
        validation = [loss for _, loss in runs]
        print(f"{rate:<8}{early:>10.2f}{middle:>11.2f}{late:>11.2f}{range_of(validation):>20}")
        means = {"early": early, "middle": middle, "late": late}
        found[f"{rate:g}".replace(".", "_")] = {
            **{name: three_digits(mean) for name, mean in means.items()},
            **ends(validation),
        }
    return found


def best_rate(size: int, rate: float, most: int) -> tuple[float, list[float]]:
    """Double the rate until the median of five seeds needs more updates.

    Args:
        size: Of a batch.
        rate: The first one that is tried.
        most: Updates after which a run with it is given up.

    Returns:
        The last rate that was no worse, and the updates of its five seeds; infinity if one of them
        does not arrive at the first rate.
    """
    best = rate, [math.inf]
    while True:
        needed = [updates_to(TARGET, rate, size, seed, most) for seed in SEEDS]
        if statistics.median(needed) > statistics.median(best[1]) or math.inf in needed:
            return best
        best, rate, most = (rate, needed), 2 * rate, int(1.5 * max(needed))


def study_sizes() -> dict[str, dict[str, float]]:
    """For each batch size the best rate, and what it takes to a fixed validation loss.

    Returns:
        For each size the rate, and the median and the range of five seeds' updates, and images.
    """
    found, rate, most = {}, LOWEST_RATE, MOST_UPDATES
    print(f"{'batch':8}{'best rate':>10}{'updates':>10}{'five seeds':>16}{'images':>10}")
    for size in SIZES:
        rate, needed = best_rate(size, rate, most)
        most, updates = int(2 * max(needed)), int(statistics.median(needed))
        print(f"{size:<8}{rate:>10}{updates:>10}{range_of(needed, 0):>16}{updates * size:>10,}")
        found[f"{size}"] = {
            "rate": rate,
            "updates": updates,
            "images": updates * size,
            "lowest": min(needed),
            "highest": max(needed),
        }
    return found


def train_with_schedule(
    optimizer: Optimizer, model: nn.Module, size: int, updates: int, make: MakeScheduler
) -> float:
    """Train for so many updates under a schedule; returns the validation loss."""
    train(model, optimizer, itertools.islice(batches(size), updates), make(optimizer))
    return validation_loss(model)


def study_decay() -> dict[str, dict[str, dict[str, float]]]:
    """The same updates at a constant rate, and at one that falls to zero in two ways.

    Returns:
        For each schedule and rate the mean and the range of twenty seeds' validation losses; how
        much lower they are than at the constant rate with the lowest mean, in pairs: the mean
        gain and its standard error; and how many seeds are lower.
    """
    schedules: dict[str, MakeScheduler] = {
        "constant": lambda _: None,
        "linear": lambda optimizer: warm_up_and_decay(optimizer, 0, UPDATES),
        "cosine": lambda optimizer: CosineAnnealingLR(optimizer, T_max=UPDATES),
    }
    runs: dict[str, dict[float, torch.Tensor]] = {name: {} for name in schedules}
    for (name, make), rate in itertools.product(schedules.items(), DECAY_RATES):
        of_seeds = []
        for seed in DECAY_SEEDS:
            model = build(seed)
            optimizer = torch.optim.SGD(model.parameters(), lr=rate)
            of_seeds.append(train_with_schedule(optimizer, model, SMALL, UPDATES, make))
        runs[name][rate] = torch.tensor(of_seeds, dtype=torch.float64)
    best = min(runs["constant"].values(), key=lambda losses: losses.mean().item())
    print(f"{'':12}{'mean':>6}{'':16}{'lower than the best':>21}{'standard':>10}{'seeds':>8}")
    print(
        f"{'first rate':12}{'loss':>6}{'twenty seeds':>16}{'without decay by':>21}"
        f"{'error':>10}{'lower':>8}"
    )
    found: dict[str, Any] = {}
    for name, of_rates in runs.items():
        print(name)
        found[name] = {}
        for rate, losses in of_rates.items():
            gain, error = paired_difference(best, losses)
            mean, lower = losses.mean().item(), int((losses < best).sum())
            print(
                f"  {rate:<10}{mean:>6.3f}{range_of(losses.tolist()):>16}"
                f"{gain:>21.3f}{error:>10.3f}{lower:>8}"
            )
            found[name][f"{rate:g}".replace(".", "_")] = {
                "mean": three_digits(mean),
                **ends(losses.tolist()),
                "gain": round(gain, 3),
                "error": round(error, 3),
                "lower": lower,
            }
    return found


def study_warm_up() -> dict[str, dict[str, dict[str, float]]]:
    """Adam with a large batch and a decay, with and without a warm-up.

    Returns:
        For each rate, with and without, the range of five seeds' validation losses.
    """
    found: dict[str, Any] = {}
    print(f"{'full rate':12}{'no warm-up':>18}{'20 updates':>18}")
    for rate in ADAM_RATES:
        runs: dict[str, list[float]] = {"without": [], "with": []}
        for (name, losses), seed in itertools.product(runs.items(), SEEDS):
            warm_up = WARM_UP if name == "with" else 0
            make = functools.partial(warm_up_and_decay, warm_up=warm_up, updates=LARGE_UPDATES)
            model = build(seed)
            optimizer = torch.optim.Adam(model.parameters(), lr=rate)
            losses.append(train_with_schedule(optimizer, model, LARGE, LARGE_UPDATES, make))
        print(f"{rate:<12}" + "".join(f"{range_of(losses):>18}" for losses in runs.values()))
        found[f"{rate:g}".replace(".", "_")] = {name: ends(runs[name]) for name in runs}
    return found
