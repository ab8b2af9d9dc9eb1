"""The models that several tracks share.

Shapes: B is the batch size.
"""

# --8<-- [start:mnist_classifier]
import torch
from torch import nn


class MNISTClassifier(nn.Module):
    """Three linear layers from 784 pixels to ten digit scores."""

    def __init__(self) -> None:
        super().__init__()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Linear(784, 256)
        self.fc2 = nn.Linear(256, 128)
        self.fc3 = nn.Linear(128, 10)
        self.relu = nn.ReLU()

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.flatten(images)  # (B, 1, 28, 28) -> (B, 784)
        x = self.relu(self.fc1(x))  # (B, 256)
        x = self.relu(self.fc2(x))  # (B, 128)
        return self.fc3(x)  # (B, 10), raw scores


# --8<-- [end:mnist_classifier]


# --8<-- [start:small_resnet]
class ResidualBlock(nn.Module):
    """Two convolutions, whose result is added to what came in."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.norm1(self.conv1(x)))
        return self.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class SmallResNet(nn.Module):
    """Three residual stages: the image shrinks, and its channels grow."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.Sequential(
            ResidualBlock(1, 32, stride=1),  # (B, 1, 28, 28) -> (B, 32, 28, 28)
            ResidualBlock(32, 64, stride=2),  # (B, 64, 14, 14)
            ResidualBlock(64, 128, stride=2),  # (B, 128, 7, 7)
        )
        self.scores = nn.Linear(128, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.stages(images).amax(dim=(2, 3))  # (B, 128), each channel's largest value
        return self.scores(x)  # (B, 10), raw scores


# --8<-- [end:small_resnet]


class TinyClassifier(nn.Module):
    """A two-layer model with exactly 500 parameters: 26 -> 16 -> 4.

    Small on purpose: it is the case in which a GPU has too little to do.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(26, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Scores of four classes.

        Args:
            features: (B, 26), float32.

        Returns:
            (B, 4), float32, raw scores.
        """
        scores: torch.Tensor = self.layers(features)
        return scores


def parameter_count(model: nn.Module) -> int:
    """Number of trainable values in ``model``."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
