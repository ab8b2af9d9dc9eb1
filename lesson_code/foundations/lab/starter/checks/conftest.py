"""What several steps use."""

import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from .limit import limited, paused
from .worker import Worker


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    """A script may hold up its import."""
    with limited():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """A function may hold up its check."""
    with limited():
        return (yield)


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """The process in which scripts run."""
    process = Worker()
    # It has limits of its own, so that a slow machine may train in peace.
    with patch.object(process, "run", paused()(process.run)):
        yield process
    process.close()


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A folder for what the scripts write, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        yield Path(folder)
