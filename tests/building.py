"""Building the site as people do: in a process of its own, from a repository's root."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def run(*arguments: str, at: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python module with ``at`` as the current folder."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", **variables}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=at,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def build(
    to: Path, at: Path = REPOSITORY, address: str = "http://127.0.0.1:8000/"
) -> subprocess.CompletedProcess[str]:
    """Build the site of the repository ``at`` strictly into the folder ``to``."""
    return run("mkdocs", "build", "--strict", "-d", str(to), at=at, SITE_URL=address)


def finish(site: Path, at: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Run the post-build pass over ``site``."""
    return run("lesson_site", "finish", str(site), at=at)
