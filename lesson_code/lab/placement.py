"""Where the batches of a pinned loader are, and who holds the memory of a step that failed."""

import warnings
import weakref

import torch
from torch.utils.data import DataLoader, TensorDataset


# --8<-- [start:pinned_batch]
def print_pinned_batch() -> None:
    """Ask a loader for pinned memory, and look where its first batch is."""
    dataset = TensorDataset(torch.rand(8, 784), torch.arange(8))
    loader = DataLoader(dataset, batch_size=4, pin_memory=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x, y = next(iter(loader))
    print("device:", x.device)
    print("pinned:", x.is_pinned() and y.is_pinned())
    for warning in caught:
        print("warning:", str(warning.message).partition(",")[0])


# --8<-- [end:pinned_batch]


# --8<-- [start:failed_step]
def print_failed_step() -> None:
    """Run out of memory inside a step, and ask twice whether its tensor is still there."""
    made: list[weakref.ref[torch.Tensor]] = []

    def step() -> None:
        activations = torch.zeros(1_000_000)
        made.append(weakref.ref(activations))
        raise torch.OutOfMemoryError("CUDA out of memory")

    failed = False
    try:
        step()
    except torch.OutOfMemoryError:
        failed = True
        print("inside except:", "still held" if made[0]() is not None else "gone")
    if failed:
        print("after except: ", "still held" if made[0]() is not None else "gone")


# --8<-- [end:failed_step]
