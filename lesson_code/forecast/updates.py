"""The lesson's step, counted with the update of a GPU and with that of a CPU."""

import torch
from torch import nn

from lesson_code.forecast.counter import count_step
from lesson_code.models import MNISTClassifier


# --8<-- [start:operations]
def operations(foreach: bool) -> int:
    """Operations of a step whose optimizer updates all tensors at once, or one by one."""
    model = MNISTClassifier()
    optimizer = torch.optim.Adam(model.parameters(), foreach=foreach)
    batch = torch.empty(64, 1, 28, 28), torch.zeros(64, dtype=torch.int64)
    return count_step(model, optimizer, nn.CrossEntropyLoss(), batch).operations


# --8<-- [end:operations]


def print_operations() -> dict[str, int]:
    """How many there are by each way, which PyTorch takes by default on a GPU and on a CPU."""
    counts = {"GPU": operations(foreach=True), "CPU": operations(foreach=False)}
    for device, count in counts.items():
        print(f"updated as on a {device}: {count} operations")
    return counts
