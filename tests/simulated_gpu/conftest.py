"""What is about the simulated GPU runs on it alone: on a real one the job measures the parts."""

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave it out where the GPU is not simulated."""
    simulated = config.pluginmanager.has_plugin("tests.simulated_gpu")
    about_it = collection_path.name in ("test_parts.py", "test_not_carried.py")
    return True if about_it and not simulated else None
