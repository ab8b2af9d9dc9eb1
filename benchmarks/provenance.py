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


def machine_slug(cores: int, gpu: str | None) -> str:
    """A folder name for this machine: ``cpu-2-cores``, or the GPU's name in small letters."""
    if gpu is None:
        return f"cpu-{cores}-cores"
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")


def here(quick: bool = False) -> dict[str, Any]:
    """Everything about this machine and its software that can change a number.

    Args:
        quick: Whether the run is a short trial whose numbers no page should show.
    """
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    cores = os.cpu_count() or 1
    return {
        "machine": machine_slug(cores, gpu),
        "processor": cpu_name(),
        "cores": cores,
        "threads": torch.get_num_threads(),
        "gpu": gpu,
        "cuda": torch.version.cuda if gpu else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torchvision": version("torchvision"),
        "numpy": np.__version__,
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "quick": quick,
    }


def commit() -> str | None:
    """The commit whose code was measured; None if that code has changes, or git is not there."""
    try:
        changed = _git("status", "--porcelain", "--", "lesson_code", "benchmarks/cases")
        return None if changed else _git("rev-parse", "--short=10", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", "--no-optional-locks", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
