"""The training step that the cases about whole models share: the lesson's own, in any format.

Every step of a comparison begins with the same weights and sees the same batch, which lies on the
device beforehand. The loss is read in each step, as the lesson's loop reads it.
"""

import copy
import gc
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torchvision.models.resnet import Bottleneck, ResNet

from benchmarks.cases import SkipPartError
from benchmarks.method import (
    Arm,
    memory_before,
    peak_memory,
    unless_memory_lacks,
)
from lesson_code.devices import float32_products
from lesson_code.gpu_training.training import Batch, train_one_epoch_amp
from results.entry import Entry

SEED = 0
NOTHING_FITS = "no step of it fits in the memory of this GPU"
MOST_SKIPPED_STEPS = 16  # the scale starts at 2**16 and is halved

OptimizerOf = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
adam: OptimizerOf = partial(torch.optim.Adam, lr=1e-3)
sgd: OptimizerOf = partial(torch.optim.SGD, lr=0.01, momentum=0.9)


@dataclass(frozen=True)
class Format:
    """What a step computes its products in.

    Attributes:
        autocast: The format that autocast chooses; None for float32 throughout.
        tf32: Whether float32 products and convolutions may be done in TF32.
    """

    autocast: torch.dtype | None = None
    tf32: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What a result file says about it."""
        autocast = str(self.autocast).removeprefix("torch.") if self.autocast else "off"
        return {
            "autocast": autocast,
            "loss_scaling": self.autocast is torch.float16,
            "tf32": self.tf32,
        }


FORMATS = {
    "float32": Format(),
    "tf32": Format(tf32=True),
    "bfloat16": Format(torch.bfloat16),
    "float16": Format(torch.float16),
}


class InBfloat16(nn.Module):
    """A model under bfloat16 autocast alone: loss and scaler see float32."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The scores in float32, in which autocast would compute the loss as well."""
        with torch.amp.autocast(inputs.device.type, dtype=torch.bfloat16):
            scores: torch.Tensor = self.model(inputs)
        return scores.float()


class Training:
    """A model that is being trained, from the weights of ``template``, in one format.

    Attributes:
        model: The copy that learns; in float32, whatever the products are computed in.
        device: Where it lies.
    """

    def __init__(
        self,
        template: nn.Module,
        device: torch.device,
        format: Format = FORMATS["float32"],
        optimizer: OptimizerOf = sgd,
    ) -> None:
        self.model = copy.deepcopy(template).to(device)
        self.device = device
        self.format = format
        self.optimizer = optimizer(self.model.parameters())
        self.criterion = nn.CrossEntropyLoss()
        self.amp_dtype = torch.float16 if format.autocast is torch.float16 else None
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.amp_dtype is not None)
        in_bfloat16 = format.autocast is torch.bfloat16
        self._called = InBfloat16(self.model) if in_bfloat16 else self.model

    def epoch(self, batches: Iterable[Batch]) -> float:
        """Train on every batch once and return the average loss of a sample."""
        return train_one_epoch_amp(
            self._called,
            batches,
            self.optimizer,
            self.criterion,
            self.device,
            self.amp_dtype,
            self.scaler,
        )

    def switches(self) -> AbstractContextManager[None]:
        """Holds while it trains: whether TF32 may be used."""
        return float32_products(self.format.tf32)


class Step:
    """One step on one batch, again and again: what is timed and whose memory is read.

    Attributes:
        losses: Of the first two steps. They are the same however often the clock wants the step
            repeated, and the second one also shows the first step's gradients.
    """

    def __init__(self, training: Training, batch: Batch, settings: dict[str, Any]) -> None:
        inputs, labels = batch
        self.training = training
        self.batch = inputs.to(training.device), labels.to(training.device)
        self.settings = {**settings, "batch_size": len(labels), **training.format.settings}
        self.losses: list[float] = []

    def __call__(self) -> float:
        loss = self.step()
        if len(self.losses) < 2:
            self.losses.append(loss)
        return loss

    def step(self) -> float:
        """Forward, loss, backward, update; returns the loss."""
        return self.training.epoch([self.batch])

    def settle(self) -> None:
        """Make the first two steps, and more while the loss scale is so large that none counts."""
        scaler = self.training.scaler
        with self.training.switches():
            for _ in range(MOST_SKIPPED_STEPS):
                scale = scaler.get_scale()
                self()
                if len(self.losses) == 2 and scaler.get_scale() >= scale:
                    return

    def arm(self) -> Arm:
        """The step as something to time; its amount is samples."""
        return Arm(
            self,
            self.training.device,
            self.settings,
            SEED,
            amount=len(self.batch[1]),
            around=self.training.switches,
            outcome=lambda: {"first_loss": self.losses[0], "second_loss": self.losses[1]},
        )


def peaks_of(builds: Mapping[str, Callable[[], Step]]) -> dict[str, Entry]:
    """The peak memory of each step, in bytes, as ``<name>_peak``.

    Each is built and dropped again before the next one, so that it stands alone, and what was
    allocated before is not counted. A device that keeps no such count gives no entries; a step that
    does not fit in its memory gives none either.

    Raises:
        SkipPartError: If none fits.
    """
    peaks = {}
    gpu = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for name, build in builds.items():
        before = memory_before(gpu)  # nothing of the step before is held any more
        with unless_memory_lacks():
            peaks[f"{name}_peak"] = _peak(build(), before)
    if not peaks:
        raise SkipPartError(NOTHING_FITS)
    return {name: peak for name, peak in peaks.items() if peak}


def _peak(step: Step, before: int) -> Entry | None:
    step.settle()
    settings = {**step.settings, "counted_from": "what was allocated before the model was built"}
    with step.training.switches():
        return peak_memory(step, step.training.device, settings=settings, before=before)


def random_images(batch_size: int, size: int, classes: int = 1000) -> Batch:
    """Made-up images (B, 3, size, size) float32 and labels (B,) int64, on the CPU.

    Random, never zeros: zeros are faster to multiply, and nothing can be learned from them.
    """
    generator = torch.Generator().manual_seed(SEED)
    images = torch.randn(batch_size, 3, size, size, generator=generator)
    return images, torch.randint(classes, (batch_size,), generator=generator)


def arms_that_fit(builds: Mapping[str, Callable[[], Step]]) -> dict[str, Arm]:
    """Each step as something to time, without those that need more memory than the GPU has.

    The settings of the others say which were left out.

    Raises:
        SkipPartError: If none fits.
    """
    arms = {}
    left_out = []
    for name, build in builds.items():
        step = _settled(build)
        if step:
            arms[name] = step.arm()
        else:
            left_out.append(name)
            gc.collect()
            torch.cuda.empty_cache()
    if not arms:
        raise SkipPartError(NOTHING_FITS)
    for arm in arms.values():
        arm.settings.update({"does_not_fit": left_out} if left_out else {})
    return arms


def _settled(build: Callable[[], Step]) -> Step | None:
    """The step after its first runs; None, and nothing of it is held, if it does not fit."""
    with unless_memory_lacks():
        step = build()
        step.settle()
        return step
    return None


def resnet50(quick: bool = False) -> ResNet:
    """The ResNet-50 of torchvision with random weights; in a quick run a short and narrow one."""
    torch.manual_seed(SEED)
    if quick:
        return ResNet(Bottleneck, [1, 1, 1, 1], width_per_group=4)
    return ResNet(Bottleneck, [3, 4, 6, 3])
