"""The loader with more and more workers."""

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.utils.data import Subset

from benchmarks.cases import Plan, loader

# From Python 3.12 on, forking says so where threads run. The workers, like everybody's, use none.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


def test_no_machine_is_asked_for_more_workers_than_cores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two cores take 0, 1 and 2 workers, sixteen all of them, and a quick run the first two."""
    counts = {}
    for cores in (2, 16):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        counts[cores] = loader.worker_counts(Plan(tmp_path, gpu=None))

    assert {2: [0, 1, 2], 16: [0, 1, 2, 4, 8]} == counts
    assert [0, 1] == loader.worker_counts(Plan(tmp_path, quick=True, gpu=None))


def test_no_worker_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The loader with workers reads the same images as the one without, and cleans up."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    [part] = loader.parts(Plan(tmp_path, quick=True, gpu=None))
    others = set(multiprocessing.active_children())

    entries = part.measure()

    assert ["workers_0", "workers_1"] == list(entries)
    assert {6_000} == {entry.amount for entry in entries.values()}
    assert {1} == {entry.loops for entry in entries.values()}
    assert not set(multiprocessing.active_children()) - others


def test_the_warm_up_ends_when_the_workers_have_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One batch is read before the clock starts; each sample is a whole pass."""
    passes: list[list[int]] = []

    class Batches:
        def __iter__(self) -> Iterator[int]:
            passes.append([])
            for batch in range(4):
                passes[-1].append(batch)
                yield batch

    monkeypatch.setattr(loader, "_loader", lambda *_: Batches())
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    [part] = loader.parts(Plan(tmp_path, quick=True, gpu=None))

    part.measure()

    assert [[0], [0]] == passes[:2]  # two loaders are compared
    assert 4 * [[0, 1, 2, 3]] == passes[2:]


def test_training_is_compared_with_every_way_of_copying(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, one_thread: None
) -> None:
    """Pinned or not, waited for or not: the same training, the same loss, four entries."""
    few = Subset(loader.training_images(Plan(tmp_path, quick=True)), range(640))
    monkeypatch.setattr(loader, "training_images", lambda _: few)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    plan = Plan(tmp_path, quick=True, gpu=torch.device("cpu"))
    _, part = loader.parts(plan)

    entries = part.measure()

    assert list(loader.COPIES) == list(entries)
    assert {(False, False), (False, True), (True, False), (True, True)} == {
        (entry.settings["pin_memory"], entry.settings["non_blocking"]) for entry in entries.values()
    }
    assert 1 == len({round(entry.loss, 6) for entry in entries.values()})


@pytest.mark.gpu
def test_pinned_batches_lie_in_pinned_memory(tmp_path: Path) -> None:
    """What the settings say is what the loader does."""
    dataset = loader.training_images(Plan(tmp_path, quick=True))

    images, _ = next(iter(loader._loader(dataset, workers=0, pinned=True)))

    assert images.is_pinned()
