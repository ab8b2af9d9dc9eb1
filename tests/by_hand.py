"""Gradient descent that is written out, to compare a training loop with."""

from collections.abc import Iterable

import torch
from torch import nn


def descend(
    model: nn.Module, batches: Iterable[tuple[torch.Tensor, torch.Tensor]], rate: float
) -> None:
    """One plain update for each batch, from gradients that nothing was added to.

    Args:
        model: What is changed, in the mode that it has.
        batches: Inputs (B, ...) and class indices (B,), on the model's device.
        rate: By which the gradient of the mean cross-entropy is multiplied.
    """
    for inputs, labels in batches:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter -= rate * gradient
