"""The steps of the lesson that pages forecast: what each is, and the file that counts them.

``python -m benchmarks count`` writes ``results/steps.json``. Models are built without memory, on
PyTorch's device ``meta``, so that any size can be counted on any machine.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
import torchvision
from torch import nn

from benchmarks.cases import mixed_precision, step_sweep
from benchmarks.counted_rungs import rungs
from lesson_code.benchmarks.race import HIDDEN_WIDTHS, classifier
from lesson_code.forecast.counter import count_step
from lesson_code.forecast.examples import NextToken
from lesson_code.mission.choices import Recompute
from lesson_code.mission.gpt2 import GPT2, GPT2_SMALL
from lesson_code.models import MNISTClassifier, SmallResNet, TinyClassifier
from results.forecasts import CountedStep

MNIST_BATCHES = (16, 64, 256, 1024, 4096)
RESIDUAL_BATCHES = (64, 256, 1024)
RESNET_BATCHES = (32, 64, 128, 256)
GPT2_BATCHES = (4, 8, 16, 32)
HALVES = ("bfloat16", "float16")

OptimizerOf = Callable[..., torch.optim.Optimizer]
adam: OptimizerOf = partial(torch.optim.Adam, lr=1e-3)
momentum: OptimizerOf = partial(torch.optim.SGD, lr=0.01, momentum=0.9)


@dataclass(frozen=True)
class Recipe:
    """A step that pages forecast.

    Attributes:
        name: How figures call it.
        what: What it is, in words.
        model: Builds the model.
        inputs: Shape of a batch of inputs, the batch size first.
        optimizer: Makes an optimizer of parameters.
        loss: From the model's output and the targets.
        targets: Shape of a batch of targets, all whole numbers.
        tokens: Whether the inputs are whole numbers as well.
        formats: In which it is counted.
        channels_last: Whether the channels of a pixel lie side by side.
    """

    name: str
    what: str
    model: Callable[[], nn.Module]
    inputs: tuple[int, ...]
    optimizer: OptimizerOf = adam
    loss: Callable[[], nn.Module] = nn.CrossEntropyLoss
    targets: tuple[int, ...] = ()
    tokens: bool = False
    formats: tuple[str, ...] = ("float32", *HALVES)
    channels_last: bool = False

    def count(self, format: str) -> CountedStep:
        """Its counts in one format."""
        batch_size = self.inputs[0]
        with torch.device("meta"):
            model = self.model()
            inputs = torch.zeros(self.inputs, dtype=torch.int64 if self.tokens else torch.float32)
            targets = torch.zeros(self.targets or (batch_size,), dtype=torch.int64)
        optimizer = self.optimizer(model.parameters())
        step = count_step(
            model, optimizer, self.loss(), (inputs, targets), format, self.channels_last
        )
        return CountedStep(self.name, self.what, batch_size, step)


def recipes() -> Iterator[Recipe]:
    """Every step that pages may name."""
    for batch in MNIST_BATCHES:
        images = (batch, 1, 28, 28)
        yield Recipe(
            f"mnist_{batch}",
            f"the lesson's model and Adam, batches of {batch}",
            MNISTClassifier,
            images,
        )
        for hidden in HIDDEN_WIDTHS:
            yield Recipe(
                f"race_{hidden[0]}_{batch}",
                f"the lesson's model with hidden layers of {hidden[0]} and {hidden[1]}, "
                f"batches of {batch}",
                partial(classifier, *hidden),
                images,
                formats=("float32",),
            )
    for batch in RESIDUAL_BATCHES:
        yield Recipe(
            f"resnet_{batch}",
            f"the small residual network and Adam, batches of {batch}",
            SmallResNet,
            (batch, 1, 28, 28),
        )
    for width in step_sweep.WIDTHS:
        for batch in step_sweep.BATCH_SIZES:
            yield Recipe(
                f"sweep_{width}_{batch}",
                f"two hidden layers of {width} and Adam, batches of {batch}",
                partial(step_sweep.network, width),
                (batch, 784),
                formats=("float32",),
            )
    yield Recipe(
        "large_1024",
        "four hidden layers of 4,096 and Adam, batches of 1,024",
        mixed_precision.large_network,
        (mixed_precision.LARGE_BATCH, 784),
    )
    yield Recipe(
        "fused_64",
        "the lesson's model and Adam in one kernel, batches of 64",
        MNISTClassifier,
        (64, 1, 28, 28),
        optimizer=partial(adam, fused=True),
    )
    yield Recipe(
        "tiny_32", "the model of 500 parameters and Adam, batches of 32", TinyClassifier, (32, 26)
    )
    yield Recipe(
        "foundations_64",
        "the foundations' small network and AdamW with clipping, batches of 64",
        lambda: nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)),
        (64, 128),
        optimizer=ClippedAdamW,
    )
    yield from _photographs()
    yield from _texts()


def _photographs() -> Iterator[Recipe]:
    for batch in (8, 128):
        yield Recipe(
            f"resnet18_{batch}",
            f"ResNet-18 and momentum, batches of {batch} photographs",
            torchvision.models.resnet18,
            (batch, 3, 224, 224),
            momentum,
        )
    for batch in RESNET_BATCHES:
        for layout in ("", "_channels_last"):
            yield Recipe(
                f"resnet50_{batch}{layout}",
                f"ResNet-50 and momentum, batches of {batch} photographs"
                + (", channels last" if layout else ""),
                torchvision.models.resnet50,
                (batch, 3, 224, 224),
                momentum,
                channels_last=bool(layout),
            )


def _texts() -> Iterator[Recipe]:
    kept: dict[str, tuple[Recompute, str]] = {
        "": ("none", "everything kept"),
        "_selective": ("selective", "fused attention"),
        "_full": ("full", "every block computed again"),
    }
    for batch in GPT2_BATCHES:
        for suffix, (recompute, words) in kept.items():
            yield Recipe(
                f"gpt2_{batch}{suffix}",
                f"GPT-2 small and AdamW, batches of {batch} texts, {words}",
                partial(GPT2, GPT2_SMALL, recompute),
                (batch, GPT2_SMALL.context),
                partial(torch.optim.AdamW, fused=True),
                NextToken,
                targets=(batch, GPT2_SMALL.context),
                tokens=True,
                # of the other two, no page asks for float16
                formats=("float32", *HALVES)
                if recompute == "selective"
                else ("float32", "bfloat16"),
            )


class ClippedAdamW(torch.optim.AdamW):
    """AdamW that first clips the gradients, as the foundations' loop does."""

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update."""
        parameters = [p for group in self.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(parameters, max_norm=1.0)
        super().step(closure)


def count_all() -> list[CountedStep]:
    """Every step in every of its formats; some minutes of one core."""
    steps = [recipe.count(format) for recipe in recipes() for format in recipe.formats]
    return steps + [rung.count(format) for rung in rungs() for format in rung.formats]
