"""Matrix products: what is measured, and the error of every format."""

from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, matmul

CPU = torch.device("cpu")
SMALLEST = "n_64"


def test_the_cpu_multiplies_in_float32_up_to_2048(tmp_path: Path) -> None:
    """Without a GPU the larger products are left out: they would take minutes."""
    parts = list(matmul.parts(Plan(tmp_path, gpu=None)))

    assert [f"n_{n}" for n in (64, 128, 256, 512, 1024, 2048)] == [part.name for part in parts]


def test_every_format_is_measured_with_its_error(tmp_path: Path, one_thread: None) -> None:
    """16-bit products are rounded, bfloat16 most; an entry knows its FLOP and its format."""
    part = next(matmul.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu"))))

    entries = part.measure()

    assert {name for name in matmul.ENTRIES if name.startswith(f"{SMALLEST}.")} == set(entries)
    assert {2 * 64**3} == {entry.amount for entry in entries.values()}
    assert all(entry.smallest > 0 for entry in entries.values())
    error = {name: entry.outcome["relative_error"] for name, entry in entries.items()}
    assert error[f"{SMALLEST}.cuda_bfloat16"] > 3 * error[f"{SMALLEST}.cuda_float16"]
    assert error[f"{SMALLEST}.cuda_float16"] > 30 * error[f"{SMALLEST}.cuda_float32"] > 0
    assert entries[f"{SMALLEST}.cuda_tf32"].settings["tf32"]


def test_the_precision_switches_are_put_back(tmp_path: Path, one_thread: None) -> None:
    """A case that allows TF32 leaves the process as it found it."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32

    next(matmul.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))).measure()

    after = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    assert before == after


def test_a_size_for_the_gpu_alone_is_expected_to_take_a_gpus_time(tmp_path: Path) -> None:
    """The largest product takes about ten seconds there; on a CPU it would take minutes."""
    expected_s = {part.name: part.expected_s for part in matmul.parts(Plan(tmp_path, gpu=CPU))}

    assert 5 < expected_s["n_2048"] < 10
    assert 5 < expected_s["n_8192"] < 20


@pytest.mark.gpu
def test_products_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Float32 is exact to its last bits unless TF32 is allowed on a GPU that has it.

    Of small products the library may do without tensor cores all the same.
    """
    monkeypatch.setattr(matmul, "QUICK_SIZES", (64, 1024))
    plan = Plan(tmp_path, quick=True)
    entries = {name: entry for part in matmul.parts(plan) for name, entry in part.measure().items()}
    error = {name: entry.outcome["relative_error"] for name, entry in entries.items()}

    quick = tuple(f"n_{n}." for n in matmul.QUICK_SIZES)
    assert {name for name in matmul.ENTRIES if name.startswith(quick)} == set(entries)
    assert error["n_1024.cuda_float32"] < 1e-5
    assert error["n_1024.cuda_bfloat16"] > error["n_1024.cuda_float16"]
    if torch.cuda.get_device_capability() >= (8, 0):
        assert error["n_1024.cuda_tf32"] > error["n_1024.cuda_float32"]
