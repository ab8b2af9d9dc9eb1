"""One training loop at four stages: loop_cpu, loop_gpu, loop_amp, loop_portable.

The files differ in the lines that the lesson is about and in nothing else.
A test counts them.
"""

from collections.abc import Iterable

import torch
from torch import nn

from lesson_code.devices import choose_amp_dtype
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
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    use_amp = device.type == "cuda"
    amp_dtype = choose_amp_dtype(device)
    use_scaler = use_amp and amp_dtype == torch.float16
    model = MNISTClassifier()
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    scaler = torch.amp.GradScaler(device.type, enabled=use_scaler)

    for epoch in range(epochs):
        model.train()
        total_loss, seen = 0.0, 0
        for images, labels in train_loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            with torch.amp.autocast(device.type, dtype=amp_dtype, enabled=use_amp):
                outputs = model(images)
                loss = criterion(outputs, labels)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            total_loss += loss.item() * len(labels)
            seen += len(labels)
        print(f"epoch {epoch + 1}: loss {total_loss / seen:.4f}")
        # --8<-- [end:loop]
        history.append(total_loss / seen)
    return history
