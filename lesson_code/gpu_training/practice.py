"""Solutions of the first three exercises; the fourth one is ``portable_training``.

Shapes: images are (B, 1, 28, 28), float32; labels are (B,), int64.
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import nn

from lesson_code.devices import choose_device, synchronize
from lesson_code.gpu_training.device_aware_checkpoints import load_checkpoint, save_checkpoint
from lesson_code.gpu_training.training import (
    Batch,
    evaluate,
    train_one_epoch,
    train_one_epoch_amp,
)
from lesson_code.models import MNISTClassifier


# --8<-- [start:time_training]
def time_training(
    device: torch.device, train_loader: Iterable[Batch], epochs: int = 3
) -> tuple[float, list[float]]:
    """Seconds of ``epochs`` epochs on ``device``, and the loss of each."""
    torch.manual_seed(42)  # the same weights in every run that is compared
    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    images, labels = next(iter(train_loader))  # one throw-away batch: the warm-up
    criterion(model(images.to(device)), labels.to(device)).backward()

    synchronize(device)
    start = time.perf_counter()
    losses = [
        train_one_epoch(model, train_loader, optimizer, criterion, device) for _ in range(epochs)
    ]
    synchronize(device)
    return time.perf_counter() - start, losses


# --8<-- [end:time_training]


# --8<-- [start:loader_seconds]
def loader_seconds(train_loader: Iterable[Batch]) -> float:
    """Seconds of one pass over the loader with no model: what a faster GPU does not shorten."""
    start = time.perf_counter()
    for _ in train_loader:
        pass
    return time.perf_counter() - start


# --8<-- [end:loader_seconds]


# --8<-- [start:carry_across]
def carry_across(path: str, train_loader: Iterable[Batch], test_loader: Iterable[Batch]) -> bool:
    """Train here, load on the CPU, and say whether both models give the same answers."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)  # torch.save makes no folder
    here, there = choose_device(), torch.device("cpu")
    model = MNISTClassifier()
    model.to(here)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(5):
        loss = train_one_epoch(model, train_loader, optimizer, nn.CrossEntropyLoss(), here)
    save_checkpoint(path, epoch, model, optimizer, loss)

    loaded, *_ = load_checkpoint(path, there)
    images, _ = next(iter(test_loader))
    model.eval()
    loaded.eval()
    with torch.no_grad():
        before, after = model(images.to(here)).cpu(), loaded(images)
    close = torch.allclose(before, after, atol=1e-4, rtol=1e-4)
    return close and torch.equal(before.argmax(dim=1), after.argmax(dim=1))


# --8<-- [end:carry_across]


# --8<-- [start:compare_precisions]
def compare_precisions(
    train_loader: Callable[[], Iterable[Batch]],
    validation_loader: Iterable[Batch],
    epochs: int = 3,
) -> dict[str, tuple[float, float]]:
    """Seconds and accuracy of a float32 run and a mixed one; ``train_loader`` makes the loader.

    A fresh loader with its own seeded generator gives both runs the same batches.
    """
    device = choose_device()
    results = {}
    mixed = torch.float16 if device.type == "cuda" else None
    for name, amp_dtype in (("float32", None), ("mixed", mixed)):
        throw_away = [next(iter(train_loader()))]  # one batch: the warm-up of each run
        for batches, passes in ((throw_away, 1), (train_loader(), epochs)):
            torch.manual_seed(42)
            model = MNISTClassifier()
            model.to(device)
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
            scaler = torch.amp.GradScaler(device.type, enabled=amp_dtype is not None)
            criterion = nn.CrossEntropyLoss()
            synchronize(device)
            start = time.perf_counter()
            for _ in range(passes):
                train_one_epoch_amp(model, batches, optimizer, criterion, device, amp_dtype, scaler)
            synchronize(device)
            seconds = time.perf_counter() - start
        results[name] = (seconds, evaluate(model, validation_loader, device)[1])
    return results


# --8<-- [end:compare_precisions]
