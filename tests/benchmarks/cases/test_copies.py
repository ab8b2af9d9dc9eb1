"""Copies: every way, the right bytes, and the two bandwidths that other cases divide by."""

from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, copies

CPU = torch.device("cpu")


def test_every_way_is_measured_with_its_bytes(tmp_path: Path) -> None:
    """Between memories a byte counts once; within one it is read and written."""
    plan = Plan(tmp_path, quick=True, gpu=CPU)

    entries = {name: entry for part in copies.parts(plan) for name, entry in part.measure().items()}

    between = {f"mb_1.{way}" for way in copies.WAYS}
    assert {"cpu_copy", "cuda_copy"} | between == set(entries) <= set(copies.ENTRIES)
    assert {1e6} == {entries[name].amount for name in between}
    assert 2 * 10e6 == entries["cpu_copy"].amount
    assert "read and written" == entries["cuda_copy"].settings["bytes_counted"]
    assert all(entry.smallest > 0 for entry in entries.values())


def test_a_full_run_copies_far_more_than_caches_hold(tmp_path: Path) -> None:
    """Without a GPU there is one copy, of half a gigabyte."""
    assert ["cpu_copy"] == [part.name for part in copies.parts(Plan(tmp_path, gpu=None))]
    assert min(copies.WITHIN_MEGABYTES.values()) >= 500


def test_a_copy_arrives(device: torch.device) -> None:
    """What was copied is what was there; a megabyte is a million bytes."""
    source = copies._pinned(copies._numbers(1, CPU), device)
    target = torch.empty_like(source, device=device)

    copies._copy(source, target, device, megabytes=1).work()

    assert torch.equal(source, target.cpu())
    assert 1_000_000 == source.numel() * source.element_size()
    assert source.is_pinned() == (device.type == "cuda")


@pytest.mark.gpu
def test_pinned_memory_is_not_slower(tmp_path: Path) -> None:
    """On any GPU pinned memory is about as fast as pageable memory, or faster."""
    plan = Plan(tmp_path, quick=True)
    entries = {name: entry for part in copies.parts(plan) for name, entry in part.measure().items()}

    quick = {"cpu_copy", "cuda_copy", *(f"mb_1.{way}" for way in copies.WAYS)}
    assert quick == set(entries)
    assert 0.8 * entries["mb_1.pinned_to_cuda"].median <= (entries["mb_1.pageable_to_cuda"].median)
