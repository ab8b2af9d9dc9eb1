"""Building the site as people do: in a process of its own, from a repository's root."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

REPOSITORY = Path(__file__).parents[1]
# The browser is told where this is. It names no port, so that the servers of all workers can serve
# one build; and a name that ends so is as trustworthy to a browser as the machine's own address.
HOST = "lesson.localhost"
CREDITED = ("LICENSE", "LICENSE-TEXT", "package-lock.json")  # files that the credits read
SAID = ".said"


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


def copy_all(to: Path) -> None:
    """Copy what the site is built from into the folder ``to``."""
    for room in ("docs", "lesson_code", "graders", "lesson_site", "benchmarks", "results"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / room, to / room, symlinks=True, ignore=skipped)
    for file in ("mkdocs.yml", *CREDITED):
        shutil.copy(REPOSITORY / file, to)


def finish(site: Path, at: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Run the post-build pass over ``site``."""
    return run("lesson_site", "finish", str(site), at=at)


def complaint(said: str) -> str:
    """What MkDocs warns of, each with the lines that belong to it; else its last line."""
    found = re.findall(r"^(?:WARNING|ERROR) .*(?:\n[ \t]+.*)*", said, re.MULTILINE)
    return "\n".join(found) or said.strip().splitlines()[-1]


def real_site(to: Path) -> None:
    """Build the real site strictly into ``to``, and finish it; ``to``.said is what was said."""
    built = build(to, address=f"http://{HOST}/")
    to.with_suffix(SAID).write_text(built.stderr + built.stdout, encoding="utf-8")
    assert not built.returncode, complaint(built.stderr)
    finished = finish(to)
    assert not finished.returncode, finished.stderr


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run that all of its workers see."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def once(path: Path, make: Callable[[Path], object]) -> Path:
    """``path`` as ``make`` fills it, made by the worker that needs it first; the others wait."""
    with FileLock(f"{path}.lock"):
        if not path.exists():
            unfinished = path.with_name(f"{path.name}.unfinished")
            make(unfinished)
            unfinished.rename(path)
    return path
