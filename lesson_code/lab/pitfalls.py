"""Pitfalls on one example: a model, a batch x with labels y, and a device that is not the CPU.

Shapes: B is the batch size; x is (B, 1, 28, 28), float32, and y (B,), int64.
"""

import traceback
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector
from torch.optim import Optimizer

from lesson_code.data import synthetic_digits
from lesson_code.lab.models import TinyCNN
from lesson_code.models import MNISTClassifier
from lesson_code.saved_tensors import SavedBytes

Pair = tuple[Tensor, Tensor]
Move = Callable[[Tensor, Tensor, torch.device], Pair]
Step = Callable[[Tensor, Optimizer, GradScaler], None]


# --8<-- [start:moves]
def not_moved(x: Tensor, y: Tensor, _device: torch.device) -> Pair:
    """Only the model was placed."""
    return x, y


def result_dropped(x: Tensor, y: Tensor, device: torch.device) -> Pair:
    """A tensor's ``to`` gives another tensor, and nobody takes it."""
    x.to(device)
    y.to(device)
    return x, y


def targets_forgotten(x: Tensor, y: Tensor, device: torch.device) -> Pair:
    """The model is content; the loss is not."""
    x = x.to(device)
    return x, y


def both_moved(x: Tensor, y: Tensor, device: torch.device) -> Pair:
    """Inputs and targets, under their own names."""
    x, y = x.to(device), y.to(device)
    return x, y


# --8<-- [end:moves]


# --8<-- [start:loss_of]
def loss_of(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The two lines of a step in which everything has to be in one place."""
    scores = model(x)
    return cross_entropy(scores, y)


# --8<-- [end:loss_of]


def line_that_fails(move: Move) -> str | None:
    """The line of ``loss_of`` that raises when the batch is moved this way; None if none does."""
    device = torch.device("cuda" if torch.cuda.is_available() else "meta")
    model = MNISTClassifier().to(device)
    x, y = move(torch.rand(64, 1, 28, 28), torch.randint(10, (64,)), device)
    try:
        loss_of(model, x, y)
    except RuntimeError as error:
        frames = traceback.extract_tb(error.__traceback__)
        return next(frame.line for frame in reversed(frames) if frame.name == "loss_of")
    return None


def print_mismatches() -> dict[str, str | None]:
    """Print at which line each way of moving a batch fails, on the GPU or the meta device."""
    found = {
        move.__name__: line_that_fails(move)
        for move in (not_moved, result_dropped, targets_forgotten, both_moved)
    }
    for name, line in found.items():
        print(f"{name}\n  {f'fails: {line}' if line else 'works'}")
    return found


def saved_bytes(batch: int, dtype: torch.dtype = torch.float32) -> int:
    """What the backward pass of a small convolutional network keeps of a batch, in bytes."""
    x, y, _, _ = synthetic_digits(batch, 1)
    torch.manual_seed(0)
    model = TinyCNN()
    meter = SavedBytes(model)
    with meter, torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
        loss = cross_entropy(model(x), y)
    assert loss.requires_grad  # it holds the graph until here
    return meter.total()


def print_levers() -> dict[str, int]:
    """Print what three of the levers leave of the memory that a batch of 128 needs."""
    found = {
        "128 images, float32": saved_bytes(128),
        "64 images, float32": saved_bytes(64),
        "128 images, bfloat16": saved_bytes(128, torch.bfloat16),
        "4 x 32, one update": saved_bytes(32),
    }
    print(f"{'':20}{'bytes kept':>13}")
    for lever, size in found.items():
        print(f"{lever:20}{size:>13,}")
    return found


# --8<-- [start:amp_steps]
def without_scaling(loss: Tensor, optimizer: Optimizer, scaler: GradScaler) -> None:
    """Wrong: the scaler divides by its factor what was never multiplied by it."""
    loss.backward()
    scaler.step(optimizer)
    scaler.update()


def past_the_scaler(loss: Tensor, optimizer: Optimizer, scaler: GradScaler) -> None:
    """Wrong: nobody divides the gradients."""
    scaler.scale(loss).backward()
    optimizer.step()


def through_the_scaler(loss: Tensor, optimizer: Optimizer, scaler: GradScaler) -> None:
    """Right: what is multiplied is divided, and the factor adapts."""
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


# --8<-- [end:amp_steps]


def gradient_after(step: Step | None, scaled_before: bool = True) -> Tensor:
    """The gradient with which a step was made, all parameters in one row.

    Args:
        step: How the step is made; None for float32 without a scaler.
        scaled_before: Whether the scaler has scaled a loss in an earlier step.

    Raises:
        AssertionError: If the scaler notices that it has never scaled a loss.
    """
    torch.manual_seed(0)
    model = MNISTClassifier()
    x, y, _, _ = synthetic_digits(64, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = GradScaler("cpu")
    if scaled_before:
        scaler.scale(torch.zeros(()))
    with torch.autocast("cpu", dtype=torch.float16, enabled=step is not None):
        loss = loss_of(model, x, y)
    if step is None:
        loss.backward()
    else:
        step(loss, optimizer, scaler)
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    return parameters_to_vector(gradients)


def print_amp_steps() -> dict[str, float]:
    """Print how long the gradient of each kind of step is, against the right one.

    Returns:
        That quotient, by the name of the step.
    """
    right = gradient_after(None).norm()
    found = {}
    print("gradient in the optimizer, right is 1")
    for step in (without_scaling, past_the_scaler, through_the_scaler):
        found[step.__name__] = (gradient_after(step).norm() / right).item()
        print(f"  {step.__name__:20}{found[step.__name__]:>14,.6f}")
    try:
        gradient_after(without_scaling, scaled_before=False)
    except AssertionError as error:
        print("without_scaling in the very first step:")
        print(f"  AssertionError: {str(error).partition('.')[0]}")
    return found


# --8<-- [start:channels_last]
def print_channels_last() -> None:
    """Lay a network and its images out for tensor cores, and compare."""
    torch.manual_seed(0)
    model, x = TinyCNN(), torch.rand(32, 1, 28, 28)
    scores = model(x)
    model = model.to(memory_format=torch.channels_last)
    x = x.to(memory_format=torch.channels_last)
    print("same scores:", torch.allclose(scores, model(x), atol=1e-6))


# --8<-- [end:channels_last]
