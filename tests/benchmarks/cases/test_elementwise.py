"""An element-wise operation on few and on many numbers, with and without the trip to the GPU."""

from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, elementwise


def test_both_sizes_on_every_device(tmp_path: Path, one_thread: None) -> None:
    """Three ways for each size, where there is a GPU, each with its number of elements."""
    plan = Plan(tmp_path, quick=True, gpu=torch.device("cpu"))

    entries = {
        name: entry for part in elementwise.parts(plan) for name, entry in part.measure().items()
    }

    assert set(elementwise.ENTRIES) == set(entries)
    assert all(entry.smallest > 0 for entry in entries.values())
    assert 10 == entries["small.cuda_with_transfer"].settings["elements"]
    assert entries["large.cpu"].median > entries["small.cpu"].median


def test_without_a_gpu_the_cpu_stands_alone(tmp_path: Path) -> None:
    """The small size gives one entry, on ten numbers in a full run as well."""
    part = next(elementwise.parts(Plan(tmp_path, gpu=None)))

    assert {"small.cpu"} == set(part.measure())


def test_the_way_there_and_back_gives_the_same_numbers(device: torch.device) -> None:
    """With transfer the result lies on the CPU again, and is that of the operation."""
    x = torch.tensor([-1.0, 0.0, 2.5])

    result = elementwise.operation_with_transfer(x, device)

    assert [-1.0, 1.0, 6.0] == result.tolist()
    assert torch.device("cpu") == result.device


@pytest.mark.gpu
def test_the_trip_takes_time(tmp_path: Path) -> None:
    """Sending numbers to the GPU and back takes longer than having them there."""
    plan = Plan(tmp_path, quick=True)
    entries = {
        name: entry for part in elementwise.parts(plan) for name, entry in part.measure().items()
    }

    assert set(elementwise.ENTRIES) == set(entries)
    for size in elementwise.SIZES:
        there, trip = entries[f"{size}.cuda"], entries[f"{size}.cuda_with_transfer"]
        assert trip.median > there.median
