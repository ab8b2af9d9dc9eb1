"""Grades what learners handed in, again and by itself: a report can be forged."""

import csv
import io
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from graders.door import SEEDS
from graders.hand_in import digest
from graders.outcome import Outcome, printable
from graders.process import CheckerError, examine
from graders.report import by_todo, score
from graders.reported import compared, reports_in
from graders.submissions import CollectError, Submission, learners_in, submission
from graders.units import UNITS, Unit

COLUMNS = (
    *("learner", "unit", "todo", "title", "state", "says", "seed"),
    *("sha256", "same_as", "report"),
)
FORMULA = ("=", "+", "-", "@", "\t")  # how a cell begins that a spreadsheet would compute

Examine = Callable[..., Iterator[Outcome]]


@dataclass(frozen=True)
class Graded:
    """What came of one answer.

    Attributes:
        handed_in: Whether there was anything.
        outcomes: One for each TODO; all wrong if no check could run.
        problem: Why nothing could be graded; empty if something was.
        sha256: Of what was graded.
        report: Whether the learner's own report says the same; empty if there is none.
        same_as: Who handed in the same bytes.
    """

    learner: str
    unit: Unit
    handed_in: bool
    outcomes: tuple[Outcome, ...] = ()
    problem: str = ""
    sha256: str = ""
    report: str = ""
    same_as: tuple[str, ...] = ()


def collect(
    folder: Path, table: Path | None = None, seed: int | None = None, ask: Examine = examine
) -> int:
    """Grade every answer below a folder, print who is how far, and perhaps write a table.

    Args:
        folder: With a folder for each learner, or with files that begin with a learner's name.
        table: Where to write the table, as CSV.
        seed: For the cases that checks draw; the same for everybody, by default another each time.
        ask: What grades one answer.

    Returns:
        0 once everything was graded, whatever came of it; 2 if that can't be done.
    """
    if seed is None:
        seed = random.SystemRandom().randrange(SEEDS)
    try:
        if table and (table.is_dir() or not table.parent.is_dir()):
            raise CollectError(f"can't write {table}; name a file in a folder that exists")
        found = graded(folder, seed, ask)
        print(text_of(found))
        print(f"\nThe same cases again: --seed {seed}")
        if table:
            write(found, table)
    except CollectError as problem:
        print(f"error: {printable(str(problem))}", file=sys.stderr)
        return 2
    return 0


def graded(folder: Path, seed: int, ask: Examine) -> list[Graded]:
    """What comes of each answer to each unit that somebody handed in.

    Raises:
        CollectError: If there is nothing to grade.
    """
    found = []
    learners = learners_in(folder)
    units = [unit for unit in UNITS.values() if any(unit.file in one.found for one in learners)]
    for learner in learners:
        reports = reports_in(learner.reports)
        for unit in units:
            print(f"{printable(learner.name)}: {unit.name}", file=sys.stderr, flush=True)
            one = grade(submission(learner, unit), seed, ask)
            said = compared(reports.get(unit.name), one.sha256, one.outcomes)
            found.append(replace(one, report=said))
    return [replace(one, same_as=_same_as(one, found)) for one in found]


def grade(answer: Submission, seed: int, ask: Examine) -> Graded:
    """What comes of one answer: of a copy, in a process of its own that is confined to it."""
    unit = answer.unit
    nothing = Graded(answer.learner, unit, bool(answer.files or answer.refused))
    if not answer.files:
        return replace(nothing, problem=answer.problem)
    with TemporaryDirectory(prefix="graders-", ignore_cleanup_errors=True) as made:
        home = Path(made).resolve()
        try:
            for name, path in answer.files.items():
                shutil.copyfile(path, home / name)
        except OSError as problem:
            return replace(nothing, problem=f"{unit.file} can't be read: {problem.strerror}")
        hand_out(unit, home)
        path = home if unit.folder else home / unit.file
        sha256 = digest(path, unit.files)
        try:
            outcomes = tuple(by_todo(ask(unit.name, path, seed, home=home)))
        except CheckerError as problem:
            wrong = tuple(problem.outcomes(seed))
            return replace(nothing, outcomes=wrong, problem=str(problem), sha256=sha256)
        return replace(nothing, outcomes=outcomes, sha256=sha256)


def hand_out(unit: Unit, home: Path) -> None:
    """Put beside an answer what its author had got with the exercise, as the project has it."""
    if unit.folder:
        from lesson_code.foundations.lab.layout import GIVEN, LAB, digits

        files = {name: (LAB / name).read_bytes() for name in GIVEN} | digits()
        for name, content in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(content)


def _same_as(one: Graded, all_of_them: list[Graded]) -> tuple[str, ...]:
    return tuple(
        other.learner
        for other in all_of_them
        if one.sha256
        and (other.unit, other.sha256) == (one.unit, one.sha256)
        and other.learner != one.learner
    )


def text_of(found: list[Graded]) -> str:
    """A line for each learner and a column for each unit, and below what needs a sentence."""
    units = list(dict.fromkeys(one.unit.name for one in found))
    rows = [["learner", *units]]
    for learner in dict.fromkeys(one.learner for one in found):
        own = {one.unit.name: one for one in found if one.learner == learner}
        rows.append([printable(learner), *(cell(own[unit]) for unit in units)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    said = notes(found)
    return "\n".join([*lines, "", *said] if said else lines)


def cell(one: Graded) -> str:
    """How many passed of those that could be judged, such as ``"3/6"``."""
    if one.problem:
        return "not graded" if one.handed_in else "–"
    passed, judged = score(one.outcomes)
    return f"{passed}/{judged}"


def notes(found: list[Graded]) -> list[str]:
    """What a number can't say.

    That is which TODOs did not pass, what was not graded, which reports differ, which files are
    equal, and, once for all learners, what this machine can't judge.
    """
    said = []
    for one in found:
        place = f"{printable(one.learner)}, {one.unit.name}"
        if one.handed_in and one.problem:
            said.append(f"{place}: not graded: {printable(one.problem)}")
        left = {state: todos(one, state) for state in ("wrong", "not done yet")}
        if not one.problem and any(left.values()):
            states = (f"{state} {', '.join(of)}" for state, of in left.items() if of)
            said.append(f"{place}: {'; '.join(states)}")
        if one.report.startswith("differs"):
            said.append(f"{place}: the learner's report {printable(one.report)}")
        if one.same_as:
            said.append(f"{place}: the same bytes as {printable(', '.join(one.same_as))}")
    unjudged: dict[str, dict[str, None]] = {}
    for one in found:
        for todo in todos(one, "cannot be judged here"):
            unjudged.setdefault(one.unit.name, {})[todo] = None
    return said + [
        f"{unit}: cannot be judged here: {', '.join(of)}" for unit, of in unjudged.items()
    ]


def todos(one: Graded, state: str) -> list[str]:
    """The numbers of the TODOs that are in a state, each once."""
    return list(dict.fromkeys(o.todo for o in one.outcomes if o.state == state))


def write(found: list[Graded], table: Path) -> None:
    """A row for each learner, unit and TODO, or for an answer that was not graded.

    Raises:
        CollectError: If that is not possible; the file then is as it was.
    """
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(COLUMNS)
    for one in found:
        for row in rows_of(one):
            rows.writerow([shown(row.get(column, "")) for column in COLUMNS])
    new = table.with_name(f".{table.name}.new")
    try:
        new.write_text(text.getvalue(), encoding="utf-8", newline="")
        new.replace(table)
    except OSError as problem:
        new.unlink(missing_ok=True)
        raise CollectError(f"can't write {table}: {problem.strerror}; name another") from None


def rows_of(one: Graded) -> Iterator[dict[str, str]]:
    """The rows of one answer; what nobody handed in is not done yet."""
    same = {"learner": one.learner, "unit": one.unit.name, "sha256": one.sha256}
    same |= {"same_as": "; ".join(one.same_as), "report": one.report}
    if not one.outcomes:
        yield same | {"state": "wrong" if one.handed_in else "not done yet", "says": one.problem}
    for outcome in one.outcomes:
        own = {"todo": outcome.todo, "title": outcome.title, "state": outcome.state}
        yield same | own | {"says": outcome.says, "seed": str(outcome.seed)}


def shown(text: str) -> str:
    """The same on one line, with an apostrophe before what a spreadsheet would compute."""
    text = printable(text)
    return f"'{text}" if text.startswith(FORMULA) else text
