"""relu(x · y + x) in every way: the right result, and the bytes that each way moves."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, SkipPartError, _fused_kernels, fused_elementwise

REPOSITORY = Path(__file__).parents[3]
INTERPRETED = """
import torch
from benchmarks.cases._fused_kernels import BLOCK, triton_operation
x, y = torch.randn(2, 2 * BLOCK + 5, generator=torch.Generator().manual_seed(0))
difference = triton_operation()(x, y) - torch.relu(x * y + x)
print("largest difference:", float(difference.abs().max()))
"""


def test_eager_and_compiled_agree_on_the_cpu(tmp_path: Path, one_thread: None) -> None:
    """Eager moves eight tensors and compiled code three; both give the same numbers."""
    [part] = fused_elementwise.parts(Plan(tmp_path, quick=True, gpu=None))

    entries = part.measure()

    assert {"cpu_eager", "cpu_compiled"} == set(entries)
    tensor_bytes = 4 * 2**16
    assert 8 * tensor_bytes == entries["cpu_eager"]["amount"]
    assert 3 * tensor_bytes == entries["cpu_compiled"]["amount"]
    assert 1e-5 > entries["cpu_compiled"]["outcome"]["largest_difference"]
    assert all(entry["smallest"] > 0 for entry in entries.values())


def test_every_way_on_a_gpu_takes_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """Hand-written kernels are told by their names, and a wrong one by its difference."""

    def wrong(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * y + x) + 0.25

    monkeypatch.setattr(torch, "compile", lambda operation, **_: lambda x, y: operation(x, y))
    monkeypatch.setattr(fused_elementwise, "triton_operation", lambda: wrong)
    monkeypatch.setattr(fused_elementwise, "cuda_operation", lambda _: wrong)
    plan = Plan(tmp_path, quick=True, gpu=torch.device("cpu"))

    entries = {
        name: entry
        for part in fused_elementwise.parts(plan)
        for name, entry in part.measure().items()
    }

    assert set(fused_elementwise.ENTRIES) == set(entries)
    assert 0.25 == pytest.approx(entries["cuda_triton"]["outcome"]["largest_difference"])
    assert 0.25 == pytest.approx(entries["cuda_extension"]["outcome"]["largest_difference"])
    assert 0 == entries["cuda_compiled"]["outcome"]["largest_difference"]


def test_the_triton_kernel_is_right_in_tritons_interpreter() -> None:
    """The kernel gives eager's numbers, in the last, shorter block too."""
    if importlib.util.find_spec("triton") is None:  # PyTorch's builds for CPUs come without it
        with pytest.raises(SkipPartError, match="Triton is not installed"):
            _fused_kernels.triton_operation()
        return

    ran = subprocess.run(
        [sys.executable, "-c", INTERPRETED],
        cwd=REPOSITORY,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout.startswith("largest difference:"), ran.stderr
    assert 1e-6 > float(ran.stdout.partition(":")[2])


def test_without_triton_the_reason_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing Triton is a reason in words."""
    monkeypatch.setitem(sys.modules, "benchmarks.cases._triton_kernel", None)

    with pytest.raises(SkipPartError, match="Triton is not installed"):
        _fused_kernels.triton_operation()


def test_without_a_cuda_compiler_the_extension_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SkipPartError, match="nvcc, is not installed"):
        _fused_kernels.build(tmp_path, (9, 0))


def test_a_compiler_that_does_not_know_the_gpu_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nvcc says stands in the reason; it was asked for this GPU."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text('#!/bin/sh\necho "does not know $5" >&2; exit 1\n', encoding="utf-8")
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SkipPartError, match="does not know -gencode=arch=compute_123,code=sm_123"):
        _fused_kernels.build(tmp_path, (12, 3))


@pytest.mark.gpu
def test_every_kernel_is_right_on_a_gpu(tmp_path: Path) -> None:
    """Eager, compiled and Triton agree on any GPU; the extension too where it can be built."""
    parts = {part.name: part for part in fused_elementwise.parts(Plan(tmp_path, quick=True))}
    if shutil.which("nvcc") is None:
        with pytest.raises(SkipPartError, match="nvcc"):
            parts.pop("cuda_extension").measure()

    entries = {name: entry for part in parts.values() for name, entry in part.measure().items()}

    assert set(fused_elementwise.ENTRIES) - {"cuda_extension"} <= set(entries)
    assert all(entry["outcome"]["largest_difference"] < 1e-5 for entry in entries.values())
