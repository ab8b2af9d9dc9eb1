"""A training of one's own, as the command forecasts it."""

# --8<-- [start:training]
from typing import Any

import torch
from torch import nn


def training() -> tuple[Any, ...]:
    """A model, its optimizer, a loss function, and a batch of made-up images."""
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.Conv2d(64, 128, 3, padding=1),
        nn.BatchNorm2d(128),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 10),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batch = torch.randn(128, 3, 32, 32), torch.randint(10, (128,))
    return model, optimizer, nn.CrossEntropyLoss(), batch


# --8<-- [end:training]


def print_forecast() -> None:
    """What the command prints of it."""
    from lesson_code.forecast.__main__ import main

    main(["lesson_code.forecast.own_model:training"])
