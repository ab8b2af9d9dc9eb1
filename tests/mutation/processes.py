"""Work done in forked processes, each of which is ended if it takes too long."""

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

Task = TypeVar("Task")

PROCESSOR_S, IDLE_S = 20, 120.0  # of work, and of waiting for something that is no processor
LOOK_S, LOOK_CLOSELY_S = 0.01, 1.0


@dataclass
class _Running(Generic[Task]):
    """A process at work.

    Attributes:
        task: What it does.
        looked: When it was last seen whether it waits.
        idle_s: For how long it was then found waiting, all in all.
    """

    task: Task
    looked: float = field(default_factory=time.monotonic)
    idle_s: float = 0.0

    def waits_too_long(self, child: int) -> bool:
        """Whether it has waited for ever, as far as anybody can tell; not so if it is starved."""
        now = time.monotonic()
        if now - self.looked > LOOK_CLOSELY_S:
            self.idle_s += 0.0 if _wants_a_processor(child) else now - self.looked
            self.looked = now
        return self.idle_s > IDLE_S


def forked(
    tasks: Iterable[Task], do: Callable[[Task], int], jobs: int, processor_s: int = PROCESSOR_S
) -> Iterator[tuple[Task, int]]:
    """What each task ends with, in the order in which that is known; a signal is below zero.

    How busy the machine is changes nothing: time in which a process waits for its turn on a
    processor does not count, where the system tells it, as Linux does.

    Args:
        tasks: What is to be done.
        do: Does one in a process of its own, and gives the code with which that ends.
        jobs: How many are done at a time.
        processor_s: After how many seconds of work one is ended.
    """
    running: dict[int, _Running[Task]] = {}
    for task in tasks:
        while len(running) >= jobs:
            yield _ended(running)
        child = os.fork()
        if not child:
            _be(do, task, processor_s)
        running[child] = _Running(task)
    while running:
        yield _ended(running)


def _be(do: Callable[[Task], int], task: Task, processor_s: int) -> NoReturn:
    """Do a task, silently, and end this process."""
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (processor_s, processor_s))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        silent = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - until the end
        sys.stdout = sys.stderr = silent
        os._exit(do(task))
    finally:
        os._exit(1)


def _ended(running: dict[int, _Running[Task]]) -> tuple[Task, int]:
    """Wait for one to end, or end one that waits too long."""
    while True:
        for child, process in running.items():
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and process.waits_too_long(child):
                os.kill(child, signal.SIGKILL)
                ended, status = os.waitpid(child, 0)
            if ended:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)  # whatever it has started
                del running[child]
                return process.task, os.waitstatus_to_exitcode(status)
        time.sleep(LOOK_S)


def _wants_a_processor(session: int) -> bool:
    """Whether a thread of a session runs, waits for its turn or was stopped by somebody.

    No where the system is silent.
    """
    for stat in Path("/proc").glob("[0-9]*/task/*/stat"):
        with contextlib.suppress(OSError):  # one that has just ended
            state, _, _, of_session, *_ = (
                stat.read_text("utf-8", "replace").rpartition(")")[2].split()
            )
            if int(of_session) == session and state in "RDT":
                return True
    return False


def progress(done: int, count: int) -> None:
    """Say how far it is, where somebody looks on."""
    if sys.stderr.isatty():
        print(f"\r{done} of {count}", end="", file=sys.stderr, flush=True)
