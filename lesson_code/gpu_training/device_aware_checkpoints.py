"""Checkpoints that cross devices: saved where the training ran, loaded wherever you are.

A checkpoint remembers the device of every tensor in it. ``map_location`` says at loading time where
the tensors go instead, so the saving side needs no change at all. The CPU is on every machine, and
from there model and optimizer bring to the device what belongs there.
"""

import contextlib
import io
import pickle
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import nn

from lesson_code.models import MNISTClassifier


# --8<-- [start:save]
def save_checkpoint(
    path: str | Path,
    epoch: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: float,
) -> None:
    """Save the model and what the optimizer remembers, after ``epoch``, counted from zero."""
    checkpoint = {
        "epoch": epoch,
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "loss": float(loss),  # a plain number: a numpy.float64 could not be loaded safely
    }
    torch.save(checkpoint, path)


# --8<-- [end:save]


# --8<-- [start:load]
def load_checkpoint(
    path: str | Path, device: torch.device
) -> tuple[MNISTClassifier, torch.optim.Adam, int, float]:
    """Load model and optimizer onto ``device``, wherever they were saved."""
    # "cpu" is on every machine. True lets tensors and plain values through, and no more.
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)

    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    model.load_state_dict(checkpoint["model_state_dict"])  # values move in
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])  # its moments follow
    return model, optimizer, checkpoint["epoch"], checkpoint["loss"]


# --8<-- [end:load]


# --8<-- [start:resume_scaler]
def load_scaler_state(scaler: torch.amp.GradScaler, checkpoint: dict[str, Any]) -> None:
    """Give an enabled scaler its old state back, if the checkpoint has one.

    A run on a CPU leaves an empty state behind, and an enabled scaler refuses that.
    """
    state = checkpoint.get("scaler_state_dict")
    if scaler.is_enabled() and state:
        scaler.load_state_dict(state)


# --8<-- [end:resume_scaler]


@contextlib.contextmanager
def cuda_tags() -> Iterator[None]:
    """Whatever is saved meanwhile claims to come from a GPU, as if it had been saved on one."""
    with mock.patch("torch.serialization.location_tag", return_value="cuda:0"):
        yield


def print_loading_without_map_location() -> None:
    """Load a checkpoint from a GPU, first as it is, then with ``map_location``."""
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with cuda_tags():
            save_checkpoint("checkpoint.pth", 4, model, optimizer, 0.0312)

        print("without map_location")
        try:
            # True lets tensors and plain values through, and is meant to stop all else.
            torch.load("checkpoint.pth", weights_only=True)
        except RuntimeError as error:
            print(textwrap.fill(f"{type(error).__name__}: {error}", 72))
        else:
            print("loaded: this machine has a GPU. One without raises a RuntimeError here.")

        print("\nwith map_location")
        model, _, epoch, loss = load_checkpoint("checkpoint.pth", torch.device("cpu"))
        print(f"epoch {epoch}, loss {loss}, the model is on {model.fc1.weight.device}")


# --8<-- [start:loads_safely]
def loads_safely(value: object) -> bool:
    """Whether a file that holds ``value`` loads with the protection on."""
    file = io.BytesIO()
    torch.save({"value": value}, file)
    file.seek(0)
    try:
        torch.load(file, weights_only=True)  # True: its refusal is the question
    except pickle.UnpicklingError:
        return False
    return True


# --8<-- [end:loads_safely]


def print_what_loads_safely() -> None:
    """Try the values that people put into a checkpoint."""
    import numpy as np

    accuracy = np.float64(97.5)
    values = {
        "4": 4,
        "0.0312": 0.0312,
        '"cuda"': "cuda",
        "True": True,
        "[0.9, 0.5]": [0.9, 0.5],
        '{"lr": 0.001}': {"lr": 0.001},
        "torch.ones(3)": torch.ones(3),
        "numpy.float64(97.5)": accuracy,
        "float(numpy.float64(97.5))": float(accuracy),
    }
    for text, value in values.items():
        print(f"{text:28}{'loads' if loads_safely(value) else 'refused: UnpicklingError'}")
