"""Small models of the lab; the digit classifier is ``lesson_code.models.MNISTClassifier``.

Shapes: B is the batch size.
"""

from typing import Literal

import torch
from torch import nn

Norm = Literal["none", "batch", "group"]


# --8<-- [start:tiny_cnn]
class TinyCNN(nn.Module):
    """Two convolutions for 28 x 28 images, with or without normalisation between.

    Args:
        norm: What follows each convolution: nothing, batch norm, or group norm in 4 groups.
    """

    def __init__(self, norm: Norm = "none") -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = _norm(norm, 16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.norm2 = _norm(norm, 32)
        self.head = nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.norm1(self.conv1(images)).relu()  # (B, 1, 28, 28) -> (B, 16, 28, 28)
        x = self.norm2(self.conv2(x)).relu()  # (B, 32, 14, 14)
        return self.head(x.mean((2, 3)))  # (B, 10)


def _norm(norm: Norm, channels: int) -> nn.Module:
    if norm == "batch":
        return nn.BatchNorm2d(channels)
    return nn.GroupNorm(4, channels) if norm == "group" else nn.Identity()


# --8<-- [end:tiny_cnn]


# --8<-- [start:residual_block]
class ResidualBlock(nn.Module):
    """An MLP beside a shortcut: x + narrow(dropout(activation(widen(x)))).

    Maps (B, width) to (B, width).

    Args:
        width: Of the input and the output; the hidden layer is four times as wide.
        dropout: The share of hidden values that training drops.
        norm: Whether a layer norm comes before the MLP.
        activation: ``nn.ReLU`` or ``nn.GELU``.
    """

    def __init__(
        self,
        width: int,
        dropout: float = 0.0,
        norm: bool = False,
        activation: type[nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width) if norm else nn.Identity()
        self.widen = nn.Linear(width, 4 * width)
        self.activation = activation()
        self.dropout = nn.Dropout(dropout)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.activation(self.widen(self.norm(x)))  # (B, 4 width)
        output: torch.Tensor = x + self.narrow(self.dropout(hidden))  # (B, width)
        return output


# --8<-- [end:residual_block]


class BlockStack(nn.Module):
    """Equal residual blocks, one after the other; ``blocks`` can be sliced into segments."""

    def __init__(
        self,
        depth: int,
        width: int,
        dropout: float = 0.0,
        norm: bool = False,
        activation: type[nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        self.blocks = nn.Sequential(
            *(ResidualBlock(width, dropout, norm, activation) for _ in range(depth))
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.blocks(x)  # (B, width) -> (B, width)
        return output
