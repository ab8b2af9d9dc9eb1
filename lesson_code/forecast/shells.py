"""Tensors without values that PyTorch treats as a GPU's.

A shell is of PyTorch's spare kind of device, ``privateuseone``, which this module teaches what a
GPU does in its own way: autocast's lists, fused dropout and attention.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from lesson_code.forecast.autocast import SPARE

CUDA, META = torch.device("cuda", 0), torch.device("meta")
ONE_KERNEL = ("silu_backward", "mish_backward", "_fused_rms_norm")  # several without one of its own
aten = torch.ops.aten


class ReadsValuesError(RuntimeError):
    """The step reads a value, and shells have none."""


# --8<-- [start:shell]
class Shell(torch.Tensor):
    """A tensor without values that says it is on a GPU.

    Inside it is one on the device ``meta``, whose operations compute shapes and formats alone.
    """

    inside: torch.Tensor

    def __new__(cls, inside: torch.Tensor, requires_grad: bool = False) -> "Shell":
        """A shell around ``inside``, a tensor on the device ``meta``."""
        shell: Shell = torch.Tensor._make_subclass(
            cls, inside, requires_grad, device_for_backend_keys=torch.device(SPARE)
        )
        shell.inside = inside
        return shell

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """What a model that asks is told."""
        return CUDA

    @classmethod
    def __torch_dispatch__(cls, func: Any, *_: Any) -> Any:
        raise ReadsValuesError(f"{func} met a tensor without values outside the counter")


def exchange(tensor: torch.Tensor) -> None:
    """Put a shell in the place of a tensor, wherever that is kept."""
    inside = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=META)
    shell = Shell(inside, tensor.requires_grad)
    if isinstance(tensor, nn.Parameter):
        shell._is_param = True
    torch.utils.swap_tensors(tensor, shell)


# --8<-- [end:shell]


class _Devices(TorchFunctionMode):
    """Sends what a model wants to have on a GPU to the shells' device."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in (torch.Tensor.tolist, torch.Tensor.numpy):
            raise ReadsValuesError(f"the step calls {func.__name__}() of a tensor")
        args, kwargs = tree_map(_instead_of_cuda, (args, kwargs or {}))
        return func(*args, **kwargs)


def _instead_of_cuda(argument: Any) -> Any:
    if isinstance(argument, torch.device | str) and str(argument).startswith("cuda"):
        return META
    return argument


@contextmanager
def like_a_gpu() -> Iterator[None]:
    """Holds while a step runs on shells, which then take a GPU's dropout and attention."""
    with torch.library._scoped_library("aten", "IMPL") as library, _Devices():
        library.impl("dropout", _dropout, "AutogradPrivateUse1")
        library.impl("scaled_dot_product_attention", _attention, "AutogradPrivateUse1")
        for name in ONE_KERNEL:
            library.impl(name, getattr(aten, name), "PrivateUse1")
        yield


def _dropout(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """One kernel, where a CPU takes three."""
    return torch.native_dropout(input, p, train)[0] if train and p else input


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """The fused attention that a GPU takes: flash in 16 bits without a mask, else the other."""
    if enable_gqa:
        repeats = query.size(-3) // key.size(-3)
        key, value = (t.repeat_interleave(repeats, -3) for t in (key, value))
    given, how = (query, key, value), (dropout_p, is_causal)
    allowed = torch.backends.cuda
    if query.element_size() == 2 and attn_mask is None and allowed.flash_sdp_enabled():
        return aten._scaled_dot_product_flash_attention(*given, *how, scale=scale)[0]
    if not allowed.mem_efficient_sdp_enabled():
        return aten._scaled_dot_product_attention_math(*given, attn_mask, *how, scale=scale)[0]
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.where(attn_mask, 0.0, float("-inf")).to(query.dtype)
    efficient = aten._scaled_dot_product_efficient_attention
    return efficient(*given, attn_mask, True, *how, scale=scale)[0]
