"""One at a time: two runs that write the same files would spoil each other's work."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def only_one(mark: Path) -> Iterator[None]:
    """Keep others from entering with the same mark, for as long as the block runs.

    The system gives the lock back when a process ends, however it does. Where a file system knows
    no locks, everybody may enter.

    Args:
        mark: A file that is there meanwhile; its folder exists.

    Raises:
        BlockingIOError: If somebody else is inside.
        OSError: If the mark can't be written.
    """
    file = mark.open("ab")
    try:
        _lock(file)
        while not _is_there(file, mark):  # who was inside before us took it away
            file.close()
            file = mark.open("ab")
            _lock(file)
        try:
            yield
        finally:
            with suppress(OSError):  # Windows keeps a file that is open, for the next one
                mark.unlink()
    finally:
        file.close()


def _lock(file: BinaryIO) -> None:
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(file)
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # no locks on this file system
        pass


def _lock_on_windows(file: BinaryIO) -> None:
    import msvcrt

    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except PermissionError as problem:
        raise BlockingIOError from problem


def _is_there(file: BinaryIO, mark: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), mark.stat())
    return False
