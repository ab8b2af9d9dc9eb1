"""What tests ask of processes that they or the project have started."""

import signal
import time

import psutil

PATIENCE_S = 60.0


def hear_signals() -> None:
    """In a new process, before its program: no signal is ignored because the tests ignore it."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def gone(*processes: psutil.Process | int) -> bool:
    """Whether all of them end in time, given as such or by number.

    One that nobody has waited for yet has ended too.
    """
    end = time.monotonic() + PATIENCE_S
    while any(map(_runs, processes)):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _runs(process: psutil.Process | int) -> bool:
    try:
        known = psutil.Process(process) if isinstance(process, int) else process
        return known.is_running() and known.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
