"""What kept losses hold: nothing after backward, everything without it."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lesson_code.lab.kept_graphs import BATCHES, WAYS, bytes_kept, print_bytes_kept

# x, the ReLU's output, the log-probabilities, the labels and the sum of their weights
PER_BATCH = 4 * 32 * 64 + 4 * 32 * 256 + 4 * 32 * 10 + 8 * 32 + 4


@pytest.mark.parametrize(
    ("situation", "way", "expected"),
    [
        ("training", "append(loss)", 0),
        ("training", "append(loss), retain_graph", BATCHES * PER_BATCH),
        ("validation, gradients on", "append(loss)", BATCHES * PER_BATCH),
        ("validation, gradients on", "total += loss", BATCHES * PER_BATCH),
        ("validation, gradients on", "append(loss.detach())", 0),
        ("validation under no_grad", "append(loss)", 0),
    ],
)
def test_only_graphs_that_were_not_freed_hold_memory(
    situation: str, way: str, expected: int
) -> None:
    """Bytes of 20 batches, each storage counted once."""
    assert expected == bytes_kept(**WAYS[situation][way])


def test_tensors_that_share_a_storage_are_counted_once() -> None:
    """Added up tensor by tensor, a batch saves 76,548 bytes, since two pairs share a storage."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    parameters = {parameter.data_ptr() for parameter in model.parameters()}
    sizes: dict[str, int] = {"tensors": 0}
    storages: dict[int, int] = {}

    def count(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.data_ptr() not in parameters:
            sizes["tensors"] += tensor.nbytes
            storages[tensor.data_ptr()] = tensor.nbytes
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        cross_entropy(model(torch.randn(32, 64)), torch.randint(10, (32,)))

    assert 76_548 == sizes["tensors"]
    assert PER_BATCH == sum(storages.values())


def test_the_table_has_every_way(capsys: pytest.CaptureFixture[str]) -> None:
    """Three situations with six ways, and a line for each."""
    found = print_bytes_kept()

    assert {situation: set(ways) for situation, ways in WAYS.items()} == {
        situation: set(ways) for situation, ways in found.items()
    }
    assert 1 + 3 + 6 == len(capsys.readouterr().out.splitlines())
