"""Mixed precision by hand: every chore that autocast and GradScaler take over.

Two copies of the model: the master weights in float32, which the optimizer changes, and a working
copy in float16, which does the matrix products.
"""

# mypy: disable-error-code="union-attr"
# To the type checker `.grad` may be None; after a backward pass it never is.

import copy

import torch
from torch import nn

from lesson_code.data import synthetic_digits
from lesson_code.devices import choose_device, one_thread
from lesson_code.gpu_training.float16_demonstration import (
    ARMS,
    BASE_RATE,
    BATCH_SIZE,
    CPU,
    EPOCHS,
    LOSS_SCALE,
    SHRUNK,
    train_arm,
)
from lesson_code.models import MNISTClassifier


# --8<-- [start:manual_step]
def manual_step(
    master: nn.Module,
    working: nn.Module,
    optimizer: torch.optim.Optimizer,
    criterion: nn.Module,
    images: torch.Tensor,
    labels: torch.Tensor,
    scale: float,
) -> tuple[float, bool]:
    """Train ``master``, in float32, with the help of ``working``, its copy in float16.

    Returns the loss, and whether the step was taken. Images are (B, 1, 28, 28), labels (B,).
    """
    outputs = working(images.half())  # cast the inputs
    loss = criterion(outputs.float(), labels)  # the loss in float32
    working.zero_grad()
    (loss * scale).backward()  # float16 gradients, `scale` times too large

    pairs = list(zip(master.parameters(), working.parameters(), strict=True))
    for weight, half in pairs:
        weight.grad = half.grad.float() / scale  # to float32 first, then back to true size
    finite = all(weight.grad.isfinite().all() for weight, _ in pairs)
    if finite:  # an infinity would ruin the weights: skip the step
        optimizer.step()
        with torch.no_grad():
            for weight, half in pairs:
                half.copy_(weight)  # round the new weights into the working copy
    return loss.item(), finite


# --8<-- [end:manual_step]


class ShrunkenLoss(nn.Module):
    """Cross-entropy times the factor of the float16 demonstration."""

    def forward(self, outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Give the loss: outputs (B, 10), labels (B,)."""
        return nn.functional.cross_entropy(outputs, labels) * SHRUNK


def train_by_hand(device: torch.device = CPU) -> list[float]:
    """Train in the setting of the float16 demonstration, with ``manual_step``.

    Returns:
        The average loss of each epoch, before the factor.
    """
    with one_thread():
        torch.manual_seed(42)
        master = MNISTClassifier().to(device)
        working = copy.deepcopy(master).half()
        optimizer = torch.optim.SGD(master.parameters(), lr=BASE_RATE / SHRUNK, momentum=0.9)
        criterion = ShrunkenLoss()
        images, labels = (part.to(device) for part in synthetic_digits()[:2])
        order = torch.Generator().manual_seed(1)
        losses = []
        for _ in range(EPOCHS):
            total_loss = 0.0
            for batch in torch.randperm(len(images), generator=order).split(BATCH_SIZE):
                loss, _ = manual_step(
                    master, working, optimizer, criterion, images[batch], labels[batch], LOSS_SCALE
                )
                total_loss += loss / SHRUNK * len(batch)
            losses.append(total_loss / len(images))
        return losses


def print_by_hand_and_automatic() -> dict[str, list[float]]:
    """Print the loss of each epoch by hand and with autocast and GradScaler.

    Returns:
        ``"by_hand"`` and ``"automatic"``: the average loss of each epoch.
    """
    device = choose_device()
    by_hand = train_by_hand(device)
    with one_thread():
        automatic = train_arm(ARMS["mixed_precision"], SHRUNK, device).loss
    print(f"{'epoch':>5}{'loss by hand':>16}{'autocast and GradScaler':>28}")
    for epoch, (hand, auto) in enumerate(zip(by_hand, automatic, strict=True), start=1):
        print(f"{epoch:>5}{hand:>16.4f}{auto:>28.4f}")
    return {"by_hand": by_hand, "automatic": automatic}
