"""Training and evaluating for one epoch: the helpers that the lesson and its notebook reuse.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,), int64.
"""

from collections.abc import Iterable

import torch
from torch import nn

Batch = tuple[torch.Tensor, torch.Tensor]


# --8<-- [start:train_one_epoch]
def train_one_epoch(
    model: nn.Module,
    train_loader: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    criterion: nn.Module,
    device: torch.device,
) -> float:
    """Train on every batch once and return the average loss of a sample."""
    model.train()
    total_loss, seen = 0.0, 0
    for images, labels in train_loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(labels)  # the last batch may be smaller
        seen += len(labels)
    return total_loss / seen


# --8<-- [end:train_one_epoch]


# --8<-- [start:evaluate]
@torch.no_grad()
def evaluate(
    model: nn.Module, test_loader: Iterable[Batch], device: torch.device
) -> tuple[float, float]:
    """Return the average loss of a sample and the accuracy in percent."""
    model.eval()
    total_loss, correct, seen = 0.0, 0, 0
    for images, labels in test_loader:
        images, labels = images.to(device), labels.to(device)
        outputs = model(images)
        total_loss += nn.functional.cross_entropy(outputs, labels, reduction="sum").item()
        correct += int((outputs.argmax(dim=1) == labels).sum())
        seen += len(labels)
    return total_loss / seen, 100 * correct / seen


# --8<-- [end:evaluate]


# --8<-- [start:train_one_epoch_amp]
def train_one_epoch_amp(
    model: nn.Module,
    train_loader: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    criterion: nn.Module,
    device: torch.device,
    amp_dtype: torch.dtype | None,
    scaler: torch.amp.GradScaler,
) -> float:
    """``train_one_epoch`` in mixed precision, or in float32 where ``amp_dtype`` is None.

    ``scaler`` is enabled for float16 and for nothing else.
    """
    model.train()
    total_loss, seen = 0.0, 0
    for images, labels in train_loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        with torch.amp.autocast(device.type, dtype=amp_dtype, enabled=amp_dtype is not None):
            loss = criterion(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        total_loss += loss.item() * len(labels)
        seen += len(labels)
    return total_loss / seen


# --8<-- [end:train_one_epoch_amp]
