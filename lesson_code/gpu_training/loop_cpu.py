"""One training loop at four stages: loop_cpu, loop_gpu, loop_amp, loop_portable.

The files differ in the lines that the lesson is about and in nothing else.
A test counts them.
"""

from collections.abc import Iterable

import torch
from torch import nn

from lesson_code.models import MNISTClassifier

Batch = tuple[torch.Tensor, torch.Tensor]


def train(train_loader: Iterable[Batch], epochs: int = 3) -> list[float]:
    """Train a fresh classifier and return the average loss of each epoch.

    Args:
        train_loader: Gives batches: images (B, 1, 28, 28) and labels (B,), on the CPU.
        epochs: How many times to go through all the batches.
    """
    history = []
    # --8<-- [start:loop]
    model = MNISTClassifier()
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
        # --8<-- [end:loop]
        history.append(total_loss / seen)
    return history
