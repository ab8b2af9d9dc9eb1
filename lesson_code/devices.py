"""Choosing a device, naming it, and waiting for it."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch


# --8<-- [start:choose_device]
def choose_device() -> torch.device:
    """An NVIDIA or AMD GPU where PyTorch finds one, the CPU everywhere else."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


# --8<-- [end:choose_device]


# --8<-- [start:choose_amp_dtype]
def choose_amp_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 on a GPU that computes it in hardware, float16 everywhere else.

    Without ``including_emulation=False`` PyTorch says yes on a T4 as well, which is slow at it.
    On an AMD card it says yes without a look at the hardware.
    """
    if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float16


# --8<-- [end:choose_amp_dtype]


# --8<-- [start:synchronize]
def synchronize(device: torch.device) -> None:
    """Wait until ``device`` has finished all the work it was given.

    A GPU works on while Python goes ahead, so a clock read without waiting is wrong.
    A CPU is never ahead of itself: there the call does nothing.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type != "cpu":  # such as Apple's "mps" and Intel's "xpu"
        torch.accelerator.synchronize(device)


# --8<-- [end:synchronize]


@contextmanager
def float32_products(tf32: bool) -> Iterator[None]:
    """Allow or forbid TF32 in matrix products and convolutions, and put the switches back."""
    products, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn
    before = products.allow_tf32, convolutions.allow_tf32
    products.allow_tf32 = convolutions.allow_tf32 = tf32
    try:
        yield
    finally:
        products.allow_tf32, convolutions.allow_tf32 = before


def device_name(device: torch.device) -> str:
    """The marketing name of ``device``: the GPU's, or the processor's."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return cpu_name()


# --8<-- [start:cpu_name]
def cpu_name() -> str:
    """The processor's name as the operating system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown processor"


# --8<-- [end:cpu_name]


@contextmanager
def one_thread() -> Iterator[None]:
    """Run PyTorch on one thread: in small operations, more would only compete."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
