"""The same tiny run on two devices: how its losses are compared."""

from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, device_agreement
from benchmarks.cases.device_agreement import RESOLUTION, largest_difference, losses


def test_the_largest_difference_of_two_runs() -> None:
    """The step at which they lie furthest apart counts, in either direction."""
    assert 0.5 == largest_difference([1.0, 2.0, 3.0], [1.25, 2.5, 2.75])


def test_the_same_device_agrees_with_itself(tmp_path: Path, one_thread: None) -> None:
    """A difference of zero is told as it is, and is in the samples as the resolution."""
    [part] = device_agreement.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    entries = part.measure()

    assert set(device_agreement.ENTRIES) == set(entries)
    entry = entries["cuda_largest_difference"]
    assert {"largest_difference": 0.0} == entry.outcome
    assert {RESOLUTION} == set(entry.samples)
    assert RESOLUTION == entry.settings["differences_below_count_as"]


def test_a_difference_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """A device that is off by a thousandth in one step is off by that in the entry."""
    honest, calls = losses, []

    def off(device: torch.device, seed: int) -> list[float]:
        found = honest(device, seed)
        calls.append(device)
        if len(calls) % 2 == 0:
            found[7] += 1e-3
        return found

    monkeypatch.setattr(device_agreement, "losses", off)
    [part] = device_agreement.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    entry = part.measure()["cuda_largest_difference"]

    assert 1e-3 == pytest.approx(entry.median)


def test_a_run_is_20_steps_from_its_seed(one_thread: None) -> None:
    """Same seed, same losses; another seed, other losses."""
    cpu = torch.device("cpu")

    assert 20 == len(losses(cpu, seed=0))
    assert losses(cpu, seed=0) == losses(cpu, seed=0)
    assert losses(cpu, seed=0) != losses(cpu, seed=1)


def test_without_a_gpu_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """The case has no part then."""
    assert [] == list(device_agreement.parts(Plan(tmp_path, gpu=None)))


@pytest.mark.gpu
def test_cpu_and_gpu_agree(tmp_path: Path) -> None:
    """On any GPU 20 steps of the tiny model end where the CPU's do, almost."""
    [part] = device_agreement.parts(Plan(tmp_path, quick=True))
    entries = part.measure()

    assert set(device_agreement.ENTRIES) == set(entries)
    assert 1e-3 > entries["cuda_largest_difference"].largest
