"""The kernels in C++ and CUDA C++: really compiled where that can be done."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.utils import cpp_extension

from lesson_code.lab import fused_extension
from lesson_code.lab.fused_check import cuda_operation, examine
from lesson_code.lab.fused_kernel import UnavailableError

COMPILER = shutil.which(cpp_extension.get_cxx_compiler())


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler is installed")
@pytest.mark.skipif(not cpp_extension.is_ninja_available(), reason="ninja is not installed")
def test_the_extension_is_built_and_right(tmp_path: Path, one_thread: None) -> None:
    """Compiled here and now, it trains and compiles, and its values are PyTorch's, bit for bit."""
    torch.compiler.reset()

    made = fused_extension.cpp_operation(tmp_path)

    assert 0.0 == examine(made, torch.device("cpu"))
    with pytest.raises(RuntimeError, match="must have the same shape"):
        made(torch.ones(2, 3), torch.ones(3))


def test_without_a_compiler_the_reason_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is tried without a compiler."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)

    with pytest.raises(UnavailableError, match=r"no C\+\+ compiler is installed"):
        fused_extension.cpp_operation(tmp_path)


def test_without_ninja_the_reason_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler alone is not enough for PyTorch."""
    monkeypatch.setattr(cpp_extension, "get_cxx_compiler", lambda: sys.executable)
    monkeypatch.setattr(cpp_extension, "is_ninja_available", lambda: False)

    with pytest.raises(UnavailableError, match="pip install ninja"):
        fused_extension.cpp_operation(tmp_path)


def test_the_build_is_asked_for_once_and_taught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be compiled, the call is right all the same."""
    asked, taught = [], []
    monkeypatch.setattr(cpp_extension, "get_cxx_compiler", lambda: sys.executable)
    monkeypatch.setattr(cpp_extension, "is_ninja_available", lambda: True)
    monkeypatch.setattr(cpp_extension, "load_inline", lambda *a, **k: asked.append((a, k)))
    monkeypatch.setattr(fused_extension, "teach", taught.append)
    lesson = SimpleNamespace(fused_cpp=SimpleNamespace(default="the operation"))
    monkeypatch.setattr(torch, "ops", SimpleNamespace(lesson=lesson))

    made = fused_extension.cpp_operation(tmp_path)

    [((_, source), settings)] = asked
    assert fused_extension.CPP_SOURCE == source
    assert not settings["is_python_module"]
    assert ["lesson::fused_cpp"] == taught
    assert "the operation" == made


def test_the_source_includes_small_headers_only() -> None:
    """PyTorch's whole interface would take a minute to compile."""
    included = [
        line for line in fused_extension.CPP_SOURCE.splitlines() if line.startswith("#include")
    ]

    assert 3 == len(included)
    assert all(line.startswith("#include <torch/csrc/stable/") for line in included)


def test_without_a_cuda_compiler_there_is_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UnavailableError, match="nvcc, is not installed"):
        fused_extension.build_cuda(tmp_path, (9, 0))


def test_a_compiler_that_does_not_know_the_gpu_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nvcc says is in the reason; it was asked for this GPU."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text('#!/bin/sh\necho "does not know $5" >&2; exit 1\n', encoding="utf-8")
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(
        UnavailableError, match="does not know -gencode=arch=compute_123,code=sm_123"
    ):
        fused_extension.build_cuda(tmp_path, (12, 3))


def test_without_a_gpu_cuda_source_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler alone is no reason to build what nothing here can run."""
    monkeypatch.setattr(fused_extension.subprocess, "run", pytest.fail)

    with pytest.raises(UnavailableError, match="needs a CUDA GPU"):
        cuda_operation(torch.device("cpu"))


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA compiler")
def test_the_cuda_kernel_is_fit_for_training() -> None:
    """Built for this GPU; product and sum may be rounded once, so the last bit may differ."""
    gpu = torch.device("cuda")

    assert examine(cuda_operation(gpu), gpu) < 1e-5  # as in the Triton kernel's test
