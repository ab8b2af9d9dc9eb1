"""The lesson's kernels for relu(x · y + x), or the reason why this machine has to do without one.

x, y and the result are float32 tensors of the same shape, contiguous, on one GPU.
"""

import torch

from benchmarks.cases import SkipPartError
from lesson_code.lab import fused_kernel
from lesson_code.lab.fused_extension import cuda_kernel
from lesson_code.lab.fused_kernel import Operation, UnavailableError, in_triton


def triton_operation(gpu: torch.device) -> Operation:
    """The operation as a Triton kernel; it is compiled at its first call.

    Raises:
        SkipPartError: If Triton is not installed.
    """
    try:
        fused_kernel.triton_operation(gpu)
    except UnavailableError as reason:
        raise SkipPartError(str(reason)) from None
    return in_triton  # without what registering adds to each call


def cuda_operation(gpu: torch.device) -> Operation:
    """The operation as a CUDA C++ kernel, built for this GPU with the toolkit's compiler.

    It is called through ``ctypes``: PyTorch's headers would take a minute to compile.

    Raises:
        SkipPartError: If there is no CUDA compiler, or it can't build for this GPU.
    """
    try:
        return cuda_kernel(gpu)
    except UnavailableError as reason:
        raise SkipPartError(str(reason)) from None
