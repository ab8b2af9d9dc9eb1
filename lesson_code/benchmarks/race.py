"""The training step that the race in the page runs, and the models of other widths that it trains.

The step is the body of the lesson's loop as a function: the same four lines, which a test compares.
"""

import torch
from torch import nn

from lesson_code.models import MNISTClassifier


# --8<-- [start:step]
def train_step(
    model: nn.Module,
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: torch.Tensor,
    labels: torch.Tensor,
) -> torch.Tensor:
    """Train on one batch and return its loss from before the update."""
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss


# --8<-- [end:step]


# --8<-- [start:models]
# Of the models that race, the narrowest first; the second is the lesson's own.
HIDDEN_WIDTHS = ((64, 32), (256, 128), (1024, 512), (2048, 1024))


def classifier(first: int, second: int) -> MNISTClassifier:
    """The lesson's classifier with hidden layers of other widths, at random weights."""
    model = MNISTClassifier()
    model.fc1 = nn.Linear(784, first)
    model.fc2 = nn.Linear(first, second)
    model.fc3 = nn.Linear(second, 10)
    return model


# --8<-- [end:models]
