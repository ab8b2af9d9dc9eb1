"""Ends all that a learner's code has started, even what left its parent and its session."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

LOOK_S = 0.05
PR_SET_CHILD_SUBREAPER = 36  # from linux/prctl.h


def keep_house() -> None:
    """Fork: return in the new process, and in this one wait until it is to end.

    That is when it ends by itself, when SIGTERM comes, or when the process that started us has
    ended. Then everything goes that it has started, and this process.
    """
    adopt_orphans()
    asker = os.getppid()
    worker = os.fork()
    if not worker:
        return
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: ending.append(worker))
    while os.waitpid(worker, os.WNOHANG) == (0, 0):
        if ending or os.getppid() != asker:
            os.kill(worker, signal.SIGKILL)
        time.sleep(LOOK_S)
    while orphans := children():
        for orphan in orphans:
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)  # now its own children are ours
    os.killpg(0, signal.SIGKILL)  # where orphans do not come to us, and at last this process


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own, where the system can: on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """The processes whose parent is this one; none where the system has no /proc."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            fields = status.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(status.parent.name))
    return found
