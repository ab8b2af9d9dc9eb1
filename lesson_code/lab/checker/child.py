"""The process in which an answer runs: one line of JSON for each step, in order.

First the list of checks, then whether the file could be imported, then what each check came to.
Where the system can fork there are two processes: one runs the answer, the other ends it.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # from linux/prctl.h


def main(arguments: list[str]) -> None:
    """Check a file: the exercise, the file's path, and the number of the first check to run."""
    import torch  # here, since PyTorch takes seconds, and a fork comes before

    from lesson_code.lab.checker.loading import AnswerError, load
    from lesson_code.lab.checker.points import checks_of, judge

    exercise, path, first = int(arguments[0]), Path(arguments[1]), int(arguments[2])
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        # What the answer prints must not come between our lines, and it has nothing to read.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        speaker, voice = os.getpid(), out.fileno()
        if hasattr(os, "register_at_fork"):  # what an answer forks keeps nobody listening
            os.register_at_fork(after_in_child=lambda: os.dup2(nowhere, voice))

        def tell(what: object) -> None:
            if os.getpid() != speaker:  # an answer forked, and came back twice
                os._exit(0)
            print(json.dumps(what), file=out, flush=True)

        torch.set_num_threads(1)
        checks = checks_of(exercise)
        tell([[check.todo, check.title] for check in checks])
        try:
            answer = load(path)
        except AnswerError as problem:
            tell(str(problem))
            return
        tell("")
        for check in checks[first:]:
            tell(asdict(judge(check, answer)))


def keep_house() -> None:
    """Fork: return in the new process, and end in this one whatever that one has started.

    It does so when the new process ends, or when whoever asked closes our input, or dies.
    """
    adopt_orphans()
    worker = os.fork()
    if not worker:
        return
    threading.Thread(target=_end_with_input, args=(worker,), daemon=True).start()
    os.waitpid(worker, 0)
    while orphans := children():
        for orphan in orphans:
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)  # now its own children are ours
    os.killpg(0, signal.SIGKILL)  # where orphans do not come to us, and at last this process


def _end_with_input(worker: int) -> None:
    while os.read(0, 1):
        pass
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)


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


if __name__ == "__main__":
    if hasattr(os, "fork"):
        keep_house()
    main(sys.argv[1:])
