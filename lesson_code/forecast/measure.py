"""The same step on this machine's CPU, as far as it has the memory and the patience."""

import os
from collections.abc import Callable, Collection
from statistics import median

import torch

from lesson_code.devices import cpu_name
from lesson_code.forecast.refusal import RefusedError
from lesson_code.forecast.report import Measured
from lesson_code.forecast.training import Training, count, said
from lesson_code.timing import time_repeatedly

CPU = torch.device("cpu")
LONGEST_S = 2.0
MEMORY_SHARE = 0.5
FIRST = 2  # one sample alone is too few for batch norm
UNKNOWN_MEMORY = 2 * 2**30  # where the system does not tell


def measure(build: Callable[[], Training], sizes: Collection[int]) -> dict[int, Measured]:
    """Time each batch that takes under two seconds and half of the free memory.

    For larger ones the largest such batch is timed in their place.

    Args:
        build: Makes the training; it runs in float32 on the CPU.
        sizes: Samples of the batches that are wanted.

    Returns:
        What was timed, by the size that was wanted.

    Raises:
        RefusedError: If the step fails, or not even a batch of two fits.
    """
    training = build()
    training.model.to(CPU)
    found: dict[int, Measured] = {}
    free = MEMORY_SHARE * free_memory()
    largest = size = FIRST
    while size <= max(*sizes, FIRST):
        if count(build, size).peak_bytes > free:
            break
        found[size] = _timed(training, size)
        largest = size
        if found[size].seconds * 2 > LONGEST_S:
            break
        size *= 2
    if not found:
        raise RefusedError("no batch fits into half of this machine's free memory; leave --measure")
    for size in sizes:
        if size < largest and size not in found:
            found[size] = _timed(training, size)
    return {size: found.get(size, found[largest]) for size in sizes}


def _timed(training: Training, size: int) -> Measured:
    inputs = [tensor.to(CPU) for tensor in training.of_size(size)]

    def step() -> None:
        training.optimizer.zero_grad()
        training.loss_function(training.model(*inputs[:-1]), inputs[-1]).backward()
        training.optimizer.step()

    try:
        seconds = median(time_repeatedly(step, CPU, repetitions=3))
    except Exception as problem:
        raise RefusedError(f"the step fails on this CPU, {said(problem)}") from problem
    return Measured(f"{cpu_name()}, {torch.get_num_threads()} threads", size, seconds)


def free_memory() -> int:
    """Bytes of this machine's memory that nobody uses."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_MEMORY
