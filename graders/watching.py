"""Watching code of a learner's at work, on a machine that may have no GPU.

On a CPU a forgotten ``.to(device)`` changes nothing that anybody could see in the result. So the
checks of the notebook watch instead: which tensors were moved before they were used, which type
the logits had, in which order scaler and optimizer were called. And they can pretend that there is
a GPU: then the code says where it would put things.
"""

import contextlib
import inspect
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, TensorDataset

from graders.checks import NotYetError

Batch = tuple[torch.Tensor, torch.Tensor]


# --8<-- [start:watched_loader]
class WatchedTensor(torch.Tensor):
    """A tensor of a batch that notes whether it was moved, and whether it met others before that.

    What is computed from it alone lies beside it, and shares its notes.
    """

    notes: set[str]

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Note what is called, then call it on plain tensors."""
        kwargs = kwargs or {}
        tensors = list(tensors_in((*args, *kwargs.values())))
        notes: set[str] = next((t.notes for t in tensors if isinstance(t, WatchedTensor)), set())
        moves = is_move(func, args, kwargs)
        others = any(not isinstance(tensor, WatchedTensor) and tensor.dim() for tensor in tensors)
        if moves or others:
            notes.add("moved" if moves else "used")
        result = super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call]
        if isinstance(result, WatchedTensor) and (moves or others):
            return result.as_subclass(torch.Tensor)
        for tensor in tensors_in((result,)):
            if isinstance(tensor, WatchedTensor):
                tensor.notes = notes
        return result


def tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """The tensors among values, and in lists and tuples among them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)


def is_move(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call brings a tensor to a device; ``to`` with a type alone does not."""
    if func.__name__ == "to":
        places = (*args[1:], kwargs.get("device"), kwargs.get("other"))
        return any(
            isinstance(place, str | torch.device | int | torch.Tensor)
            for place in places
            if not isinstance(place, bool)
        )
    return func.__name__ in ("cuda", "copy_")


class WatchedLoader(DataLoader[Any]):
    """Deals out the same batches again and again, and keeps the tensors that it dealt out last."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        """All batches have the first one's size; the last may be smaller."""
        images, labels = (torch.cat(part) for part in zip(*batches, strict=True))
        super().__init__(TensorDataset(images, labels), batch_size=len(batches[0][0]))
        self.dealt: list[list[WatchedTensor]] = []

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        self.dealt = []
        for batch in super().__iter__():
            self.dealt.append([watched(tensor, set()) for tensor in batch])
            yield list(self.dealt[-1])


def watched(tensor: torch.Tensor, notes: set[str]) -> WatchedTensor:
    """The same values, with notes taken of them from now on."""
    result = tensor.as_subclass(WatchedTensor)
    result.notes = notes
    return result


# --8<-- [end:watched_loader]


# --8<-- [start:pretended_gpu]
# What PyTorch answers to a learner's code while a GPU is pretended. The first five say whether
# there is one.
PRETENDED = {
    "cuda.is_available": True,
    "cuda.device_count": 1,
    "accelerator.is_available": True,
    "accelerator.device_count": 1,
    "accelerator.current_accelerator": torch.device("cuda"),
    "cuda.is_bf16_supported": True,
    "cuda.current_device": 0,
    "cuda.get_device_name": "a pretended GPU",
    "cuda.get_device_capability": (8, 0),
    "cuda.get_device_properties": SimpleNamespace(name="a pretended GPU", total_memory=10**10),
    "cuda.memory_allocated": 0,
    "cuda.max_memory_allocated": 0,
    "cuda.reset_peak_memory_stats": None,
    "cuda.empty_cache": None,
    "cuda.synchronize": None,
    "accelerator.synchronize": None,
}
ASKING = list(PRETENDED)[:5]


def asked_by_learner(depth: int) -> bool:
    """Whether the frame so far above is not PyTorch's: its optimizers look for a GPU, too."""
    return not sys._getframe(depth + 1).f_globals.get("__name__", "").startswith("torch")


class PretendedGPU(TorchFunctionMode):
    """A GPU on which tensors seem to lie: plain ones there, watched ones on the CPU.

    Attributes:
        sent: The names of the functions that were to put a tensor there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sent: set[str] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call it on the CPU, and say that it was the GPU."""
        kwargs = kwargs or {}
        tensor = args[0] if args else None
        if func is torch.device:
            return func(*args, **kwargs)
        if func == torch.Tensor.device.__get__ and not isinstance(tensor, WatchedTensor):
            return torch.device("cuda", 0) if asked_by_learner(1) else func(*args, **kwargs)
        if func.__name__ == "cuda":
            func, args, kwargs = torch.Tensor.to, (tensor, "cuda"), {}
        if names_gpu((*args, *kwargs.values())):
            self.sent.add(func.__name__)
            here = [torch.device("cpu") if names_gpu([arg]) else arg for arg in args]
            kwargs = {key: "cpu" if names_gpu([arg]) else arg for key, arg in kwargs.items()}
            return func(*here, **kwargs)
        to_cpu = func.__name__ == "cpu" or (func.__name__ == "to" and is_move(func, args, kwargs))
        if to_cpu and asked_by_learner(1):
            notes: set[str] = getattr(tensor, "notes", set())
            with torch._C.DisableTorchFunctionSubclass():
                return watched(func(*args, **kwargs), notes)
        return func(*args, **kwargs)


def names_gpu(values: Iterable[Any]) -> bool:
    """Whether one of them is the name of a CUDA device."""
    return any(
        isinstance(value, str | torch.device) and str(value).partition(":")[0] == "cuda"
        for value in values
    )


# --8<-- [end:pretended_gpu]


# --8<-- [start:watch]
@dataclass(frozen=True)
class Helper:
    """A gradient scaler or an autocast, as it was asked for: whatever PyTorch makes of it here."""

    device: str
    enabled: bool
    dtype: str


@dataclass(frozen=True)
class Saved:
    """What one ``torch.save`` was given.

    Attributes:
        place: The path, or the name of the open file.
        content: The object, with copies of its tensors.
        measured: The weights that the last forward pass in evaluation mode used.
        momenta: The state of the optimizer that took the last step; None if none did.
    """

    place: str
    content: Any
    measured: dict[str, torch.Tensor]
    momenta: dict[str, Any] | None


@dataclass
class Watch:
    """Runs a piece of code that trains, in silence, and notes what it does: one method an event.

    Attributes:
        model_type: Whose forward passes to note.
        pretend: Whether PyTorch tells the code that there is a GPU. It computes on the CPU.
        events: In order, such as ``"logits float16 train 64"`` (type, mode and rows),
            ``"loss float32"``, ``"scaler made"``, ``"scaler scale"``, ``"backward scaled"``.
        problem: What stopped the code; None if nothing did.
        printed: What it printed.
        warnings: The library's warnings about mixed precision.
        result: What the code returned.
        asked_for_gpu: Whether it asked PyTorch if there is a GPU.
        devices: The kinds of devices on which the logits lay.
        moved_modules: The modules on which ``to`` or ``cuda`` was called; while a GPU is
            pretended, only those that were to go there.
        sent: While a GPU is pretended, what was to put tensors there.
        scalers: The gradient scalers that were made.
        trained_under: For each backward pass, the autocast around its forward pass, if any.
        optimizers: Those that took a step.
        saved: What was given to each ``torch.save``.
        losses: The values that the criterion gave in training.
    """

    model_type: type[nn.Module]
    pretend: bool = False
    events: list[str] = field(default_factory=list)
    problem: Exception | None = None
    printed: str = ""
    warnings: list[str] = field(default_factory=list)
    result: Any = None
    asked_for_gpu: bool = False
    devices: set[str] = field(default_factory=set)
    moved_modules: list[nn.Module] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)
    scalers: list[Helper] = field(default_factory=list)
    trained_under: list[Helper | None] = field(default_factory=list)
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)
    saved: list[Saved] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    _scaled: list[torch.Tensor] = field(default_factory=list)
    _around: list[Helper] = field(default_factory=list)  # the autocasts that are open
    _under: Helper | None = None  # the one around the last forward pass
    _model: nn.Module | None = None  # the last that computed
    _measured: dict[str, torch.Tensor] = field(default_factory=dict)

    def run(self, code: Callable[[], Any]) -> Self:
        """Run it; what stops it is noted, too.

        Raises:
            NotYetError: If it comes to an empty blank.
        """
        gpu, printed = PretendedGPU(), io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.callback(register_module_forward_hook(self.on_forward).remove)
            stack.callback(register_optimizer_step_pre_hook(self.on_step).remove)
            stack.enter_context(contextlib.redirect_stdout(printed))
            caught = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always")
            for patched in self._patches():
                stack.enter_context(patched)
            if self.pretend:
                stack.enter_context(gpu)
            try:
                self.result = code()
            except NotYetError:
                raise
            except Exception as problem:  # whatever a learner's code may raise
                self.problem = problem
        self.sent, self.printed = gpu.sent, printed.getvalue()
        about_amp = re.compile(r"\b(amp|autocast|device_type)\b", re.IGNORECASE)
        self.warnings = [
            str(warning.message).splitlines()[0]
            for warning in caught
            if about_amp.search(str(warning.message))
            and not issubclass(warning.category, FutureWarning | DeprecationWarning)
        ]
        for warning in caught:  # an outdated name works; whoever judges gives advice
            if issubclass(warning.category, FutureWarning):
                warnings.warn(warning.message, stacklevel=2)
        return self

    def _patches(self) -> Iterator[Any]:
        scaler, autocast = torch.amp.GradScaler, torch.amp.autocast
        yield noting(scaler, "__init__", self.on_scaler)
        yield noting(autocast, "__init__", remember_request)
        yield noting(autocast, "__enter__", self.on_enter)
        yield noting(autocast, "__exit__", self.on_exit)
        yield noting(scaler, "step", self.on_scaler_step)
        yield noting(scaler, "update", self.on_update)
        yield noting(torch.Tensor, "backward", self.on_backward)
        yield noting(torch, "save", self.on_save)
        yield noting(nn.Module, "to", self.on_to)
        yield noting(nn.Module, "cuda", self.on_cuda)
        yield instead_of(scaler, "scale", self.on_scale)
        yield instead_of(scaler, "is_enabled", self.on_is_enabled)
        for name in PRETENDED:
            room, _, function = name.partition(".")
            yield instead_of(getattr(torch, room), function, self.answering(name))

    def answering(self, name: str) -> Callable[..., Any]:
        """What answers when PyTorch is asked about a GPU."""

        def on_asked(original: Any, *args: Any, **kwargs: Any) -> Any:
            if not asked_by_learner(2):
                return original(*args, **kwargs)
            self.asked_for_gpu |= name in ASKING
            return PRETENDED[name] if self.pretend else original(*args, **kwargs)

        return on_asked

    def on_forward(self, module: nn.Module, _: Any, output: Any) -> None:
        """The model, or the criterion, has computed."""
        if isinstance(module, self.model_type):
            mode = "train" if module.training else "eval"
            self.events.append(f"logits {name_of(output.dtype)} {mode} {len(output)}")
            self.devices.add(output.device.type)
            self._under = self._around[-1] if self._around else None
            self._model = module
            if not module.training:
                self._measured = copied(module.state_dict())
        elif isinstance(module, nn.CrossEntropyLoss):
            self.events.append(f"loss {name_of(output.dtype)}")
            if torch.is_grad_enabled() and output.dim() == 0:
                self.losses.append(float(output.detach()))

    def on_to(self, module: nn.Module, *args: Any, **kwargs: Any) -> None:
        """A module is told where to go."""
        if not self.pretend or names_gpu((*args, *kwargs.values())):
            self.moved_modules.append(module)

    def on_cuda(self, module: nn.Module, *_: Any, **__: Any) -> None:
        """A module is told to go to the GPU."""
        self.moved_modules.append(module)

    def on_scaler(self, scaler: Any, *args: Any, **kwargs: Any) -> None:
        """A gradient scaler is made."""
        remember_request(scaler, *args, **kwargs)
        self.scalers.append(scaler.asked_for)
        self.events.append("scaler made")

    def on_is_enabled(self, original: Any, scaler: Any) -> bool:
        """A scaler is asked whether it is on; without a GPU the real one is off."""
        asked_for = getattr(scaler, "asked_for", None)
        if self.pretend and asked_for is not None and asked_by_learner(2):
            return bool(asked_for.enabled)
        return bool(original(scaler))

    def on_scale(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """A scaler scales a loss."""
        self.events.append("scaler scale")
        self._scaled.append(original(*args, **kwargs))
        return self._scaled[-1]

    def on_scaler_step(self, *_: Any, **__: Any) -> None:
        """A scaler is to take the optimizer's step."""
        self.events.append("scaler step")

    def on_update(self, *_: Any, **__: Any) -> None:
        """A scaler is to update its factor."""
        self.events.append("scaler update")

    def on_enter(self, autocast: Any) -> None:
        """An autocast opens."""
        made_elsewhere = Helper(autocast.device, autocast._enabled, name_of(autocast.fast_dtype))
        self._around.append(getattr(autocast, "asked_for", made_elsewhere))

    def on_exit(self, *_: Any) -> None:
        """An autocast ends."""
        self._around.pop()

    def on_backward(self, loss: torch.Tensor, *_: Any, **__: Any) -> None:
        """Gradients are about to be computed."""
        self.trained_under.append(self._under)
        said = "backward"
        if any(comes_from(loss, other) for other in self._scaled):
            said += " scaled"
        if any(autocast.enabled for autocast in self._around):
            said += " inside autocast"
        if self._model is not None and any(
            p.grad is not None and bool(p.grad.any()) for p in self._model.parameters()
        ):
            said += " on old gradients"
        self.events.append(said)

    def on_step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        """An optimizer is about to take its step."""
        self.events.append("optimizer step")
        self.optimizers.append(optimizer)

    def on_save(self, obj: Any, f: Any = "", *_: Any, **__: Any) -> None:
        """Something is about to be saved."""
        place = f if isinstance(f, str | Path) else getattr(f, "name", "")  # or an open file
        momenta = copied(self.optimizers[-1].state_dict()) if self.optimizers else None
        self.saved.append(Saved(str(place), copied(obj), self._measured, momenta))


def instead_of(owner: Any, name: str, call: Callable[..., Any]) -> Any:
    """A patch with which ``call`` gets the original, then what that was to get."""
    original = getattr(owner, name)
    return patch.object(owner, name, lambda *args, **kwargs: call(original, *args, **kwargs))


def noting(owner: Any, name: str, note: Callable[..., Any]) -> Any:
    """A patch with which ``note`` gets the same as the original, just before it."""

    def call(original: Any, *args: Any, **kwargs: Any) -> Any:
        note(*args, **kwargs)
        return original(*args, **kwargs)

    return instead_of(owner, name, call)


def remember_request(helper: Any, *args: Any, **kwargs: Any) -> None:
    """Write on a scaler or an autocast what it was asked for; PyTorch may make less of it."""
    kind = torch.amp.GradScaler if isinstance(helper, torch.amp.GradScaler) else torch.amp.autocast
    given = SIGNATURES[kind].bind(helper, *args, **kwargs)
    given.apply_defaults()
    asked = given.arguments
    device = str(asked.get("device", asked.get("device_type"))).partition(":")[0]
    helper.asked_for = Helper(device, bool(asked["enabled"]), name_of(asked.get("dtype")))


SIGNATURES: dict[Any, inspect.Signature] = {
    kind: inspect.signature(kind.__init__) for kind in (torch.amp.GradScaler, torch.amp.autocast)
}


def copied(value: Any) -> Any:
    """The same with copies of all tensors in dictionaries, lists and tuples."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value


def comes_from(tensor: torch.Tensor, source: torch.Tensor) -> bool:
    """Whether it is that tensor, or was computed from it in a few steps."""
    node = tensor.grad_fn
    for _ in range(4):
        if node is None or node == source.grad_fn:
            return node is not None
        node = node.next_functions[0][0] if node.next_functions else None
    return False


def name_of(dtype: Any) -> str:
    """Such as ``float16``."""
    return str(dtype).removeprefix("torch.")


# --8<-- [end:watch]
