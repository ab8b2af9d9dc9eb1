"""Trainings that tests forecast, right and wrong ones."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

BATCH = torch.zeros(4, 3), torch.zeros(4, dtype=torch.int64)


def _with(model: nn.Module, batch: Any = BATCH, loss: Any = None) -> Any:
    return model, torch.optim.SGD(model.parameters(), lr=0.1), loss or nn.CrossEntropyLoss(), batch


def good() -> Any:
    """Three numbers in, two out."""
    return _with(nn.Linear(3, 2))


def recurrent() -> Any:
    """A recurrent layer before a linear one."""

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.head = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 2)

        def forward(self, texts: torch.Tensor) -> torch.Tensor:
            return self.head(self.lstm(texts)[0][:, -1])

    return _with(Recurrent(), (torch.zeros(4, 6, 3), BATCH[1]))


def raises() -> Any:
    """Fails while it builds."""
    raise OSError("no such data set")


def three() -> Any:
    """Forgets the batch."""
    return good()[:3]


def a_class() -> Any:
    """Gives the class of a model."""
    return (nn.Linear, *good()[1:])


def unequal() -> Any:
    """More targets than inputs."""
    return _with(nn.Linear(3, 2), (BATCH[0], torch.zeros(5, dtype=torch.int64)))


def wrong_shape() -> Any:
    """A batch that the model does not take."""
    return _with(nn.Linear(7, 2))


def another_optimizer() -> Any:
    """An optimizer of another model."""
    return (*good()[:1], *good()[1:])


def many_losses() -> Any:
    """A loss for each sample."""
    return _with(nn.Linear(3, 2), loss=nn.CrossEntropyLoss(reduction="none"))


def reads() -> Any:
    """Decides by a value."""

    class Reads(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(inputs) if inputs.sum() > 0 else super().forward(2 * inputs)

    return _with(Reads(3, 2))


def compiled() -> Any:
    """A compiled model."""
    model, *others = good()
    return (torch.compile(model), *others)


NOT_A_FUNCTION = 3
MAKERS: dict[str, Callable[[], Any]] = {"good": good}
