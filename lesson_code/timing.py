"""Timing a piece of work so that the number means something.

Four rules, each a line below: warm up first, wait for the device before the clock starts,
wait again before it stops, and repeat.
"""

import time
from collections.abc import Callable

import torch

from lesson_code.devices import synchronize


# --8<-- [start:time_repeatedly]
def time_repeatedly(
    work: Callable[[], object],
    device: torch.device,
    repetitions: int = 5,
    warmup: int = 1,
) -> list[float]:
    """Run ``work`` again and again and return the seconds of every repetition.

    Args:
        work: What to time, a function without arguments.
        device: Does the work; it is waited for on both sides.
        repetitions: How many timed runs to make.
        warmup: How many untimed ones come first: they load kernels and fill caches.

    Returns:
        The seconds of each repetition, in order.

    Raises:
        ValueError: If ``repetitions`` is below one or ``warmup`` below zero.
    """
    if repetitions < 1 or warmup < 0:
        raise ValueError(f"needs repetitions >= 1 and warmup >= 0, got {repetitions}, {warmup}")
    for _ in range(warmup):
        work()

    seconds = []
    for _ in range(repetitions):
        synchronize(device)
        start = time.perf_counter()
        work()
        synchronize(device)
        seconds.append(time.perf_counter() - start)
    return seconds


# --8<-- [end:time_repeatedly]
