"""Writing files so that nobody, not even a second build at the same time, meets half of one."""

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> Path:
    """Put ``content`` into ``path``, whole or not at all; text is written as UTF-8.

    Returns:
        The path.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        return partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
