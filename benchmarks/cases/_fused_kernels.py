"""relu(x · y + x) in one kernel, written by hand twice: in Triton and in CUDA C++.

x, y and the result are float32 tensors of the same shape, contiguous, on one GPU.
"""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.cases import SkipPartError

Operation = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
BLOCK = 1024  # elements that one Triton program works on
COMPILER_LIMIT_S = 120

CUDA_SOURCE = """
#include <cuda_runtime.h>

__global__ void fused(const float* x, const float* y, float* out, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaxf(x[i] * y[i] + x[i], 0.0f);
}

extern "C" int launch(
    const float* x, const float* y, float* out, long long n, cudaStream_t stream
) {
    fused<<<(n + 255) / 256, 256, 0, stream>>>(x, y, out, n);
    return (int)cudaGetLastError();
}
"""


def triton_operation() -> Operation:
    """The operation as a Triton kernel; it is compiled at its first call.

    Raises:
        SkipPartError: If Triton is not installed.
    """
    try:
        from benchmarks.cases._triton_kernel import fused
    except ImportError:
        raise SkipPartError("Triton is not installed") from None

    def operation(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        programs = -(-x.numel() // BLOCK)
        # Product and sum may be rounded once, as nvcc does it too; Triton wants to be told.
        fused[(programs,)](x, y, out, x.numel(), BLOCK=BLOCK, enable_fp_fusion=True)
        return out

    return operation


def cuda_operation(gpu: torch.device) -> Operation:
    """The operation as a CUDA C++ kernel, built for this GPU with the toolkit's compiler.

    It is called through ``ctypes``: PyTorch's headers would take a minute to compile.

    Raises:
        SkipPartError: If there is no CUDA compiler, or it can't build for this GPU.
    """
    with TemporaryDirectory() as folder:
        library = ctypes.CDLL(str(build(Path(folder), torch.cuda.get_device_capability(gpu))))
    library.launch.argtypes = [*[ctypes.c_void_p] * 3, ctypes.c_longlong, ctypes.c_void_p]
    library.launch.restype = ctypes.c_int

    def operation(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        stream = torch.cuda.current_stream(gpu).cuda_stream
        code = library.launch(x.data_ptr(), y.data_ptr(), out.data_ptr(), x.numel(), stream)
        if code:
            raise RuntimeError(f"the CUDA kernel did not start, error {code}")
        return out

    return operation


def build(folder: Path, capability: tuple[int, int]) -> Path:
    """Compile the CUDA source into a library in ``folder``, for GPUs of one compute capability.

    Raises:
        SkipPartError: If there is no CUDA compiler, or it can't build for this capability.
    """
    compiler = shutil.which("nvcc")
    if compiler is None:
        raise SkipPartError("the CUDA toolkit's compiler, nvcc, is not installed")
    source, library = folder / "fused.cu", folder / "fused.so"
    source.write_text(CUDA_SOURCE, encoding="utf-8")
    number = "{}{}".format(*capability)
    command = [
        *(compiler, "-O3", "-shared", "-Xcompiler", "-fPIC"),
        f"-gencode=arch=compute_{number},code=sm_{number}",
        *(str(source), "-o", str(library)),
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=COMPILER_LIMIT_S
    )
    if ran.returncode:
        message = (ran.stderr.strip().splitlines() or ["no reason given"])[0]
        raise SkipPartError(f"nvcc could not build the kernel: {message}")
    return library
