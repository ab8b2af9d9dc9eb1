"""Rungs of the speed ladder, counted: one turn of each loop as it is written, on all of MNIST.

A step of ``benchmarks/forecast_steps.py`` begins when its batch is there. A turn of a rung's loop
also picks its batch out of all images and adds its loss up, which a GPU has to be asked for too.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.data import Dataset

from lesson_code.benchmarks import speed_ladder
from lesson_code.benchmarks.speed_ladder import BATCH_SIZE, Data, Rung
from lesson_code.data import Sample
from lesson_code.forecast.counter import StepCounter, as_on_a_gpu, in_blocks, size_of, sums_of
from lesson_code.forecast.formula import Step
from lesson_code.forecast.shells import CUDA, META, Shell, like_a_gpu
from results.forecasts import MNIST_IMAGES, CountedStep


class _TurnOverError(Exception):
    """One turn is counted."""


@dataclass
class Turn:
    """Keeps what one turn adds to a counter: from the second update, when Adam has its state."""

    counter: StepCounter
    updates: int = 0
    weight_bytes: int = 0

    def before_an_update(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        """Called by PyTorch before each step of an optimizer."""
        as_on_a_gpu(optimizer)
        self.updates += 1
        self.counter.counting = self.updates == 2
        if self.updates == 3:
            weights = [weight for group in optimizer.param_groups for weight in group["params"]]
            self.weight_bytes = sum(in_blocks(size_of([weight])) for weight in weights)
            raise _TurnOverError


@dataclass(frozen=True)
class RungRecipe:
    """A rung whose turn pages forecast.

    Attributes:
        name: How figures call it.
        what: What it is, in words.
        rung: Sets the training up.
        formats: The one in which its products are computed.
    """

    name: str
    what: str
    rung: Rung
    formats: tuple[str, ...] = ("float32",)

    def count(self, format: str) -> CountedStep:
        """Its counts."""
        return CountedStep(self.name, self.what, BATCH_SIZE, count_turn(self.rung, format))


def rungs() -> Iterator[RungRecipe]:
    """Every rung that pages forecast: those that wait for no loader, and compile nothing."""
    loop = f"batches of {BATCH_SIZE} chosen on the card, and the loss added up there"
    model = "the lesson's model and Adam"
    yield RungRecipe("ladder_resident", f"{model}, {loop}", speed_ladder.resident)
    yield RungRecipe("ladder_fused", f"{model} with fused=True, {loop}", speed_ladder.fused)
    yield RungRecipe(
        "ladder_autocast",
        f"{model} with fused=True and autocast, {loop}",
        speed_ladder.autocast,
        ("bfloat16",),
    )


def count_turn(rung: Rung, format: str, counter: StepCounter | None = None) -> Step:
    """Count one turn of a rung's loop.

    Args:
        rung: Sets the training up on a GPU.
        format: In which it multiplies.
        counter: What counts, where somebody wants to know more than the sums.
    """
    counter = counter or StepCounter()
    images = counter.hold(Shell(torch.empty(MNIST_IMAGES, 1, 28, 28, device=META)))
    labels = counter.hold(Shell(torch.empty(MNIST_IMAGES, dtype=torch.int64, device=META)))
    turn = Turn(counter)
    hook = register_optimizer_step_pre_hook(turn.before_an_update)
    try:
        with like_a_gpu(), counter, _moved_as_shells():
            training = rung(Data(Dataset[Sample](), images, labels), CUDA)
            with suppress(_TurnOverError):
                training.epoch()
    finally:
        hook.remove()
    return sums_of(counter, format, turn.weight_bytes, channels_last=False)


@contextmanager
def _moved_as_shells() -> Iterator[None]:
    """Within, ``model.to(device)`` puts shells in the place of parameters, and not into them."""
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        yield
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(before)
