"""What tells that files are as they were, so that what was read of them can be kept."""

from collections.abc import Iterable
from pathlib import Path

State = tuple[tuple[Path, int, int], ...]


def state_of(files: Iterable[Path]) -> State:
    """Each file with when it was changed, in nanoseconds, and its size in bytes.

    Raises:
        OSError: If one of them can't be asked.
    """
    return tuple((path, at.st_mtime_ns, at.st_size) for path in files for at in [path.stat()])
