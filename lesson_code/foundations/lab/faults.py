"""The seven faults that `train_mnist.py --inject` plants, to see whether your checks catch them.

This file is complete. Your script calls it at the places that its docstrings name.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
from torch import nn

FAULTS = (
    "nonfinite-input",
    "nonfinite-loss",
    "labels",
    "empty-optimizer",
    "partial-optimizer",
    "unwritable",
    "collapse",
)
FAULTY_BATCH = 5
FAULTY_VALIDATION = 2

Batch = tuple[torch.Tensor, torch.Tensor]


class FaultyLoader:
    """The training loader, wrapped: at batch 5 it spoils what the fault says.

    Put it around the loader before training; without a fault it changes nothing.
    """

    def __init__(self, loader: Iterable[Batch], fault: str | None, model: nn.Module) -> None:
        self.loader = loader
        self.fault = fault
        self.model = model

    def __iter__(self) -> Iterator[Batch]:
        """The loader's batches."""
        for number, (features, labels) in enumerate(self.loader, start=1):
            if number == FAULTY_BATCH and self.fault == "nonfinite-input":
                features = features * float("inf")
            if number == FAULTY_BATCH and self.fault == "labels":
                labels = labels + 1
            if number == FAULTY_BATCH and self.fault == "nonfinite-loss":
                with torch.no_grad():
                    next(self.model.parameters()).fill_(float("nan"))
            yield features, labels


class Unregistered(nn.Module):
    """A model whose layers nobody registers."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.layers = [model]

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Answer like the model inside."""
        answer: torch.Tensor = self.layers[0](features)
        return answer


def faulty_model(model: nn.Module, fault: str | None) -> nn.Module:
    """Call it on the model before you build the optimizer."""
    return Unregistered(model) if fault == "empty-optimizer" else model


def faulty_optimizer(
    optimizer: torch.optim.Optimizer, model: nn.Module, fault: str | None
) -> torch.optim.Optimizer:
    """Call it on the optimizer before you check it."""
    if fault != "partial-optimizer":
        return optimizer
    return torch.optim.SGD([next(model.parameters())], lr=0.1)


def faulty_path(path: Path, fault: str | None) -> Path:
    """Call it on the checkpoint's path before you check that."""
    if fault != "unwritable":
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_name("a-regular-file")
    file.write_text("nothing can lie below a file\n", encoding="utf-8")
    return file / path.name


def before_validation(model: nn.Module, epoch: int, fault: str | None) -> None:
    """Call it before each validation; epochs count from 1."""
    if fault == "collapse" and epoch == FAULTY_VALIDATION:
        layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
        layers[-1].reset_parameters()
