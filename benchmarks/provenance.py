"""Where and when a result was measured, in a form that fits on any page."""

import datetime
import os
import platform
import re
import subprocess
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from lesson_code.devices import cpu_name
from results.result_file import plain

# What nvidia-smi calls it, and what we call it, with its unit.
GPU_STATE = {
    "temperature.gpu": "temperature_c",
    "clocks.sm": "sm_clock_mhz",
    "clocks.mem": "memory_clock_mhz",
    "power.draw": "power_w",
}


def here(quick: bool = False) -> dict[str, Any]:
    """Everything about this machine, its software and our code that can change a number.

    Args:
        quick: Whether the run is a short trial whose numbers no page should show.
    """
    found = machine()
    found["precision"] |= recurrent_layers()
    names = {name: plain(value) for name, value in found.items() if isinstance(value, str)}
    return {**found, **names, "commit": commit(), "quick": quick}


def recurrent_layers() -> dict[str, bool]:
    """The third switch of TF32; the older ``cudnn.allow_tf32`` speaks for convolutions with it."""
    cudnn: Any = torch.backends.cudnn
    return {"cudnn_rnn_tf32": cudnn.rnn.fp32_precision == "tf32"}


# --8<-- [start:machine]
def machine_slug(cores: int, gpu: str | None) -> str:
    """A folder name for this machine: ``cpu-2-cores``, or the GPU's name in small letters."""
    if gpu is None:
        return f"cpu-{cores}-cores"
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")


def machine() -> dict[str, Any]:
    """Everything about this machine and its software that can change a number."""
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    cores = os.cpu_count() or 1
    return {
        "machine": machine_slug(cores, gpu),
        "processor": cpu_name(),
        "cores": cores,
        "threads": torch.get_num_threads(),
        "gpu": gpu,
        "gpu_details": _gpu_details() if gpu else None,
        "cuda": torch.version.cuda if gpu else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torchvision": version("torchvision"),
        "numpy": np.__version__,
        "precision": precision_switches(),
        "date": datetime.date.today().isoformat(),
    }


def precision_switches() -> dict[str, Any]:
    """Every global switch that lets float32 work be done in fewer bits, as it stands now."""
    return {
        "float32_matmul": torch.get_float32_matmul_precision(),
        "cuda_matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn_tf32": torch.backends.cudnn.allow_tf32,
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "float16_reduced_sums": _reduced("allow_fp16_reduced_precision_reduction"),
        "bfloat16_reduced_sums": _reduced("allow_bf16_reduced_precision_reduction"),
    }


def _reduced(switch: str) -> bool:
    return bool(getattr(torch.backends.cuda.matmul, switch))


def _gpu_details() -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(0)
    read = ask_nvidia_smi("driver_version", "power.limit")
    return {
        "memory_bytes": properties.total_memory,
        "compute_capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "count": torch.cuda.device_count(),
        "driver": read.get("driver_version"),
        "power_limit_w": number(read.get("power.limit")),
    }


def ask_nvidia_smi(*names: str, gpu: torch.device | int = 0) -> dict[str, str]:
    """What the driver's own tool says of a GPU; nothing where it is not there.

    Args:
        names: What to ask for, as ``nvidia-smi --help-query-gpu`` calls it.
        gpu: The GPU, or its number among those that PyTorch sees.
    """
    # By its UUID: CUDA_VISIBLE_DEVICES changes PyTorch's numbers and not nvidia-smi's.
    uuid = torch.cuda.get_device_properties(gpu).uuid
    command = ["nvidia-smi", f"--id=GPU-{uuid}", f"--query-gpu={','.join(names)}"]
    try:
        done = subprocess.run(
            [*command, "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(zip(names, (part.strip() for part in done.stdout.split(",")), strict=False))


def number(text: str | None) -> float | None:
    """The number that ``text`` holds; None for what the driver writes where it knows none."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


# --8<-- [end:machine]


def gpu_state() -> dict[str, float] | None:
    """Temperature, clocks and power of the GPU at this moment, as far as the driver tells.

    Just after a part the GPU rests again: its clocks and its power are no longer those of the work.
    """
    if not torch.cuda.is_available():
        return None
    read = ask_nvidia_smi(*GPU_STATE)
    values = {ours: number(read.get(theirs)) for theirs, ours in GPU_STATE.items()}
    return {name: value for name, value in values.items() if value is not None}


def load_average() -> float | None:
    """Processes that wanted a core in the last minute, where the system counts them."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def commit() -> str | None:
    """The commit whose code was measured; None if that code has changes, or git is not there."""
    try:
        changed = _git("status", "--porcelain", "--", "lesson_code/*.py", "benchmarks/*.py")
        return None if changed else _git("rev-parse", "--short=10", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", "--no-optional-locks", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
