"""The last line of `--json`: which file was graded, by what, and how far it got."""

import hashlib
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from graders.outcome import Outcome
from graders.report import score

VERSION = "0.1.0"  # of this project; learners have it without its metadata


@dataclass(frozen=True)
class HandIn:
    """What a learner hands in beside the file. Anybody can write one: it proves nothing alone.

    Attributes:
        unit: What was graded, such as ``"lab.exercise_1"``.
        file: The name of the learner's file or folder.
        sha256: Of what was graded, as ``digest`` computes it.
        seed: What the checks' cases were drawn with.
        passed: How many of its lines passed.
        of: How many could be judged where it was graded.
        versions: Of ``python``, ``torch`` and ``graders``; None for what is not installed.
    """

    unit: str
    file: str
    sha256: str
    seed: int
    passed: int
    of: int
    versions: dict[str, str | None]


def hand_in(unit: str, path: Path, sha256: str, outcomes: list[Outcome], seed: int) -> HandIn:
    """The line for what was graded; its digest was taken before anything of it ran."""
    passed, of = score(outcomes)
    return HandIn(unit, path.name, sha256, seed, passed, of, versions())


def digest(path: Path, files: tuple[str, ...] = ()) -> str:
    """The SHA-256 of a file, or of what ``sha256sum`` prints for those files that a folder has.

    Args:
        path: The file, or the folder.
        files: Names in the folder.

    Raises:
        OSError: If a file can't be read.
    """
    if not path.is_dir():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    names = sorted(name for name in files if (path / name).is_file())
    lines = "".join(f"{digest(path / name)}  {name}\n" for name in names)
    return hashlib.sha256(lines.encode()).hexdigest()


def versions() -> dict[str, str | None]:
    """What decides besides the file what a check says."""
    try:
        torch = metadata.version("torch")  # importing it takes seconds
    except metadata.PackageNotFoundError:
        torch = None
    return {"python": platform.python_version(), "torch": torch, "graders": VERSION}
