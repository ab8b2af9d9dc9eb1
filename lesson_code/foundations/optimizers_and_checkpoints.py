"""Optimizers compared on one step, and checkpoints from which a run goes on as if nothing happened.

A checkpoint holds tensors and plain Python values only, so ``weights_only=True`` loads it.

Shapes: B is the batch size, P the number of parameters.
"""

import argparse
import copy
import datetime
import functools
import math
import os
import random
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.foundations.modules import DigitClassifier
from lesson_code.gpu_training.device_aware_checkpoints import loads_safely

MakeOptimizer = Callable[..., torch.optim.Optimizer]


# --8<-- [start:one_step]
def one_step(make: MakeOptimizer, **settings: object) -> list[float]:
    """Weights 1 and 100 after one step with the same gradient and the same weight decay."""
    weights = nn.Parameter(torch.tensor([1.0, 100.0]))
    optimizer = make([weights], lr=0.1, weight_decay=0.1, **settings)
    weights.grad = torch.full_like(weights, 1e-3)
    optimizer.step()
    return weights.tolist()


# --8<-- [end:one_step]


def print_one_step() -> dict[str, list[float]]:
    """One step of Adam, of AdamW, and of Adam with decoupled weight decay."""
    results = {
        "Adam": one_step(torch.optim.Adam),
        "AdamW": one_step(torch.optim.AdamW),
        "Adam, decoupled": one_step(torch.optim.Adam, decoupled_weight_decay=True),
    }
    print(f"{'':17}{'from 1':>10}{'from 100':>10}")
    for name, (small, large) in results.items():
        print(f"{name:17}{small:10.4f}{large:10.4f}")
    return results


# --8<-- [start:clip]
def clipped_step(
    model: nn.Module, loss: torch.Tensor, optimizer: torch.optim.Optimizer, max_norm: float
) -> float:
    """Backward, clip, step; returns the norm of all gradients before they were clipped."""
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm, error_if_nonfinite=True)
    optimizer.step()
    return norm.item()


# --8<-- [end:clip]


def print_clipping() -> None:
    """Clip a large gradient, then a loss that is not a number, with and without the question."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    features = torch.randn(8, 4)

    returned = clipped_step(model, 100 * model(features).square().mean(), optimizer, 1.0)
    left = nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
    print(f"returned {returned:.1f}, left in the buffers {left:.1f}")

    nothing = model(features).mean() * math.nan
    try:
        clipped_step(model, nothing, optimizer, 1.0)
    except RuntimeError as error:
        message = f"NaN, asked: {type(error).__name__}: {str(error).partition(',')[0]}, …"
        print(textwrap.fill(message, 72))
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    print(f"NaN, not asked: returned {norm:.1f}, nothing raised")


# --8<-- [start:save]
def save_checkpoint(
    path: Path,
    epoch: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    validation_accuracy: float,
    order: torch.Generator | None = None,
    config: dict[str, Any] | None = None,
) -> None:
    """Save what the next epoch needs, on a CPU or CUDA; the old file stays until the new is whole.

    Args:
        path: Where the checkpoint is kept.
        epoch: The number of the epoch that has finished.
        model: Its state goes in.
        optimizer: Its state too: momentum, Adam's two moments, step counts.
        validation_accuracy: Of this epoch, as a fraction.
        order: The generator that shuffles the training batches.
        config: Settings of the run, as plain values.
    """
    checkpoint = {
        "epoch": epoch,
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "validation_accuracy": float(validation_accuracy),  # a NumPy float would not load
        "random_state": torch.get_rng_state(),
        "cuda_random_states": torch.cuda.get_rng_state_all(),  # empty without a GPU
        "order_state": order.get_state() if order else None,
        "config": config or {},
    }
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        torch.save(checkpoint, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)  # one step: anyone who looks finds the old file or the new one


# --8<-- [end:save]


# --8<-- [start:load]
def load_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    order: torch.Generator | None = None,
) -> tuple[int, float]:
    """Put everything back, and return the finished epoch and its accuracy.

    Model and optimizer exist already, and the model is where it trains.
    """
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model_state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])  # moves to the parameters
    torch.set_rng_state(checkpoint["random_state"])
    for index, state in enumerate(checkpoint["cuda_random_states"][: torch.cuda.device_count()]):
        torch.cuda.set_rng_state(state, index)
    if order and checkpoint["order_state"] is not None:
        order.set_state(checkpoint["order_state"])
    return checkpoint["epoch"], checkpoint["validation_accuracy"]


# --8<-- [end:load]


# --8<-- [start:inference]
def classify_noise(path: Path) -> int:
    """Load the weights of a checkpoint and name the digit that they see in random pixels."""
    model = DigitClassifier()
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model_state_dict"])
    model.eval()
    with torch.no_grad():
        logits = model(torch.randn(1, 1, 28, 28))  # (1, 10)
    return int(logits.argmax(dim=1))


# --8<-- [end:inference]


def print_inference() -> None:
    """Save a classifier and Adam after a step, weigh the file, and classify random pixels."""
    torch.manual_seed(13)
    model = DigitClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    cross_entropy(model(torch.randn(8, 1, 28, 28)), torch.arange(8)).backward()
    optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "best.pt")
        save_checkpoint(path, 1, model, optimizer, 0.5)
        print(f"class {classify_noise(path)}")


def checkpoint_bytes() -> dict[str, int]:
    """Bytes of a checkpoint of the digit classifier with Adam, and of its weights alone."""
    model = DigitClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    cross_entropy(model(torch.zeros(8, 1, 28, 28)), torch.arange(8)).backward()
    optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "best.pt")
        save_checkpoint(path, 1, model, optimizer, 0.5, torch.Generator())
        weights = sum(p.numel() * p.element_size() for p in model.parameters())
        return {"checkpoint": path.stat().st_size, "weights": weights}


def print_checkpoint_size() -> dict[str, int]:
    """How many bytes the checkpoint takes, and how many of them are weights."""
    sizes = checkpoint_bytes()
    print(f"checkpoint {sizes['checkpoint']:9,} bytes\nweights    {sizes['weights']:9,} bytes")
    return sizes


# --8<-- [start:reference]
def print_kept_state() -> None:
    """Keep "the best" in a variable, train one more step, and look at what was kept."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    kept = model.state_dict()
    copied = copy.deepcopy(model.state_dict())
    model(torch.ones(1)).sum().backward()
    optimizer.step()

    print(f"model  {model.weight.item()}")
    print(f"kept   {kept['weight'].item()}")
    print(f"copied {copied['weight'].item()}")


# --8<-- [end:reference]


# The resume experiment: what a checkpoint without the optimizer's state costs.
OPTIMIZERS: dict[str, MakeOptimizer] = {
    "adam": functools.partial(torch.optim.Adam, lr=1e-2),
    "momentum": functools.partial(torch.optim.SGD, lr=1e-2, momentum=0.9),
    "sgd": functools.partial(torch.optim.SGD, lr=1e-2),
}
TITLES = ("Adam", "SGD, momentum 0.9", "SGD")


class ResumeExperiment:
    """A 20-64-5 network on 256 fixed rows: trained, interrupted at step 100, and gone on with.

    Attributes:
        model: The network.
        optimizer: What trains it.
    """

    def __init__(self, make: MakeOptimizer, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))
        self.make, self.seed = make, seed
        self.optimizer = make(self.model.parameters())
        rows = torch.Generator().manual_seed(1)
        self.features = torch.randn(256, 20, generator=rows)
        self.labels = (self.features @ torch.randn(20, 5, generator=rows)).argmax(dim=1)

    def train(self, steps: range) -> list[float]:
        """Train on batches of 32 rows in a fixed order; returns the loss of each step."""
        losses = []
        for step in steps:
            rows = slice(32 * (step % 8), 32 * (step % 8 + 1))
            self.optimizer.zero_grad()
            loss = cross_entropy(self.model(self.features[rows]), self.labels[rows])
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return losses

    def resumed(self, path: Path, with_optimizer: bool) -> "ResumeExperiment":
        """A fresh process's view of it: all of the checkpoint, or its weights alone."""
        other = ResumeExperiment(self.make, self.seed)
        if with_optimizer:
            load_checkpoint(path, other.model, other.optimizer)
        else:
            checkpoint = torch.load(path, map_location="cpu", weights_only=True)
            other.model.load_state_dict(checkpoint["model_state_dict"])
        return other


def compare_resumes(make: MakeOptimizer, seed: int = 0) -> dict[str, Any]:
    """Train 100 steps, save, and go on for 20 steps in three ways.

    Returns:
        Per way the losses of the 20 steps, and the largest difference of any parameter from the
        run that was never interrupted.
    """
    run, rest = ResumeExperiment(make, seed), range(100, 120)
    run.train(range(100))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.pt")
        save_checkpoint(path, 1, run.model, run.optimizer, 0.0)
        full, weights_only = run.resumed(path, True), run.resumed(path, False)
    result: dict[str, Any] = {"uninterrupted": {"loss": run.train(rest), "difference": 0.0}}
    for name, other in (("all", full), ("weights_only", weights_only)):
        losses = other.train(rest)
        pairs = zip(run.model.parameters(), other.model.parameters(), strict=True)
        largest = max((p - q).abs().max().item() for p, q in pairs)
        result[name] = {"loss": losses, "difference": largest}
    return result


def print_resumes() -> dict[str, Any]:
    """First losses after the interruption and the final difference of the parameters."""
    results = {name: compare_resumes(make) for name, make in OPTIMIZERS.items()}
    print(f"{'':19}{'restored':15}{'loss of steps 1, 2, 3':>24}{'difference':>12}")
    for name, ways in zip(TITLES, results.values(), strict=True):
        for way, result in ways.items():
            losses = "".join(f"{loss:8.4f}" for loss in result["loss"][:3])
            print(f"{name:19}{way.replace('_', ' '):15}{losses}{result['difference']:12.3f}")
            result["difference"] = round(result["difference"], 3)
    return results


def study_resumes() -> dict[str, dict[str, list[float]]]:
    """How far the parameters end from the run without an interruption, with five seeds."""
    found: dict[str, dict[str, list[float]]] = {}
    print(f"{'difference, five seeds':24}{'all':>9}{'weights only':>20}")
    for title, (name, make) in zip(TITLES, OPTIMIZERS.items(), strict=True):
        runs = [compare_resumes(make, seed) for seed in range(5)]
        found[name] = {
            way: [run[way]["difference"] for run in runs] for way in ("all", "weights_only")
        }
        ways = [
            f"{min(values):.3f} to {max(values):.3f}" if any(values) else "0.000"
            for values in found[name].values()
        ]
        print(f"{title:24}{ways[0]:>9}{ways[1]:>20}")
    return found


def values_to_save() -> dict[str, object]:
    """What people put into checkpoints, by the text that stands for it."""
    accuracy = np.float64(0.9672)
    return {
        "{'a': 1}": {"a": 1},
        "[1, 2.5]": [1, 2.5],
        "(1, 'two')": (1, "two"),
        "{1, 2}": {1, 2},
        "True": True,
        "None": None,
        "torch.ones(3)": torch.ones(3),
        "torch.Size([2, 3])": torch.Size([2, 3]),
        "torch.float16": torch.float16,
        "torch.device('cpu')": torch.device("cpu"),
        "random.getstate()": random.getstate(),
        "model.state_dict()": nn.Linear(1, 1).state_dict(),
        "float(numpy.float64(0.9672))": float(accuracy),
        "str(Path('data'))": str(Path("data")),
        "numpy.float64(0.9672)": accuracy,
        "numpy.ones(3)": np.ones(3),
        "numpy.random.get_state()": np.random.get_state(),
        "Path('data')": Path("data"),
        "argparse.Namespace(epochs=3)": argparse.Namespace(epochs=3),
        "datetime.date(2026, 1, 1)": datetime.date(2026, 1, 1),
        "the whole model": nn.Linear(1, 1),
    }


def print_what_loads_safely() -> None:
    """Save each value and load it with the protection on."""
    for text, value in values_to_save().items():
        print(f"{text:30}{'loads' if loads_safely(value) else 'refused'}")


# --8<-- [start:allow]
def load_with_settings(file: Path) -> Any:
    """Load a checkpoint with an ``argparse.Namespace`` in it; every other class is refused."""
    with torch.serialization.safe_globals([argparse.Namespace]):
        return torch.load(file, weights_only=True)


# --8<-- [end:allow]
