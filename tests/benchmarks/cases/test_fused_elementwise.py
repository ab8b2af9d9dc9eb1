"""relu(x · y + x) in every way: the right result, and the bytes that each way moves."""

import shutil
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, SkipPartError, _fused_kernels, fused_elementwise


def test_eager_and_compiled_agree_on_the_cpu(tmp_path: Path, one_thread: None) -> None:
    """Eager moves eight tensors and compiled code three; both give the same numbers."""
    [part] = fused_elementwise.parts(Plan(tmp_path, quick=True, gpu=None))

    entries = part.measure()

    assert {"cpu_eager", "cpu_compiled"} == set(entries)
    tensor_bytes = 4 * 2**16
    assert 8 * tensor_bytes == entries["cpu_eager"].amount
    assert 3 * tensor_bytes == entries["cpu_compiled"].amount
    assert 1e-5 > entries["cpu_compiled"].outcome["largest_difference"]
    assert all(entry.smallest > 0 for entry in entries.values())


def test_every_way_on_a_gpu_takes_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """Hand-written kernels are told by their names, and a wrong one by its difference."""

    def wrong(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * y + x) + 0.25

    monkeypatch.setattr(torch, "compile", lambda operation, **_: lambda x, y: operation(x, y))
    monkeypatch.setattr(fused_elementwise, "triton_operation", lambda _: wrong)
    monkeypatch.setattr(fused_elementwise, "cuda_operation", lambda _: wrong)
    plan = Plan(tmp_path, quick=True, gpu=torch.device("cpu"))

    entries = {
        name: entry
        for part in fused_elementwise.parts(plan)
        for name, entry in part.measure().items()
    }

    assert set(fused_elementwise.ENTRIES) == set(entries)
    # A processor may round the product and the sum at once, so the last bits differ.
    for name in ("cuda_triton", "cuda_extension"):
        assert 0.25 == pytest.approx(entries[name].outcome["largest_difference"], abs=1e-5)
    assert 0 == entries["cuda_compiled"].outcome["largest_difference"]


def test_without_triton_the_reason_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing Triton is a reason in words."""
    monkeypatch.setitem(sys.modules, "triton", None)

    with pytest.raises(SkipPartError, match="Triton is not installed"):
        _fused_kernels.triton_operation(torch.device("cuda"))


def test_without_a_cuda_compiler_the_extension_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))

    with pytest.raises(SkipPartError, match="nvcc, is not installed"):
        _fused_kernels.cuda_operation(torch.device("cuda"))


@pytest.mark.gpu
def test_every_kernel_is_right_on_a_gpu(tmp_path: Path) -> None:
    """Eager, compiled and Triton agree on any GPU; the extension too where it can be built."""
    parts = {part.name: part for part in fused_elementwise.parts(Plan(tmp_path, quick=True))}
    if shutil.which("nvcc") is None:
        with pytest.raises(SkipPartError, match="nvcc"):
            parts.pop("cuda_extension").measure()

    entries = {name: entry for part in parts.values() for name, entry in part.measure().items()}

    assert set(fused_elementwise.ENTRIES) - {"cuda_extension"} <= set(entries)
    assert all(entry.outcome["largest_difference"] < 1e-5 for entry in entries.values())
