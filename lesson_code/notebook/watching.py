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
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, TensorDataset

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


# --8<-- [start:watch_training]
@dataclass(frozen=True)
class Helper:
    """A gradient scaler or an autocast, as it was asked for: whatever PyTorch makes of it here."""

    device: str
    enabled: bool
    dtype: str


@dataclass
class Watched:
    """What happened while a piece of code trained.

    Attributes:
        events: In order, such as ``"logits float16 train 64"`` (type, mode and rows),
            ``"loss float32"``, ``"scaler scale"``, ``"backward scaled"``.
        error: What stopped it, in one line; empty if nothing did.
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
        saved: The place and the dictionary of each ``torch.save``, without tensors in it.
    """

    events: list[str] = field(default_factory=list)
    error: str = ""
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
    saved: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def watch_training(
    code: Callable[[], Any], model_type: type[nn.Module], pretend: bool = False
) -> Watched:
    """Run ``code`` in silence, and say what it did.

    Args:
        code: Trains a model of that type; may fail.
        model_type: Whose forward passes to note.
        pretend: Whether PyTorch tells the code that there is a GPU. It computes on the CPU.
    """
    seen = Watched()
    scaled: list[torch.Tensor] = []
    around: list[Helper] = []  # the autocasts that are open, as they were asked for
    under: list[Helper | None] = []  # the one around the last forward pass

    def forward(module: nn.Module, _: Any, output: Any) -> None:
        if isinstance(module, model_type):
            mode = "train" if module.training else "eval"
            seen.events.append(f"logits {_name(output.dtype)} {mode} {len(output)}")
            seen.devices.add(output.device.type)
            under[:] = [around[-1] if around else None]
        elif isinstance(module, nn.CrossEntropyLoss):
            seen.events.append(f"loss {_name(output.dtype)}")

    def noting(owner: Any, name: str, note: Callable[..., Any]) -> Any:
        original = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            note(*args, **kwargs)
            return original(*args, **kwargs)

        return patch.object(owner, name, call)

    def answering(name: str) -> Any:
        room, _, function = name.partition(".")
        original = getattr(getattr(torch, room), function)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not asked_by_learner(1):
                return original(*args, **kwargs)
            seen.asked_for_gpu |= name in ASKING
            return PRETENDED[name] if pretend else original(*args, **kwargs)

        return patch.object(getattr(torch, room), function, call)

    def making(kind: Any, note: Callable[[Helper], None]) -> Any:
        signature = inspect.signature(kind.__init__)

        def made(*args: Any, **kwargs: Any) -> None:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            asked = given.arguments
            device = str(asked.get("device", asked.get("device_type"))).partition(":")[0]
            helper = Helper(device, bool(asked["enabled"]), _name(asked.get("dtype")))
            args[0].asked_for = helper
            note(helper)

        return noting(kind, "__init__", made)

    def enter(autocast: Any) -> None:
        made_elsewhere = Helper(autocast.device, autocast._enabled, _name(autocast.fast_dtype))
        around.append(getattr(autocast, "asked_for", made_elsewhere))

    def moved(module: nn.Module, *args: Any, **kwargs: Any) -> None:
        if not pretend or names_gpu((*args, *kwargs.values())):
            seen.moved_modules.append(module)

    def moved_to_cuda(module: nn.Module, *_: Any, **__: Any) -> None:
        seen.moved_modules.append(module)

    def saving(obj: Any, f: Any = "", *_: Any, **__: Any) -> None:
        entries = obj.items() if isinstance(obj, dict) else ()
        plain = {k: v for k, v in entries if isinstance(v, int | float | str | None)}
        place = f if isinstance(f, str | Path) else getattr(f, "name", "")  # or an open file
        seen.saved.append((str(place), plain))

    def is_enabled(original: Any) -> Any:
        def call(scaler: Any) -> bool:  # without a GPU the real one is off
            asked_for = getattr(scaler, "asked_for", None)
            if pretend and asked_for is not None and asked_by_learner(1):
                return asked_for.enabled
            return original(scaler)

        return call

    def scale(original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            seen.events.append("scaler scale")
            scaled.append(original(*args, **kwargs))
            return scaled[-1]

        return call

    def backward(loss: torch.Tensor, *_: Any, **__: Any) -> None:
        seen.trained_under.extend(under)
        inside = torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
        of = " scaled" if any(_comes_from(loss, other) for other in scaled) else ""
        seen.events.append(f"backward{of}{' inside autocast' if inside else ''}")

    def event(what: str) -> Callable[..., None]:
        return lambda *_, **__: seen.events.append(what)

    def step(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        seen.events.append("optimizer step")
        seen.optimizers.append(optimizer)

    scaler, autocast = torch.amp.GradScaler, torch.amp.autocast
    gpu = PretendedGPU()
    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.callback(register_module_forward_hook(forward).remove)
        stack.callback(register_optimizer_step_pre_hook(step).remove)
        stack.enter_context(contextlib.redirect_stdout(printed))
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        for patched in (
            making(scaler, seen.scalers.append),
            making(autocast, lambda _: None),
            patch.object(scaler, "is_enabled", is_enabled(scaler.is_enabled)),
            noting(autocast, "__enter__", enter),
            noting(autocast, "__exit__", lambda *_: around.pop()),
            patch.object(scaler, "scale", scale(scaler.scale)),
            *(noting(scaler, name, event(f"scaler {name}")) for name in ("step", "update")),
            noting(torch.Tensor, "backward", backward),
            noting(torch, "save", saving),
            noting(nn.Module, "to", moved),
            noting(nn.Module, "cuda", moved_to_cuda),
            *map(answering, PRETENDED),
        ):
            stack.enter_context(patched)
        if pretend:
            stack.enter_context(gpu)
        try:
            seen.result = code()
        except Exception as problem:  # whatever a learner's code may raise
            seen.error = in_one_line(problem)
    seen.sent = gpu.sent
    seen.printed = printed.getvalue()
    about_amp = re.compile(r"\b(amp|autocast|device_type)\b", re.IGNORECASE)
    seen.warnings = [
        str(warning.message).splitlines()[0]
        for warning in caught
        if about_amp.search(str(warning.message))
        and not issubclass(warning.category, FutureWarning | DeprecationWarning)
    ]
    return seen


def in_one_line(error: Exception) -> str:
    """The error's type and the first line of what it says."""
    lines = str(error).strip().splitlines()
    said = "".join(c if c.isprintable() else " " for c in lines[0]) if lines else ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _comes_from(tensor: torch.Tensor, source: torch.Tensor) -> bool:
    """Whether it is that tensor, or was computed from it in a few steps."""
    node = tensor.grad_fn
    for _ in range(4):
        if node is None or node == source.grad_fn:
            return node is not None
        node = node.next_functions[0][0] if node.next_functions else None
    return False


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


# --8<-- [end:watch_training]
