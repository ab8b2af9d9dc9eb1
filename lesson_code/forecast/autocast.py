"""CUDA's automatic mixed precision for tensors without values.

PyTorch puts casts before the operations that CUDA's lists name, but only for tensors that really
are on a GPU. Here the same casts are put before them for all tensors that count as a GPU's.
"""

import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

LISTS = Path(__file__).with_name("autocast.toml")
HALVES = (torch.float16, torch.bfloat16)
CAST = (*HALVES, torch.float32)  # the formats that autocast changes; float64 is not among them
FUSED = {"softmax": torch._softmax, "log_softmax": torch._log_softmax}  # they convert themselves

Kernel = Callable[..., Any]


@contextmanager
def autocast_without_gpu() -> Iterator[None]:
    """Within, ``torch.autocast("cuda")`` does to shells what it does to a GPU's tensors."""
    casts = _Casts()
    lists: dict[str, list[str]] = tomllib.loads(LISTS.read_text(encoding="utf-8"))
    with (
        torch.library._scoped_library("aten", "IMPL") as library,
        patch("torch.cuda.amp.common.amp_definitely_not_available", return_value=False),
        patch("torch.cuda.is_bf16_supported", return_value=True),
        patch("torch.clear_autocast_cache", casts.kept.clear),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "Warning only once for all operators", UserWarning)
        for rule, names in lists.items():
            for operation in filter(None, map(_operation, names)):
                library.impl(operation, _with(getattr(casts, rule), operation), "AutocastCUDA")
        yield


class _Casts:
    """The four rules of the lists.

    Attributes:
        kept: The cast weights, until the forward pass ends; each is cast once.
    """

    def __init__(self) -> None:
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
        if given.get("dtype") is not None or args[0].dtype not in CAST:
            return operation(*args, **kwargs)
        fused = FUSED.get(operation._overloadpacket.__name__)
        if fused and args[0].dtype == torch.float16:
            return fused(given["self"], given["dim"], True)
        return operation(**(given | {"dtype": torch.float32}))

    def _narrowed(self, tensor: torch.Tensor) -> torch.Tensor:
        format = torch.get_autocast_dtype("cuda")
        if tensor.dtype not in CAST:
            return tensor
        if not (tensor.is_leaf and tensor.requires_grad):
            return tensor.to(format)
        if tensor not in self.kept:
            self.kept[tensor] = tensor.to(format)
        return self.kept[tensor]


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.dtype in HALVES else tensor


def _operation(name: str) -> Any:
    """PyTorch's operation of that name; None if this PyTorch does not have it."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)


def _with(rule: Kernel, operation: Any) -> Kernel:
    """The kernel that applies ``rule`` and goes on without autocast."""
    autocast = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(autocast):
            return rule(operation, args, kwargs)

    return kernel
