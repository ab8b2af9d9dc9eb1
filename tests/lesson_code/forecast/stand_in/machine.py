"""A machine that believes it has a GPU: the stand-in driver, compiled, and what is counted on it.

``python -m tests.lesson_code.forecast.stand_in.machine`` writes ``counted.json``, with which the
counter is compared where nothing can be compiled.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).parent
KEPT = FOLDER / "counted.json"
HEADER = "cuda_runtime_api.h"
EXAMPLES, FORMATS = ("mnist", "resnet50", "gpt2"), ("float32", "bfloat16")
STEPS = tuple(f"{name}:{format}" for name in EXAMPLES for format in FORMATS)


class NoCompilerError(Exception):
    """What is missing here to compile the stand-in."""


def headers() -> Path | None:
    """The folder of CUDA's headers: PyTorch's own wheel brings it along, or a toolkit has it."""
    try:
        brought = [Path(str(file.locate())) for file in files("nvidia-cuda-runtime") or ()]
    except PackageNotFoundError:
        brought = []
    toolkit = Path("/usr/local/cuda/include") / HEADER
    found = (path.parent for path in (*brought, toolkit) if path.name == HEADER and path.is_file())
    return next(found, None)


def count(steps: Iterable[str], folder: Path) -> dict[str, dict[str, Any]]:
    """What steps such as ``mnist:bfloat16`` are made of on fake CUDA tensors.

    Args:
        steps: An example and a format each.
        folder: Where the stand-in is compiled.

    Raises:
        NoCompilerError: If there is nothing to compile it with, or PyTorch is not built for CUDA.
    """
    compiler, include = shutil.which("gcc"), headers()
    if not compiler or not include or not torch.version.cuda or sys.platform != "linux":
        raise NoCompilerError("needs Linux, gcc, CUDA's headers and a PyTorch built for CUDA")
    runtime, driver = folder / "runtime.so", folder / "libcuda.so.1"
    shared = [compiler, "-shared", "-fPIC", "-w", f"-I{include}", f"-I{FOLDER}"]
    subprocess.run([*shared, "-o", runtime, FOLDER / "runtime.c"], check=True)
    named = [*shared, "-Wl,-soname,libcuda.so.1"]
    subprocess.run([*named, "-o", driver, FOLDER / "driver.c"], check=True)

    asked = list(steps)
    called = subprocess.run(
        [sys.executable, "-m", "tests.lesson_code.forecast.stand_in.fake_cuda", *asked],
        env=os.environ | {"LD_PRELOAD": str(runtime), "LD_LIBRARY_PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if called.returncode:
        raise RuntimeError(called.stderr)
    return dict(zip(asked, map(json.loads, called.stdout.splitlines()), strict=True))


def torch_version() -> str:
    """Without the build's name."""
    return torch.__version__.partition("+")[0]


def kept() -> Mapping[str, Any]:
    """What was counted last: ``torch``, its version, and ``steps``."""
    content: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return content


def main() -> None:
    """Count and keep."""
    with tempfile.TemporaryDirectory() as folder:
        content = {"torch": torch_version(), "steps": count(STEPS, Path(folder))}
    KEPT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
