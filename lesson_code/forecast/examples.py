"""Trainings for the forecast: each function gives a model, an optimizer, a loss and a batch."""

import torch
import torchvision
from torch import nn
from torch.nn import functional as F

from lesson_code.mission.gpt2 import GPT2, GPT2_SMALL
from lesson_code.models import MNISTClassifier

Batch = tuple[torch.Tensor, ...]


# --8<-- [start:mnist]
def mnist() -> tuple[nn.Module, torch.optim.Optimizer, nn.Module, Batch]:
    """The lesson's model, with Adam and a batch of 64 made-up digits."""
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batch = torch.randn(64, 1, 28, 28), torch.randint(10, (64,))
    return model, optimizer, nn.CrossEntropyLoss(), batch


# --8<-- [end:mnist]


def resnet50() -> tuple[nn.Module, torch.optim.Optimizer, nn.Module, Batch]:
    """ResNet-50, with momentum and a batch of 64 made-up photographs."""
    model = torchvision.models.resnet50()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batch = torch.randn(64, 3, 224, 224), torch.randint(1000, (64,))
    return model, optimizer, nn.CrossEntropyLoss(), batch


# --8<-- [start:gpt2]
def gpt2() -> tuple[nn.Module, torch.optim.Optimizer, nn.Module, Batch]:
    """GPT-2 small with fused attention, AdamW and a batch of 8 made-up texts of 1,024 tokens."""
    model = GPT2(GPT2_SMALL, recompute="selective")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(GPT2_SMALL.vocabulary, (8, GPT2_SMALL.context + 1))
    return model, optimizer, NextToken(), (tokens[:, :-1], tokens[:, 1:])


class NextToken(nn.Module):
    """Cross-entropy between scores (B, S, V) and the tokens that do come next (B, S)."""

    def forward(self, scores: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """The average over all tokens, a scalar."""
        return F.cross_entropy(scores.flatten(0, 1), tokens.flatten())


# --8<-- [end:gpt2]
