"""CUDA's automatic mixed precision for tensors on PyTorch's spare kind of device.

PyTorch puts casts before an operation by the kind of device that its tensors are on. The spare
kind has none, so it is given CUDA's, from the lists in ``autocast.toml``.
"""

import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

SPARE = "privateuseone"
LISTS = Path(__file__).with_name("autocast.toml")
HALVES = (torch.float16, torch.bfloat16)
FUSED = {"softmax": torch._softmax, "log_softmax": torch._log_softmax}  # they convert themselves

Kernel = Callable[..., Any]


@contextmanager
def cuda_autocast(format: torch.dtype | None) -> Iterator[None]:
    """Holds while a forward pass runs in mixed precision; without a format it changes nothing."""
    if format is None:
        yield
        return
    casts = _Casts(format)
    lists: dict[str, list[str]] = tomllib.loads(LISTS.read_text(encoding="utf-8"))
    with (
        torch.library._scoped_library("aten", "IMPL") as listed,
        torch.library._scoped_library("_", "IMPL") as others,
    ):
        others.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
        for rule, names in lists.items():
            for operation in filter(None, map(_operation, names)):
                kernel = _below_autocast(getattr(casts, rule), operation)
                listed.impl(operation, kernel, "AutocastPrivateUse1")
        torch.set_autocast_enabled(SPARE, True)
        try:
            yield
        finally:
            torch.set_autocast_enabled(SPARE, False)
            casts.kept.clear()


class _Casts:
    """The four rules of the lists.

    Attributes:
        kept: The cast weights; each weight is cast once in a forward pass.
    """

    def __init__(self, format: torch.dtype) -> None:
        self.format = format
        self.kept: dict[torch.Tensor, torch.Tensor] = {}

    def narrow(self, operation: Kernel, args: Any, kwargs: Any) -> Any:
        """Inputs in the format of autocast."""
        args, kwargs = tree_map_only(torch.Tensor, self._narrowed, (args, kwargs))
        return operation(*args, **kwargs)

    def wide(self, operation: Kernel, args: Any, kwargs: Any) -> Any:
        """Inputs in float32."""
        args, kwargs = tree_map_only(torch.Tensor, _widened, (args, kwargs))
        return operation(*args, **kwargs)

    def widest(self, operation: Kernel, args: Any, kwargs: Any) -> Any:
        """All inputs in float32, if one of them is."""
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if any(tensor.dtype == torch.float32 for tensor in tensors):
            return self.wide(operation, args, kwargs)
        return operation(*args, **kwargs)

    def result_wide(self, operation: Any, args: Any, kwargs: Any) -> Any:
        """A result in float32; the operation converts its input on the way."""
        names = [argument.name for argument in operation._schema.arguments]
        given = dict(zip(names, args, strict=False)) | kwargs
        if given.get("dtype") is not None or not args[0].is_floating_point():
            return operation(*args, **kwargs)
        fused = FUSED.get(operation._overloadpacket.__name__)
        if fused and args[0].dtype == torch.float16:
            return fused(given["self"], given["dim"], True)
        return operation(**(given | {"dtype": torch.float32}))

    def _narrowed(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype not in (*HALVES, torch.float32):
            return tensor
        if not (tensor.is_leaf and tensor.requires_grad):
            return tensor.to(self.format)
        if tensor not in self.kept:
            self.kept[tensor] = tensor.to(self.format)
        return self.kept[tensor]


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.dtype in HALVES else tensor


def _operation(name: str) -> Any:
    """PyTorch's operation of that name; None if this PyTorch does not have it."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)


def _below_autocast(rule: Kernel, operation: Any) -> Kernel:
    """The kernel that applies ``rule`` and goes on without autocast."""
    autocast = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)  # type: ignore[attr-defined]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(autocast):
            return rule(operation, args, kwargs)

    return kernel
