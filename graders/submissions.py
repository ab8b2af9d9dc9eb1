"""What learners handed in: a folder for each, or files whose names begin with the learner's."""

import os
import stat
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from graders.units import UNITS, Unit

LARGEST = 1_000_000  # bytes of a file that somebody wrote by hand
MOST = 10_000  # entries that we look at for one learner
BESIDE = (".py", ".md", ".json")  # what goes along with an answer that lies in a folder
SKIPPED = ("venv", "node_modules", "site-packages")
REPORT = ".json"


class CollectError(Exception):
    """Why nothing can be collected, in one sentence."""


@dataclass
class Learner:
    """What somebody handed in.

    Attributes:
        name: Of the folder, or what is before the file's name.
        found: Where files lie, by the name that a unit gives them.
        reports: What learners' own graders wrote, as JSON.
        problem: Why this learner's folder can't be looked at; empty if it can.
    """

    name: str
    found: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))
    reports: list[Path] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True)
class Submission:
    """An answer to one unit.

    Attributes:
        files: What is graded, and what lies beside it: names, and where they are.
        problem: Why it can't be graded; empty if it can.
        refused: Whether there is something, which is not fit to be graded.
    """

    learner: str
    unit: Unit
    files: dict[str, Path]
    problem: str = ""
    refused: bool = False


def learners_in(folder: Path) -> list[Learner]:
    """Who handed in something, by name.

    Raises:
        CollectError: If nobody did, or the folder can't be read.
    """
    if not folder.is_dir():
        raise CollectError(f"{folder} is not a folder; name the one with what learners handed in")
    known: dict[str, Learner] = {}
    try:
        entries = sorted(folder.iterdir())
    except OSError as problem:
        raise CollectError(f"{folder} can't be read: {problem.strerror}; name another") from None
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            _look_into(entry, known.setdefault(entry.name, Learner(entry.name)))
        elif match := _learner_and_file(entry.name):
            name, file = match
            known.setdefault(name, Learner(name)).found[file].append(entry)
    for entry in entries:
        if entry.suffix == REPORT and not entry.is_dir():
            mine = [name for name in known if entry.name.startswith(name)]
            if mine:
                known[max(mine, key=len)].reports.append(entry)
    answers = {unit.file for unit in UNITS.values()}  # a note beside one is none by itself
    if not any(answers & learner.found.keys() for learner in known.values()):
        example = next(iter(UNITS.values())).file
        hint = f"put a folder for each learner in it, with files such as {example}"
        hint = next((one.problem for one in known.values() if one.problem), hint)
        raise CollectError(f"{folder} has nothing to grade; {hint}")
    return [known[name] for name in sorted(known)]


def _learner_and_file(name: str) -> tuple[str, str] | None:
    for unit in UNITS.values():
        for file in unit.files:
            if name.endswith(file) and (learner := name.removesuffix(file).rstrip(" _-.")):
                return learner, file
    return None


def _look_into(folder: Path, learner: Learner) -> None:
    if folder.is_symlink():
        learner.problem = f"{folder.name} is a link; put the folder itself there"
        return
    wanted = {file for unit in UNITS.values() for file in unit.files}
    seen = 0
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._" and name not in SKIPPED)
        seen += len(files) + len(folders)
        if seen > MOST:
            learner.problem = (
                f"{folder.name} has more than {MOST:,} entries; take out data and tools"
            )
            return
        for name in sorted(files):
            if name in wanted:
                learner.found[name].append(Path(where, name))
            elif name.endswith(REPORT):
                learner.reports.append(Path(where, name))


def submission(learner: Learner, unit: Unit) -> Submission:
    """What a learner handed in for a unit; it may be nothing."""

    def refused(problem: str) -> Submission:
        return Submission(learner.name, unit, {}, problem, refused=True)

    if learner.problem:
        return refused(learner.problem)
    candidates = learner.found.get(unit.file, [])
    if not candidates:
        return Submission(learner.name, unit, {}, f"no {unit.file} was handed in")
    fewest = min(len(path.parts) for path in candidates)  # a copy of the project has solutions
    outermost = [path for path in candidates if len(path.parts) == fewest]
    if len(outermost) > 1:
        return refused(f"{' and '.join(map(str, outermost))} are two answers; leave one")
    main = outermost[0]
    files = {unit.file: main}
    if main.name == unit.file:
        beside = (path for path in main.parent.iterdir() if path.suffix in BESIDE)
        files |= {path.name: path for path in beside if not unfit(path)}
    else:
        handed_in = {name: learner.found[name] for name in unit.files if name in learner.found}
        files |= {name: paths[0] for name, paths in handed_in.items()}
    wrong = [problem for name in unit.files if name in files and (problem := unfit(files[name]))]
    return refused(wrong[0]) if wrong else Submission(learner.name, unit, files)


def unfit(path: Path) -> str:
    """Why a file is not copied, without opening it; empty if it is."""
    try:
        status = path.lstat()
    except OSError as problem:
        return f"{path.name} can't be read: {problem.strerror}"
    if stat.S_ISLNK(status.st_mode):
        return f"{path.name} is a link; hand in the file itself"
    if not stat.S_ISREG(status.st_mode):
        return f"{path.name} is not a file"
    if status.st_size > LARGEST:
        return f"{path.name} has {status.st_size:,} bytes, more than the {LARGEST:,} of any answer"
    return ""
