"""Ctrl-C before anything runs: PyTorch alone takes seconds to load."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

STOPPED = 130  # what a shell expects of a program that Ctrl-C ended


@contextmanager
def stopped_quietly() -> Iterator[None]:
    """End the program without a traceback if Ctrl-C comes meanwhile."""
    try:
        yield
    except KeyboardInterrupt:
        print("stopped; nothing had begun", file=sys.stderr)
        sys.exit(STOPPED)
