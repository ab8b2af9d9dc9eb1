"""A learner's own training: the function that builds it, found by name and checked."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import ModuleType
from typing import Any

import torch
from torch import nn

from lesson_code.forecast.counter import count_step
from lesson_code.forecast.formula import Step
from lesson_code.forecast.refusal import RefusedError
from lesson_code.forecast.shells import ReadsValuesError

EXAMPLE = "lesson_code.forecast.examples:mnist"
WANTED = "a model, an optimizer, a loss function and a batch"


@dataclass(frozen=True)
class Training:
    """What a learner's function returns.

    Attributes:
        model: What learns.
        optimizer: Of its parameters.
        loss_function: Called with the model's output and the targets.
        batch: The model's inputs and, last, the targets; the first side of each is the batch size.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss_function: Callable[..., torch.Tensor]
    batch: tuple[torch.Tensor, ...]

    @property
    def batch_size(self) -> int:
        """Samples in the batch that the function made."""
        return len(self.batch[0])

    @property
    def has_recurrent_layers(self) -> bool:
        """Whether it has layers for which a GPU has kernels that are not counted here."""
        return any(isinstance(module, nn.RNNBase) for module in self.model.modules())

    def of_size(self, size: int) -> tuple[torch.Tensor, ...]:
        """A batch of ``size`` samples: the ones that are there, again and again."""
        return tuple(t[torch.arange(size, device=t.device) % len(t)] for t in self.batch)


def builder(target: str) -> Callable[[], Training]:
    """What builds the training that ``MODULE:FUNCTION`` names, anew with each call.

    Raises:
        RefusedError: If there is no such function; the builder raises it if the function fails or
            returns something else.
    """
    name, _, attribute = target.partition(":")
    if not name or not attribute:
        raise RefusedError(f"{target!r} is not MODULE:FUNCTION; write it like {EXAMPLE}")
    module = _module(name)
    function = getattr(module, attribute, None)
    if not callable(function):
        near = get_close_matches(attribute, [n for n in vars(module) if callable(vars(module)[n])])
        known = f"; there is {', '.join(near)}" if near else ""
        raise RefusedError(f"{name} has no function {attribute!r}{known}")

    def build() -> Training:
        try:
            returned = function()
        except Exception as problem:
            raise RefusedError(
                f"{target} fails, {said(problem)}; it must build a training without arguments"
            ) from problem
        return _checked(target, returned)

    return build


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if not f"{name}.".startswith(f"{problem.name}."):
            raise RefusedError(f"{name} needs {problem.name!r}, which is not installed") from None
        raise RefusedError(
            f"there is no module {name!r} here; call the command in the folder of its file, "
            "and leave out the .py"
        ) from None
    except Exception as problem:
        raise RefusedError(f"{name} can't be imported, {said(problem)}") from problem


def _checked(target: str, returned: object) -> Training:
    """The training, if what a function returned is one."""
    kinds: tuple[Any, ...] = (nn.Module, torch.optim.Optimizer, Callable, Sequence)
    if not isinstance(returned, tuple | list) or len(returned) != len(kinds):
        kind = type(returned).__name__
        raise RefusedError(f"{target} returns {kind} and not four things: {WANTED}")
    words = WANTED.replace(" and ", ", ").split(", ")
    for value, kind, word in zip(returned, kinds, words, strict=True):
        if not isinstance(value, kind):
            is_class = ", a class and not an object of it" if isinstance(value, type) else ""
            raise RefusedError(
                f"{target} returns {type(value).__name__}{is_class} in the place of {word}"
            )
    model, optimizer, loss_function, batch = returned
    if not all(isinstance(tensor, torch.Tensor) and tensor.dim() for tensor in batch):
        raise RefusedError(f"{target} has a batch that is not a tuple of tensors with a batch side")
    sizes = [len(tensor) for tensor in batch]
    if len(sizes) < 2 or len(set(sizes)) > 1 or not sizes[0]:
        raise RefusedError(
            f"{target} has a batch of {', '.join(map(str, sizes)) or 'no'} samples; inputs and "
            "targets must be as many, and at least one"
        )
    learning = {id(parameter) for parameter in model.parameters()}
    updated = [p for group in optimizer.param_groups for p in group["params"]]
    if not all(id(parameter) in learning for parameter in updated):
        raise RefusedError(f"{target} has an optimizer of tensors that are not its model's")
    if hasattr(model, "_orig_mod"):
        raise RefusedError(f"{target} compiles its model, and only what is not can be counted")
    return Training(model, optimizer, loss_function, tuple(batch))


def count(
    build: Callable[[], Training], size: int, format: str = "float32", channels_last: bool = False
) -> Step:
    """What a training's step is made of.

    Args:
        build: Makes the training.
        size: Samples of a batch.
        format: One of ``cards.FORMATS``; TF32's operations are those of float32.
        channels_last: Whether the channels of a pixel lie side by side.

    Raises:
        RefusedError: If the step fails, or reads a value.
    """
    training = build()
    batch = [t.new_empty((size, *t.shape[1:]), device="meta") for t in training.batch]
    parts = training.model, training.optimizer, training.loss_function
    try:
        return count_step(*parts, batch, format, channels_last)
    except ReadsValuesError as problem:
        raise RefusedError(
            f"{problem}, and counts are made without values; let nothing depend on them"
        ) from problem
    except Exception as problem:
        raise RefusedError(
            f"the step fails with a batch of {size}, {said(problem)}; try it on a CPU first"
        ) from problem


def said(problem: BaseException) -> str:
    """The kind of a problem and the first line of what it says."""
    line = str(problem).strip().partition("\n")[0].rstrip(".")
    return f"{type(problem).__name__}: {line}" if line else type(problem).__name__
