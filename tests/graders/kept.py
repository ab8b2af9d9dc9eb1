"""Answers that are kept as differences to the solution, and what the checks say of them.

`tests/graders/answers/UNIT.toml` has a table for each answer:

    why      in one sentence what is different, and why somebody would write it
    fails    TODOs that must not pass, such as ["1.2"]; all others must, and [] is a right answer
    says     a part of what the learner is told; a right answer has none
    advises  (perhaps) a part of an advice; a right answer without this key gets no advice
    old, new lines of the solution, or a part of one, and what is in their place
    change   tables of `old` and `new` in the place of these two, where several places differ
"""

import re
import sys
import tempfile
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from graders.answers import ANSWER, load
from graders.blanks import emptied, filled
from graders.checks import checks_in, unit
from graders.judging import judge
from graders.outcome import Outcome
from graders.report import by_todo
from graders.units import UNITS
from lesson_code.data import lay_out_subset
from lesson_code.devices import one_thread
from lesson_code.foundations.lab import layout
from lesson_code.lab.__main__ import FILES
from lesson_code.lab.todos import stub
from tests.building import REPOSITORY

FOLDER = REPOSITORY / "tests/graders/answers"
LAB = REPOSITORY / "lesson_code/lab"
SOURCES = {f"lab.exercise_{number}": LAB / "solution" / name for number, name in FILES.items()}
SOURCES |= {
    f"foundations.step_{step}": layout.LAB / name for step, name in enumerate(layout.WRITTEN, 2)
}
# Checks that train or time for seconds. Of kept answers only one is asked, if its TODO should fail.
SLOW = {"prints_losses", "prints_lines"}
LEARNS = ("learns", "3.11")


class KeptAnswerError(ValueError):
    """A table that can't be used; the message says which, and what is wrong with it."""


@dataclass(frozen=True)
class KeptAnswer:
    """One table.

    Attributes:
        changes: Pairs of what the solution has and what is in its place.
    """

    unit: str
    name: str
    why: str
    fails: frozenset[str]
    says: str
    advises: str
    changes: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.unit}-{self.name}"

    def text(self) -> str:
        """The whole answer.

        Raises:
            KeptAnswerError: If what it replaces is not in the solution exactly once.
        """
        return changed(filled(SOURCES[self.unit].read_text(encoding="utf-8")), self)

    def write(self, folder: Path) -> Path:
        """The whole answer as a file, or in the folder that its checks look at."""
        return lay_out(self.unit, self.text(), folder, self.name)

    def slow(self) -> set[str]:
        """The slow checks that need not be asked."""
        name, todo = LEARNS
        return SLOW if todo in self.fails else {*SLOW, name}

    def load(self, folder: Path) -> ModuleType:
        """The whole answer as a module."""
        try:
            return load(self.write(folder))
        finally:
            sys.modules.pop(ANSWER, None)


def lay_out(of: str, text: str, folder: Path, name: str = "answer") -> Path:
    """Write an answer as a learner has it.

    Returns:
        What is graded: the file, or a folder in which all else is solved.
    """
    if of not in UNITS or not UNITS[of].folder:
        path = folder / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return path
    given = layout.given()
    for script in layout.WRITTEN:
        given[script] = filled((layout.LAB / script).read_text(encoding="utf-8")).encode()
    for note in layout.NOTES:
        template = (layout.LAB / note).read_text(encoding="utf-8")
        given[note] = re.sub(r"<[^!][^>]*>", "as it was", template).encode()
    for script, content in {**given, SOURCES[of].name: text.encode()}.items():
        (folder / script).write_bytes(content)
    if not (folder / "digits").exists():
        (folder / "digits").symlink_to(digits().name)
    return folder


@cache
def digits() -> tempfile.TemporaryDirectory[str]:
    """The digits of the foundations' lab, in a folder that is gone at the end."""
    folder = tempfile.TemporaryDirectory(prefix="digits-")
    lay_out_subset(Path(folder.name))
    return folder


def kept(of: str = "") -> list[KeptAnswer]:
    """All kept answers, or those of one unit.

    Raises:
        KeptAnswerError: If a table is not as it should be.
    """
    files = sorted(FOLDER.glob(f"{of or '*'}.toml"))
    return [answer for path in files for answer in answers_in(path)]


def kept_answer(of: str, name: str) -> KeptAnswer:
    """One of a unit, by its name."""
    [found] = [answer for answer in kept(of) if answer.name == name]
    return found


def answers_in(path: Path) -> Iterator[KeptAnswer]:
    """The answers of a file, in order.

    Raises:
        KeptAnswerError: If a table is not as it should be.
    """
    if path.stem not in SOURCES:
        raise KeptAnswerError(f"{path.name}: {path.stem!r} is not a unit; use one of SOURCES")
    for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        problem = _problem(table)
        if problem:
            raise KeptAnswerError(f"{path.name}, [{name}]: {problem}")
        places = table.get("change", [table])
        yield KeptAnswer(
            path.stem,
            name,
            table["why"],
            frozenset(table["fails"]),
            table.get("says", ""),
            table.get("advises", ""),
            tuple((place["old"], place["new"]) for place in places),
        )


def _problem(table: dict[str, Any]) -> str:
    """What is wrong with a table; empty if nothing is."""
    places = table.get("change", [table])
    own = {"change"} if "change" in table else {"old", "new"}
    needed = {"why", "fails", *own, *({"says"} if table.get("fails") else ())}
    keys = table.keys() - {"advises"}
    if needed != keys:
        lacks, strange = sorted(needed - keys), sorted(keys - needed)
        return f"the keys {lacks} are missing and {strange} are too many"
    if any({"old", "new"} != place.keys() for place in places if place is not table):
        return "each change has the keys 'old' and 'new'"
    if any(place["old"] == place["new"] for place in places):
        return "a change has the same 'old' and 'new'"
    return ""


def changed(solution: str, answer: KeptAnswer) -> str:
    """A solution with what an answer has in its place.

    Raises:
        KeptAnswerError: If one of its places is not there exactly once, or two overlap.
    """
    places = []
    for old, new in answer.changes:
        if solution.count(old) != 1:
            raise KeptAnswerError(f"{answer}: the solution has {solution.count(old)} of {old!r}")
        places.append((solution.index(old), old, new))
    end, text = len(solution), ""
    for start, old, new in sorted(places, reverse=True):
        if start + len(old) > end:
            raise KeptAnswerError(f"{answer}: {old!r} overlaps what follows; make them one change")
        text = f"{new}{solution[start + len(old) : end]}{text}"
        end = start
    return solution[:end] + text


def starter(of: str) -> str:
    """What a learner of the lab gets."""
    return emptied(SOURCES[of].read_text(encoding="utf-8"), stub)


def outcomes(of: str, path: Path, seed: int = 0, without: Collection[str] = ()) -> list[Outcome]:
    """What the checks of a unit say of an answer, in this process, without deadlines.

    Args:
        of: The unit.
        path: The answer's file or folder.
        seed: For the cases that are drawn.
        without: Checks that are left out, by name.
    """
    module = unit(of)
    checks = [check for check in checks_in(module) if check.run.__name__ not in without]
    try:
        with one_thread():
            answer = getattr(module, "opened", load)(path)
            return list(by_todo(judge(check, answer, path, seed) for check in checks))
    finally:
        sys.modules.pop(ANSWER, None)
