"""The fullest moment of a step, by where the loop clears the gradients and by how Adam updates.

Counted on fake tensors, as in ``training_memory``. MB are 10**6 bytes.
"""

from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy
from torchvision.models import resnet50

from lesson_code.lab.peak_memory import PeakMemory, peak_memory
from lesson_code.lab.training_memory import (
    MEGABYTE,
    OPTIMIZERS,
    WORKED_BATCH,
    batch_of,
    fill_state,
    step_memory,
)

CLEARED = ("before forward", "between forward and backward", "not yet: another micro-batch")
LAYERS, WIDTH, FEW = 12, 2048, 8
UPDATES: dict[str, dict[str, bool]] = {
    "foreach=True, the default on a GPU": {"foreach": True},
    "foreach=False": {"foreach": False},
    "fused=True": {"fused": True},
}


def peak_of_loop(cleared: str) -> PeakMemory:
    """The fullest moment of a step of ResNet-50 with Adam, in a loop that has run before.

    Args:
        cleared: One of ``CLEARED``; where the gradients of the backward pass before are let go.
    """
    with FakeTensorMode():
        model = resnet50()
        images, labels = batch_of(WORKED_BATCH)
        updates = OPTIMIZERS["Adam"](list(model.parameters()))
        fill_state(updates, model)
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)  # as the backward pass before left them
        before, between, _ = CLEARED

        def step() -> None:
            if cleared == before:
                updates.zero_grad()
            loss = cross_entropy(model(images), labels)
            if cleared == between:
                updates.zero_grad()
            loss.backward()
            updates.step()

        return peak_memory(step, model, updates, images, labels)


def sum_of_parts() -> int:
    """Weights, gradients, Adam's state, buffers, batch, and all that is saved for backward."""
    step = step_memory(WORKED_BATCH, optimizer="Adam")
    peak = step.peak
    return 2 * peak.parameters + peak.optimizer + peak.buffers + peak.inputs + step.saved


def print_loops() -> dict[str, int]:
    """Print the peak of each loop, and the sum of the parts.

    Returns:
        The bytes of each.
    """
    found = {cleared: peak_of_loop(cleared).total for cleared in CLEARED}
    found["sum of the parts"] = sum_of_parts()
    print("ResNet-50, batch 32, float32, Adam")
    print(f"{'gradients are cleared':32}{'peak, MB':>10}")
    for name, size in found.items():
        print(f"{name:32}{size / MEGABYTE:>10,.1f}")
    return found


def peak_of_update(**how: Any) -> float:
    """Bytes a parameter at the fullest moment, for twelve equal layers and eight examples."""
    with FakeTensorMode():
        layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)]
        model = nn.Sequential(*layers)
        updates = torch.optim.Adam(model.parameters(), **how)
        fill_state(updates, model)
        batch = torch.randn(FEW, WIDTH)

        def step() -> None:
            updates.zero_grad()
            model(batch).sum().backward()
            updates.step()

        return peak_memory(step, model, updates, batch).total / (LAYERS * WIDTH**2)


def print_updates() -> dict[str, float]:
    """Print what a large model with a small batch holds at most, in bytes a parameter."""
    print(f"{LAYERS} linear layers of {WIDTH:,} x {WIDTH:,}, batch {FEW}, float32, Adam")
    print(f"{'update':36}{'bytes a parameter':>18}")
    found = {name: peak_of_update(**how) for name, how in UPDATES.items()}
    for name, size in found.items():
        print(f"{name:36}{size:>18.1f}")
    return found
