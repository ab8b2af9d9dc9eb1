"""Stops a check whose code does not come to an end, where the system has such a timer."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .points import Finding

LIMIT_S = 120.0  # a check takes a few seconds; scripts in the worker have limits of their own


class EndlessError(BaseException):
    """Some code took too long; not even `except Exception` inside it goes on."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("; ".join(finding.symptom for finding in findings))
        self.findings = findings


@contextmanager
def limited() -> Iterator[None]:
    """Let the block run so long and no longer.

    Raises:
        EndlessError: With the line of the learner's at which it was.
    """
    if not _has_timer():
        yield
        return
    other = signal.signal(signal.SIGALRM, _stop)
    remaining = signal.setitimer(signal.ITIMER_REAL, LIMIT_S, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *remaining)
        signal.signal(signal.SIGALRM, other)


@contextmanager
def paused() -> Iterator[None]:
    """Do not count the time of the block."""
    if not _has_timer():
        yield
        return
    remaining = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *remaining)


def _has_timer() -> bool:
    in_main_thread = threading.current_thread() is threading.main_thread()
    return hasattr(signal, "setitimer") and in_main_thread


def _stop(_: int, frame: FrameType | None) -> None:
    place = "in none of your lines"
    while frame:
        path = Path(frame.f_code.co_filename)
        if path.parent == Path.cwd():
            place = f"at line {frame.f_lineno} of {path.name}"
            break
        frame = frame.f_back
    evidence = f"after {LIMIT_S:.0f} s it was still {place}; look for a loop without an exit"
    raise EndlessError(Finding("the code does not come to an end", evidence))
