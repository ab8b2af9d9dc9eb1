"""What kept losses keep alive, counted on the CPU by the tensors that graphs save."""

import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from benchmarks.cases import Plan, kept_losses

HIDDEN = 64
MODEL_BYTES = 100_000


class Saved:
    """A tensor that a graph keeps for its backward pass."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor.detach()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let activations that graphs keep alive stand in for a GPU's counter of allocated memory."""
    alive: weakref.WeakSet[Saved] = weakref.WeakSet()
    readings = []

    def pack(tensor: torch.Tensor) -> Saved:
        saved = Saved(tensor)
        alive.add(saved)
        return saved

    def allocated(_: torch.device) -> int:
        # The first of two readings is taken before the model is made.
        readings.append(MODEL_BYTES if len(readings) % 2 else 0)
        batch, hidden = kept_losses.BATCH_SIZE, kept_losses.HIDDEN
        storages = {
            saved.tensor.untyped_storage().data_ptr(): saved.tensor.untyped_storage().nbytes()
            for saved in alive
            if tuple(saved.tensor.shape) == (batch, hidden)
        }
        return readings[-1] + sum(storages.values())

    monkeypatch.setattr(kept_losses, "HIDDEN", HIDDEN)
    monkeypatch.setattr(kept_losses, "_allocated_bytes", allocated)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor):
        yield


def test_only_losses_with_their_graphs_keep_activations(tmp_path: Path, counted: None) -> None:
    """Two hidden layers of every batch stay alive with the graph; detached or as floats, none."""
    [part] = kept_losses.parts(Plan(tmp_path, quick=True, gpu=torch.device("cpu")))

    entries = part.measure()

    assert set(kept_losses.ENTRIES) == set(entries)
    assert {"bytes"} == {entry.unit for entry in entries.values()}
    per_batch = 2 * kept_losses.BATCH_SIZE * HIDDEN * 4
    assert per_batch == entries["cuda_with_graph_per_batch"].median
    assert MODEL_BYTES + 20 * per_batch == entries["cuda_with_graph"].median
    assert MODEL_BYTES == entries["cuda_detached"].median == entries["cuda_floats"].median


def test_without_a_gpu_nothing_is_counted(tmp_path: Path) -> None:
    """The case has no part then."""
    assert [] == list(kept_losses.parts(Plan(tmp_path, gpu=None)))


@pytest.mark.gpu
def test_graphs_keep_the_hidden_layers_of_every_batch(tmp_path: Path) -> None:
    """On any GPU a kept graph holds two activations of 4 MiB and little else; a float nothing."""
    [part] = kept_losses.parts(Plan(tmp_path, quick=True))
    entries = part.measure()
    held = {name: entry.median for name, entry in entries.items()}

    assert set(kept_losses.ENTRIES) == set(entries)
    assert 8 * 2**20 <= held["cuda_with_graph_per_batch"] <= 10 * 2**20
    assert held["cuda_floats"] <= held["cuda_detached"] <= held["cuda_floats"] + 20 * 1024
    assert held["cuda_with_graph"] >= held["cuda_floats"] + 20 * 8 * 2**20
