"""Work done in forked processes, each of which is ended if it takes too long."""

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn, TypeVar

Task = TypeVar("Task")

PROCESSOR_S, CLOCK_S = 20, 120.0
LOOK_S = 0.01


def forked(
    tasks: Iterable[Task], do: Callable[[Task], int], jobs: int
) -> Iterator[tuple[Task, int]]:
    """What each task ends with, in the order in which that is known; a signal is below zero.

    Args:
        tasks: What is to be done.
        do: Does one in a process of its own, and gives the code with which that ends.
        jobs: How many are done at a time.
    """
    running: dict[int, tuple[Task, float]] = {}
    for task in tasks:
        while len(running) >= jobs:
            yield _ended(running)
        child = os.fork()
        if not child:
            _be(do, task)
        running[child] = task, time.monotonic()
    while running:
        yield _ended(running)


def _be(do: Callable[[Task], int], task: Task) -> NoReturn:
    """Do a task, silently, and end this process."""
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        os._exit(do(task))
    finally:
        os._exit(1)


def _ended(running: dict[int, tuple[Task, float]]) -> tuple[Task, int]:
    """Wait for one to end, or end one that takes too long."""
    while True:
        for child, (task, since) in running.items():
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and time.monotonic() - since > CLOCK_S:
                os.kill(child, signal.SIGKILL)
                ended, status = os.waitpid(child, 0)
            if ended:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)  # whatever it has started
                del running[child]
                return task, os.waitstatus_to_exitcode(status)
        time.sleep(LOOK_S)


def progress(done: int, count: int) -> None:
    """Say how far it is, where somebody looks on."""
    if sys.stderr.isatty():
        print(f"\r{done} of {count}", end="", file=sys.stderr, flush=True)
