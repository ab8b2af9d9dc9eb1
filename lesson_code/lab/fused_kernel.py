"""relu(x · y + x) as an operation of one's own, and what it takes to train and compile with it.

x, y and the result are float32 tensors of one shape. ``fused_check`` examines what is made here.
"""

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch

from lesson_code.saved_tensors import SavedBytes

Operation = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class UnavailableError(RuntimeError):
    """A kernel can't be had here; the message says why."""


# --8<-- [start:in_pytorch]
def in_pytorch(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Three kernels: a product, a sum, a relu."""
    return torch.relu(x * y + x)


# --8<-- [end:in_pytorch]


# --8<-- [start:teach]
def like_x(x: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    """The shape of the result, for a compiler that computes nothing."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def keep_inputs(ctx: Any, inputs: tuple[torch.Tensor, ...], **_: torch.Tensor) -> None:
    """What backward will need: the inputs are there anyway."""
    ctx.save_for_backward(*inputs)


def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The derivative by hand, as autograd can't look into a kernel."""
    x, y = ctx.saved_tensors
    through_relu = gradient.masked_fill(x * y + x <= 0, 0.0)
    return through_relu * (y + 1), through_relu * x


def teach(name: str) -> None:
    """Tell PyTorch the shape and the derivative of a registered operation."""
    torch.library.register_fake(name, like_x)
    torch.library.register_autograd(name, backward, setup_context=keep_inputs)


# --8<-- [end:teach]


# --8<-- [start:operation]
def operation(name: str, kernel: Operation) -> Operation:
    """Register a kernel that wants contiguous tensors of one shape."""

    def checked(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape != y.shape:
            raise ValueError(f"x is {tuple(x.shape)} and y is {tuple(y.shape)}")
        return kernel(x.contiguous(), y.contiguous())

    made: Operation = torch.library.custom_op(f"lesson::{name}", checked, mutates_args=())
    teach(f"lesson::{name}")
    return made


fused_pytorch = operation("fused_pytorch", in_pytorch)
# --8<-- [end:operation]


# --8<-- [start:in_triton]
BLOCK = 1024  # elements that one program works on


def in_triton(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """One kernel, run once for each block; Triton compiles it at the first call."""
    from lesson_code.lab.triton_kernel import fused

    out = torch.empty_like(x)
    programs = -(-x.numel() // BLOCK)  # rounded up: the last block may be a part of one
    # Product and sum may be rounded once, as nvcc does it too.
    fused[(programs,)](x, y, out, x.numel(), BLOCK=BLOCK, enable_fp_fusion=True)
    return out


fused_triton = operation("fused_triton", in_triton)
# --8<-- [end:in_triton]


def triton_operation(device: torch.device) -> Operation:
    """``fused_triton``, where it can run.

    Raises:
        UnavailableError: If Triton is missing, or can't run on this device.
    """
    if find_spec("triton") is None:
        raise UnavailableError("Triton is not installed")
    if device.type == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        raise UnavailableError("on a CPU, write TRITON_INTERPRET=1 before the command")
    return fused_triton


def print_kept_for_backward() -> None:
    """What autograd keeps of four million float32 numbers, which take 16 MB, for backward."""
    x, y = (torch.randn(4_000_000, requires_grad=True) for _ in range(2))
    for name, way in (("three operations", in_pytorch), ("one operation", fused_pytorch)):
        meter = SavedBytes()
        with meter:
            result = way(x, y)
        print(f"{name:16} keep {meter.total() / 1e6:.0f} MB")
        del result
