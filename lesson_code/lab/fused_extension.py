"""relu(x · y + x) in C++ for the CPU and in CUDA C++ for a GPU, each compiled when asked for."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from lesson_code.lab.fused_kernel import Operation, UnavailableError, teach

COMPILER_LIMIT_S = 120

# --8<-- [start:cpp]
CPP_SOURCE = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

Tensor fused(const Tensor& x, const Tensor& y) {
    STD_TORCH_CHECK(x.sizes().equals(y.sizes()), "x and y must have the same shape");
    Tensor dense_x = torch::stable::contiguous(x), dense_y = torch::stable::contiguous(y);
    Tensor out = torch::stable::empty_like(dense_x);
    const float* from_x = dense_x.const_data_ptr<float>();
    const float* from_y = dense_y.const_data_ptr<float>();
    float* to = out.mutable_data_ptr<float>();
    for (int64_t i = 0; i < out.numel(); ++i) {
        float result = from_x[i] * from_y[i] + from_x[i];
        to[i] = result < 0.0f ? 0.0f : result;  // NaN stays NaN
    }
    return out;
}

STABLE_TORCH_LIBRARY_FRAGMENT(lesson, library) {
    library.def("fused_cpp(Tensor x, Tensor y) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(lesson, CPU, library) {
    library.impl("fused_cpp", TORCH_BOX(&fused));
}
"""
# --8<-- [end:cpp]


def cpp_operation(folder: Path | None = None) -> Operation:
    """Compile the C++ source, once for each change of it, and register what it defines.

    Args:
        folder: Where to build; by default a folder that PyTorch keeps for the next time.

    Raises:
        UnavailableError: If there is no C++ compiler, or no ninja to call it.
    """
    from torch.utils import cpp_extension  # it looks for compilers as soon as it is imported

    if shutil.which(cpp_extension.get_cxx_compiler()) is None:
        raise UnavailableError("no C++ compiler is installed")
    if not cpp_extension.is_ninja_available():
        raise UnavailableError("ninja is not installed; `pip install ninja` brings it")
    # --8<-- [start:build_cpp]
    cpp_extension.load_inline(
        "lesson_fused",
        CPP_SOURCE,
        build_directory=None if folder is None else str(folder),
        extra_cflags=["-O3", "-ffp-contract=off"],  # product and sum are rounded one by one
        is_python_module=False,  # it registers operations, and has nothing to import
        no_implicit_headers=True,  # PyTorch's whole C++ interface takes a minute to compile
    )
    teach("lesson::fused_cpp")
    # --8<-- [end:build_cpp]
    made: Operation = torch.ops.lesson.fused_cpp.default
    return made


# --8<-- [start:cuda]
CUDA_SOURCE = """
#include <cuda_runtime.h>

__global__ void fused(const float* x, const float* y, float* out, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float result = x[i] * y[i] + x[i];
    out[i] = result < 0.0f ? 0.0f : result;  // NaN stays NaN
}

extern "C" int launch(
    const float* x, const float* y, float* out, long long n, cudaStream_t stream
) {
    fused<<<(n + 255) / 256, 256, 0, stream>>>(x, y, out, n);
    return (int)cudaGetLastError();
}
"""
# --8<-- [end:cuda]


def cuda_kernel(gpu: torch.device) -> Operation:
    """The CUDA C++ kernel, built for this GPU with the toolkit's compiler.

    It is called through ``ctypes``, for contiguous tensors of one shape on that GPU.

    Raises:
        UnavailableError: If there is no CUDA compiler, or it can't build for this GPU.
    """
    with TemporaryDirectory() as folder:
        library = ctypes.CDLL(str(build_cuda(Path(folder), torch.cuda.get_device_capability(gpu))))
    library.launch.argtypes = [*[ctypes.c_void_p] * 3, ctypes.c_longlong, ctypes.c_void_p]
    library.launch.restype = ctypes.c_int

    def kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        stream = torch.cuda.current_stream(gpu).cuda_stream
        code = library.launch(x.data_ptr(), y.data_ptr(), out.data_ptr(), x.numel(), stream)
        if code:
            raise RuntimeError(f"the CUDA kernel did not start, error {code}")
        return out

    return kernel


def build_cuda(folder: Path, capability: tuple[int, int]) -> Path:
    """Compile the CUDA source into a library in ``folder``, for GPUs of one compute capability.

    Raises:
        UnavailableError: If there is no CUDA compiler, or it can't build for this capability.
    """
    compiler = shutil.which("nvcc")
    if compiler is None:
        raise UnavailableError("the CUDA toolkit's compiler, nvcc, is not installed")
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
        raise UnavailableError(f"nvcc could not build the kernel: {message}")
    return library
