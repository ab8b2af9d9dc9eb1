"""The peak tracker: what one training step holds at its fullest moment, and what of.

It asks PyTorch's module memory tracker, which is private and may change; the tests of this module
say what we rely on. It counts tensors, so it needs no GPU, and with fake tensors not even memory.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker

KINDS = {
    "parameters": "Parameter",
    "buffers": "Buffer",
    "gradients": "Gradient",
    "activations": "Activation",
    "optimizer": "Optstate",
    "temporary": "Temp",
    "inputs": "Other",
    "total": "Total",
}


@dataclass(frozen=True)
class PeakMemory:
    """Bytes at the moment when the total was highest."""

    parameters: int
    buffers: int
    gradients: int
    activations: int
    optimizer: int
    temporary: int
    inputs: int
    total: int


class _Tracker(MemTracker):
    """Follows the whole step only; a peak for each module as well would take most of the time."""

    def _update_peak_stats(self, _: object) -> None:
        for device, now in self._curr_mem_snap.items():
            if now["Total"] > self._peak_mem.get(device, 0):
                self._peak_mem[device] = now["Total"]
                self._peak_mem_snap[device] = dict(now)


# --8<-- [start:peak]
def peak_memory(
    step: Callable[[], object],
    model: nn.Module,
    *others: torch.optim.Optimizer | torch.Tensor,
) -> PeakMemory:
    """Run one training step, and read the tracker.

    Args:
        step: One forward and backward pass, and whatever else belongs to the step.
        model: What it trains.
        others: What exists before the step: its optimizer and its batch.
    """
    tracker = _Tracker()  # a new one for each step: it follows one pass only
    tracker.track_external(model, *others)
    with tracker:
        step()
    device = next(model.parameters()).device
    bytes_of = tracker.get_tracker_snapshot("peak")[device]
    return PeakMemory(**{ours: bytes_of[theirs] for ours, theirs in KINDS.items()})


# --8<-- [end:peak]
