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

from lesson_code.forecast.autocast import autocast_without_gpu

CUDA, META = torch.device("cuda", 0), torch.device("meta")
ONE_KERNEL = ("silu_backward", "mish_backward", "_fused_rms_norm")  # several without one of its own
FROM_VALUES = (torch.tensor, torch.as_tensor)
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
            cls, inside, requires_grad, device_for_backend_keys=CUDA
        )
        shell.inside = inside
        return shell

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """What a model that asks is told."""
        return CUDA

    def tolist(self) -> Any:
        """Nothing: it has no values."""
        raise ReadsValuesError("the step wants the values of a tensor as a list or an array")

    numpy = tolist  # type: ignore[assignment]

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


class FirstGpu(TorchFunctionMode):
    """Within, ``"cuda"`` is the first GPU, and values are sent to it.

    PyTorch would ask a driver which GPU is meant, and start it before it makes a tensor of values.
    """

    def __torch_function__(
        self, func: Any, _types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Every call of PyTorch's from Python comes here first."""
        args = tuple(map(_numbered, args))
        kwargs = {name: _numbered(value) for name, value in (kwargs or {}).items()}
        if func is torch.Tensor.cuda and not args[1:]:
            kwargs.setdefault("device", CUDA)
        if func is torch.Tensor.new_tensor:
            like, *args = args
            func, kwargs = torch.tensor, {"dtype": like.dtype, "device": like.device} | kwargs
        if func in FROM_VALUES and kwargs.get("device") == CUDA:
            del kwargs["device"]
            return func(*args, **kwargs).to(CUDA)
        return func(*args, **kwargs)


def _numbered(value: Any) -> Any:
    """The first GPU for one without a number, and anything else as it is."""
    named = isinstance(value, str | torch.device) and str(value) == "cuda"
    return CUDA if named else value


@contextmanager
def like_a_gpu() -> Iterator[None]:
    """Within, operations on shells are a GPU's."""
    scope = torch.library._scoped_library("aten", "IMPL")
    with scope as library, autocast_without_gpu(), FirstGpu():
        library.impl("dropout", _dropout, "AutogradCUDA")
        library.impl("scaled_dot_product_attention", _attention, "AutogradCUDA")
        for name in ONE_KERNEL:
            if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "CUDA"):
                library.impl(name, getattr(aten, name), "CUDA")
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
