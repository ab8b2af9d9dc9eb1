"""What ``.to(device)`` does to a tensor, and what it does to a model.

A tensor is copied: the copy has to be assigned. A model is changed in place.

A machine without a GPU has a second device as well: ``meta``, on which tensors have a shape and a
dtype but no values. It stands in for the GPU here, since only the place matters.
"""

import torch
from torch import nn

from lesson_code.models import MNISTClassifier


# --8<-- [start:move_a_tensor]
def move_a_tensor(device: torch.device) -> None:
    """Move a batch, once without an assignment and once with it."""
    images = torch.rand(64, 1, 28, 28)
    images.to(device)  # makes a copy over there, and nobody keeps it
    print(f"images.to(device)           images are on {images.device}")
    images = images.to(device)
    print(f"images = images.to(device)  images are on {images.device}")


# --8<-- [end:move_a_tensor]


# --8<-- [start:move_a_model]
def move_a_model(device: torch.device) -> None:
    """Move a model without an assignment: its parameters move all the same."""
    model = MNISTClassifier()
    returned = model.to(device)
    print(f"model.to(device)            fc1.weight is on {model.fc1.weight.device}")
    print(f"what the call returns       the same model: {returned is model}")


# --8<-- [end:move_a_model]


def places_after_moving(device: torch.device) -> dict[str, torch.device]:
    """Move a model, a loss function and a batch; one of the four moves is not assigned.

    Returns:
        Where each of them is afterwards.
    """
    model = MNISTClassifier()
    criterion = nn.CrossEntropyLoss(weight=torch.ones(10))
    images, labels = torch.zeros(64, 1, 28, 28), torch.zeros(64, dtype=torch.long)
    # --8<-- [start:place]
    model.to(device)
    criterion.to(device)
    images.to(device)
    labels = labels.to(device)
    # --8<-- [end:place]
    return {
        "model": model.fc1.weight.device,
        "criterion": criterion.get_buffer("weight").device,
        "images": images.device,
        "labels": labels.device,
    }


def print_move_a_tensor() -> None:
    """Print where a batch is after ``.to``, with and without an assignment."""
    move_a_tensor(_second_device())


def print_move_a_model() -> None:
    """Print where a model is after ``.to``."""
    move_a_model(_second_device())


def _second_device() -> torch.device:
    """A device other than the CPU, on every machine; says which one it is."""
    if torch.cuda.is_available():
        device = torch.device("cuda:0")
        print(f"device: {device}")
    else:
        device = torch.device("meta")
        print("device: meta (no GPU here; meta keeps shapes without values)")
    return device
