"""Watching code of a learner's at work, on a machine that may have no GPU.

On a CPU a forgotten ``.to(device)`` changes nothing that anybody could see in the result. So the
checks of the notebook watch instead: which tensors were moved before they were used, which type
the logits had, in which order scaler and optimizer were called.
"""

import contextlib
import io
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook

Batch = tuple[torch.Tensor, torch.Tensor]


# --8<-- [start:watched_loader]
class WatchedTensor(torch.Tensor):
    """A tensor of a batch that notes whether somebody computed with it before moving it."""

    moved: bool
    used: bool

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Note what is called, then call it on plain tensors."""
        name = func.__name__
        for tensor in (*args, *(kwargs or {}).values()):
            if isinstance(tensor, WatchedTensor):
                if name in ("to", "cuda"):
                    tensor.moved = True
                elif name not in ("__get__", "__len__", "size", "dim", "numel"):
                    tensor.used = True
        result = super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call]
        return result.as_subclass(torch.Tensor) if isinstance(result, WatchedTensor) else result


class WatchedLoader:
    """Deals out the same batches again and again, and keeps the tensors that it dealt out last."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = batches
        self.dealt: list[tuple[WatchedTensor, WatchedTensor]] = []

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        self.dealt = []
        for images, labels in self.batches:
            self.dealt.append((_watched(images), _watched(labels)))
            yield self.dealt[-1]


def _watched(tensor: torch.Tensor) -> WatchedTensor:
    watched = tensor.clone().as_subclass(WatchedTensor)
    watched.moved = watched.used = False
    return watched


# --8<-- [end:watched_loader]


# --8<-- [start:watch_training]
@dataclass
class Watched:
    """What happened while a piece of code trained.

    Attributes:
        events: In order, such as ``"logits float16 train 64"`` (type, mode and rows),
            ``"loss float32"``, ``"scaler scale"``, ``"backward"``.
        error: What stopped it, in one line; empty if nothing did.
        warnings: The library's warnings.
        result: What the code returned.
        asked_for_gpu: Whether it asked PyTorch if there is a GPU.
        moved_modules: The modules on which ``to`` or ``cuda`` was called.
        saved: The plain values in each dictionary that ``torch.save`` got.
    """

    events: list[str] = field(default_factory=list)
    error: str = ""
    warnings: list[str] = field(default_factory=list)
    result: Any = None
    asked_for_gpu: bool = False
    moved_modules: list[nn.Module] = field(default_factory=list)
    saved: list[dict[str, Any]] = field(default_factory=list)


def watch_training(code: Callable[[], Any], model_type: type[nn.Module]) -> Watched:
    """Run ``code`` in silence, and say what it did.

    Args:
        code: Trains a model of that type; may fail.
        model_type: Whose forward passes to note.
    """
    watched = Watched()

    def forward(module: nn.Module, _: Any, output: Any) -> None:
        if isinstance(module, model_type):
            mode = "train" if module.training else "eval"
            watched.events.append(f"logits {_dtype(output)} {mode} {len(output)}")
        elif isinstance(module, nn.CrossEntropyLoss):
            watched.events.append(f"loss {_dtype(output)}")

    def noting(owner: Any, name: str, event: Callable[..., str | None]) -> Any:
        original = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            happened = event(*args)
            if happened:
                watched.events.append(happened)
            return original(*args, **kwargs)

        return patch.object(owner, name, call)

    def asked(*_: Any) -> None:
        caller = sys._getframe(2).f_globals.get("__name__", "")
        if not caller.startswith("torch"):  # the optimizers ask, too
            watched.asked_for_gpu = True

    def moved(module: nn.Module, *_: Any) -> None:
        watched.moved_modules.append(module)

    def saved(what: Any, *_: Any) -> None:
        numbers = what.items() if isinstance(what, dict) else ()
        watched.saved.append({k: v for k, v in numbers if isinstance(v, int | float)})

    def backward(*_: Any) -> str:
        inside = torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
        return "backward inside autocast" if inside else "backward"

    def of_scaler(name: str) -> Callable[..., str | None]:
        return lambda scaler, *_: name if scaler.is_enabled() else None

    scaler = torch.amp.GradScaler
    hooks = [
        register_module_forward_hook(forward),
        register_optimizer_step_pre_hook(lambda *_: watched.events.append("optimizer step")),
    ]
    with contextlib.ExitStack() as stack:
        for hook in hooks:
            stack.callback(hook.remove)
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        for name in ("scale", "step", "update", "unscale_"):
            stack.enter_context(noting(scaler, name, of_scaler(f"scaler {name}".rstrip("_"))))
        stack.enter_context(noting(torch.Tensor, "backward", backward))
        stack.enter_context(noting(torch.cuda, "is_available", asked))
        for name in ("is_available", "current_accelerator"):
            stack.enter_context(noting(torch.accelerator, name, asked))
        stack.enter_context(noting(torch, "save", saved))
        stack.enter_context(noting(nn.Module, "to", moved))
        stack.enter_context(noting(nn.Module, "cuda", moved))
        try:
            watched.result = code()
        except Exception as problem:  # whatever a learner's code may raise
            watched.error = f"{type(problem).__name__}: {str(problem).strip().splitlines()[0]}"
    watched.warnings = [str(warning.message).splitlines()[0] for warning in caught]
    return watched


def _dtype(value: Any) -> str:
    return str(getattr(value, "dtype", "")).removeprefix("torch.")


# --8<-- [end:watch_training]
