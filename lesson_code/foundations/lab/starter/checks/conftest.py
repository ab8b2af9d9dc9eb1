"""What several steps use."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .worker import Worker


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """The process in which scripts run."""
    process = Worker()
    yield process
    process.close()


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A folder for what the scripts write, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        yield Path(folder)
