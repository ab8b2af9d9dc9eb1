"""The two ways to move half of what has to move, and the error that follows.

``naive_loop`` is ``loop_cpu`` with two more lines: the device, and the model placed on it.
Where the GPU is, its first forward pass fails. ``inputs_only`` moves the inputs and forgets the
labels: the forward pass succeeds, and the loss fails. On a CPU both train: there is one place only.
"""

import textwrap
import traceback
from collections.abc import Callable, Iterable

import torch
from torch import nn

from lesson_code.models import MNISTClassifier

Batch = tuple[torch.Tensor, torch.Tensor]


def train_with_the_model_moved(train_loader: Iterable[Batch], epochs: int = 3) -> list[float]:
    """Train a fresh classifier with the batches left on the CPU; give each epoch's average loss.

    Args:
        train_loader: Gives batches: images (B, 1, 28, 28) and labels (B,), on the CPU.
        epochs: How many times to go through all the batches.

    Raises:
        RuntimeError: On a GPU, at the forward pass.
    """
    history = []
    # --8<-- [start:naive_loop]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(epochs):
        model.train()
        total_loss, seen = 0.0, 0
        for images, labels in train_loader:
            optimizer.zero_grad()
            outputs = model(images)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(labels)
            seen += len(labels)
        print(f"epoch {epoch + 1}: loss {total_loss / seen:.4f}")
        # --8<-- [end:naive_loop]
        history.append(total_loss / seen)
    return history


def train_with_the_inputs_moved(train_loader: Iterable[Batch], epochs: int = 3) -> list[float]:
    """Train a fresh classifier with the labels left on the CPU; give each epoch's average loss.

    Args:
        train_loader: Gives batches: images (B, 1, 28, 28) and labels (B,), on the CPU.
        epochs: How many times to go through all the batches.

    Raises:
        RuntimeError: On a GPU, at the loss.
    """
    history = []
    # --8<-- [start:inputs_only]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(epochs):
        model.train()
        total_loss, seen = 0.0, 0
        for images, labels in train_loader:
            images = images.to(device)
            optimizer.zero_grad()
            outputs = model(images)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(labels)
            seen += len(labels)
        print(f"epoch {epoch + 1}: loss {total_loss / seen:.4f}")
        # --8<-- [end:inputs_only]
        history.append(total_loss / seen)
    return history


def print_mismatch() -> dict[str, dict[str, str]] | None:
    """Print the error of both loops as a GPU machine raises it, with the line in this file.

    Returns:
        For ``naive_loop`` and ``inputs_only`` the ``line`` that fails, the error's ``type`` and
        its whole ``message``; None without a GPU, where nothing can fail.
    """
    if not torch.cuda.is_available():
        print("This needs a GPU: on a CPU, model and batch are in one place.")
        return None
    naive = _failure(train_with_the_model_moved)
    inputs_only = _failure(train_with_the_inputs_moved)
    print("Only the model moved:")
    _print_failure(naive)
    print("\nModel and inputs moved, labels forgotten:")
    _print_failure(inputs_only)
    return {"naive_loop": naive, "inputs_only": inputs_only}


def _failure(train: Callable[[Iterable[Batch], int], list[float]]) -> dict[str, str]:
    """What ``train`` raises on one batch, and at which line of this file."""
    batch = (torch.rand(64, 1, 28, 28), torch.randint(10, (64,)))
    try:
        train([batch], 1)
    except RuntimeError as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next(frame.line for frame in reversed(frames) if frame.filename == __file__)
        return {"line": line or "", "type": type(error).__name__, "message": str(error)}
    raise AssertionError("the loop trained although half of it was left on the CPU")


def _print_failure(failure: dict[str, str]) -> None:
    print(f"    {failure['line']}")
    print(textwrap.fill(f"{failure['type']}: {failure['message']}", 72, break_long_words=False))
