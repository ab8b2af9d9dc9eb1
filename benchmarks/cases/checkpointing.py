"""Activation checkpointing on and off: what it saves in peak memory and what it costs in time.

ResNet-50, checkpointed stage by stage, and a small transformer, block by block, in float32 with
TF32 off, on a GPU. With checkpointing only the input of each stage is kept; the backward pass
computes the stage again. The losses of the first two steps are beside the times: they must agree.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from benchmarks.cases import Part, Plan
from benchmarks.cases._training_step import (
    SEED,
    Step,
    Training,
    arms_that_fit,
    peaks_of,
    random_images,
    resnet50,
)
from benchmarks.method import measure
from lesson_code.gpu_training.training import Batch
from results.cases import Family, names_of
from results.entry import Entry

IMAGES, PIXELS = 64, 224
SEQUENCES, TOKENS, WIDTH, BLOCKS = 16, 512, 512, 8
VOCABULARY, CLASSES = 1000, 10
MODELS = ("resnet50", "transformer")
ARMS = {"cuda_plain": False, "cuda_checkpointed": True}
TIMES = tuple(f"{model}.{arm}" for model in MODELS for arm in ARMS)
FAMILIES = tuple(
    Family(
        f"{{model}}.{arm}{what}",
        f"{words} {'that checkpoints activations' if checkpointed else 'that keeps all of them'}"
        ", {model}",
        {"model": MODELS},
        unit="megabytes" if what else "s",
        device="cuda",
    )
    for what, words in (
        ("", "a training step on the GPU"),
        ("_peak", "the most memory of a training step"),
    )
    for arm, checkpointed in ARMS.items()
)
ENTRIES = names_of(FAMILIES)


class Staged(nn.Module):
    """A model as a chain: a stem, stages that may be checkpointed, and a head."""

    def __init__(
        self, stem: nn.Module, stages: list[nn.Module], head: nn.Module, checkpointed: bool
    ) -> None:
        super().__init__()
        self.stem = stem
        self.stages = nn.ModuleList(stages)
        self.head = head
        self.checkpointed = checkpointed

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The scores; what the stages compute inside is kept only without checkpointing."""
        x = self.stem(inputs)
        for stage in self.stages:
            x = checkpoint(stage, x, use_reentrant=False) if self.checkpointed else stage(x)
        scores: torch.Tensor = self.head(x)
        return scores


class MeanOverTokens(nn.Module):
    """(B, tokens, width) -> (B, width)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One vector for each sequence."""
        return x.mean(dim=1)


def parts(plan: Plan) -> Iterator[Part]:
    """Time and then peak memory of each model; nothing without a GPU."""
    if plan.gpu is None:
        return
    for model in MODELS:
        yield Part(model, partial(_times, plan, plan.gpu, model), expected_s=6)
        yield Part(f"{model}.peak", partial(_peaks, plan, plan.gpu, model), expected_s=4)


def _times(plan: Plan, gpu: torch.device, model: str) -> dict[str, Entry]:
    return measure(arms_that_fit(_steps(plan, gpu, model)), plan.repetitions)


def _peaks(plan: Plan, gpu: torch.device, model: str) -> dict[str, Entry]:
    return peaks_of(_steps(plan, gpu, model))


def _steps(plan: Plan, gpu: torch.device, model: str) -> dict[str, partial[Step]]:
    """What builds a step with and without checkpointing, by the name of its entry."""
    setup = staged_resnet50 if model == "resnet50" else staged_transformer

    def build(checkpointed: bool) -> Step:
        template, batch = setup(checkpointed, plan.quick)
        settings = {
            "model": model,
            "checkpointed": checkpointed,
            "stages": len(template.stages),
            "input_shape": list(batch[0].shape[1:]),
            "optimizer": "SGD, lr 0.01, momentum 0.9",
        }
        step = Step(Training(template, gpu), batch, settings)
        torch.manual_seed(SEED)  # dropout draws from here on
        return step

    return {f"{model}.{arm}": partial(build, checkpointed) for arm, checkpointed in ARMS.items()}


def staged_resnet50(checkpointed: bool, quick: bool = False) -> tuple[Staged, Batch]:
    """ResNet-50 in its four stages, and a batch of made-up images."""
    whole = resnet50(quick)
    stem = nn.Sequential(whole.conv1, whole.bn1, whole.relu, whole.maxpool)
    stages: list[nn.Module] = [whole.layer1, whole.layer2, whole.layer3, whole.layer4]
    head = nn.Sequential(whole.avgpool, nn.Flatten(), whole.fc)
    batch = random_images(2, 32) if quick else random_images(IMAGES, PIXELS)
    return Staged(stem, stages, head, checkpointed), batch


def staged_transformer(checkpointed: bool, quick: bool = False) -> tuple[Staged, Batch]:
    """A transformer that classifies sequences, with dropout, and a batch of made-up ones."""
    torch.manual_seed(SEED)
    sequences, tokens, width = (2, 8, 32) if quick else (SEQUENCES, TOKENS, WIDTH)
    stages: list[nn.Module] = [
        nn.TransformerEncoderLayer(width, nhead=8, dim_feedforward=4 * width, batch_first=True)
        for _ in range(2 if quick else BLOCKS)
    ]
    head = nn.Sequential(MeanOverTokens(), nn.Linear(width, CLASSES))
    model = Staged(nn.Embedding(VOCABULARY, width), stages, head, checkpointed)
    return model, (
        torch.randint(VOCABULARY, (sequences, tokens)),
        torch.randint(CLASSES, (sequences,)),
    )
