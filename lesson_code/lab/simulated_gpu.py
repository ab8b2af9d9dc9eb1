"""A GPU that is not there: so much memory, so much time, and a record of how it was treated."""

import sys
from collections.abc import Callable

import torch

CALLS = 200  # more than any search needs

FULL_AT = 64  # the batch that keeps the whole device busy


# --8<-- [start:modelled_seconds]
def modelled_seconds(batch_size: int) -> float:
    """What a step takes; beyond 64 samples, more for each of them."""
    seconds = 0.010 + 0.0005 * batch_size
    return seconds * 1.5 * batch_size / FULL_AT if batch_size > FULL_AT else seconds


# --8<-- [end:modelled_seconds]


class SimulatedGPU:
    """A training step on a device whose memory holds batches up to a size that it keeps secret.

    Attributes:
        tried: The batch sizes that it was called with, in order.
        called_while_handling: Whether a call came while an exception was being handled. That
            exception keeps the failed step's tensors alive, so on a real GPU there is less room.
    """

    def __init__(
        self, largest_batch: int, seconds: Callable[[int], float] = modelled_seconds
    ) -> None:
        self._largest_batch = largest_batch
        self._seconds = seconds
        self.tried: list[int] = []
        self.called_while_handling = False

    def __call__(self, batch_size: int) -> float:
        """Run a step, and say how many seconds it took.

        Raises:
            ValueError: If the batch is empty.
            torch.OutOfMemoryError: If the batch does not fit.
            SystemExit: After 200 calls.
        """
        self.called_while_handling |= sys.exception() is not None
        self.tried.append(batch_size)
        if len(self.tried) > CALLS:
            raise SystemExit(f"the simulated GPU was called more than {CALLS} times")
        if batch_size < 1:
            raise ValueError(f"a batch has at least one sample, not {batch_size}")
        if batch_size > self._largest_batch:
            raise torch.OutOfMemoryError(
                f"CUDA out of memory: a batch of {batch_size} does not fit (simulated)"
            )
        return self._seconds(batch_size)
