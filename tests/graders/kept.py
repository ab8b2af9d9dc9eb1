"""Answers that are kept as differences to the solution, and what the checks say of them.

`tests/graders/answers/UNIT.toml` has a table for each answer:

    why      in one sentence what is different, and why somebody would write it
    fails    TODOs that must not pass, such as ["1.2"]; all others must, and [] is a right answer
    says     a part of what the learner is told; a right answer has none
    advises  (perhaps) a part of an advice; a right answer without this key gets no advice
    old, new lines of the solution, or a part of one, and what is in their place
    counted  (perhaps) true: what checks run for it counts as tested, as no other test runs it
    blank    (perhaps) the only blank in which `old` is looked for; without `old`, all of it
    change   tables of `old` and `new` in the place of these two, where several places differ
"""

import contextlib
import operator
import re
import runpy
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torchvision import datasets, transforms

from graders.answers import ANSWER, load
from graders.blanks import blanks_of, emptied, filled
from graders.checks import Check, checks_in, unit
from graders.judging import judge
from graders.outcome import Outcome
from graders.report import by_todo
from graders.units import UNITS
from lesson_code.data import lay_out_subset
from lesson_code.devices import one_thread
from lesson_code.foundations.lab import layout
from lesson_code.lab.__main__ import FILES
from lesson_code.lab.todos import stub
from lesson_code.models import MNISTClassifier
from tests.building import REPOSITORY
from tests.graders.reach import CALLED, ELSEWHERE, differing, marked

FOLDER = REPOSITORY / "tests/graders/answers"
FEWEST_LETTERS = 6  # of `says`: less is in nearly every report
LAB = REPOSITORY / "lesson_code/lab"
SOURCES = {f"lab.exercise_{number}": LAB / "solution" / name for number, name in FILES.items()}
SOURCES |= {
    f"foundations.step_{step}": layout.LAB / name for step, name in enumerate(layout.WRITTEN, 2)
}
SOURCES["notebook"] = REPOSITORY / "docs/notebooks/2-3-2-gpu-training.py"
# Checks that train or time for seconds. Of kept answers only one is asked, if its TODO should fail.
SLOW = {"prints_losses", "prints_lines"}
LEARNS = ("learns", "3.11")
# Each takes as long as ten others, and nearly every function of the script is called in it.
STEP_3 = "foundations.step_3"
COSTLY = {
    *("saves_improvements", "ends_with_nonfinite_input", "ends_with_nonfinite_loss"),
    *("ends_with_labels", "ends_with_collapse", "stops_before_training"),
    *("takes_cross_entropy", "shuffles", "keeps_them_apart"),
}


class KeptAnswerError(ValueError):
    """A table that can't be used; the message says which, and what is wrong with it."""


@dataclass(frozen=True)
class KeptAnswer:
    """One table.

    Attributes:
        changes: Pairs of what the solution has and what is in its place.
        blanks: For each of them, the blank in which that is; empty for anywhere.
        counted: Whether it is needed for every shown line of a check to be run by some test.
    """

    unit: str
    name: str
    why: str
    fails: frozenset[str]
    says: str
    advises: str
    changes: tuple[tuple[str, str], ...]
    blanks: tuple[str, ...] = ()
    counted: bool = False

    def __str__(self) -> str:
        return f"{self.unit}-{self.name}"

    @property
    def place(self) -> str:
        """Its table, for somebody who has to change it."""
        return f"{(FOLDER / self.unit).relative_to(REPOSITORY)}.toml, [{self.name}]"

    def text(self) -> str:
        """The whole answer.

        Raises:
            KeptAnswerError: If what it replaces is not in the solution exactly once.
        """
        source = SOURCES[self.unit].read_text(encoding="utf-8")
        elsewhere = []
        blanks = self.blanks or [""] * len(self.changes)
        for change, blank in zip(self.changes, blanks, strict=True):
            if blank:
                try:
                    source = changed_in_blank(source, blank, *change)
                except KeptAnswerError as problem:
                    raise KeptAnswerError(f"{self.place}: {problem}") from None
            else:
                elsewhere.append(change)
        return changed(filled(source), replace(self, changes=tuple(elsewhere)))

    def write(self, folder: Path) -> Path:
        """The whole answer as a file, or in the folder that its checks look at."""
        return lay_out(self.unit, self.text(), folder, self.name)

    def unasked(self) -> set[str]:
        """The checks that need not be asked, by name.

        Those that call no function in which it differs: they pass, as they do for the solution.
        Slow ones, but for the one that should fail; and of a wrong answer to Step 3 that differs in
        blanks alone the costly ones of TODOs that are neither theirs nor in ``fails``.
        """
        name, todo = LEARNS
        slow = SLOW if todo in self.fails else {*SLOW, name}
        source = SOURCES[self.unit].read_text(encoding="utf-8")
        differs = differing(filled(source), self.text())
        if ELSEWHERE in differs:
            return slow
        left = slow | {check for check, called in reach(self.unit).items() if not called & differs}
        todos = {blank.task: blank.name for blank in blanks_of(source)}  # in Step 3 by function
        if not self.fails or self.unit != STEP_3 or not differs <= todos.keys():
            return left
        touched = self.fails | {todos[function] for function in differs}
        known = checks_in(unit(STEP_3))
        return left | (COSTLY - {check.run.__name__ for check in known if check.todo in touched})

    def load(self, folder: Path) -> ModuleType:
        """The whole answer as a module."""
        try:
            return load(self.write(folder))
        finally:
            sys.modules.pop(ANSWER, None)


@cache
def reach(of: str) -> dict[str, frozenset[str]]:
    """For each check of a unit the functions of the solution that it calls.

    Raises:
        KeptAnswerError: If the solution does not pass it.
    """
    found: dict[str, frozenset[str]] = {}
    source = filled(SOURCES[of].read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        path = lay_out(of, marked(source), Path(folder))
        for check in checks_in(unit(of)):
            name = check.run.__name__
            if name in (*SLOW, LEARNS[0]):
                continue
            CALLED.clear()
            [outcome] = asked(of, path, [check])
            found[name] = frozenset(CALLED)
            if outcome.state not in ("passed", "cannot be judged here"):
                raise KeptAnswerError(f"{of}: the solution fails {name}: {outcome.says}")
    return found


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


Digit = tuple[torch.Tensor, int]
FROM_TORCHVISION = datasets.MNIST.__getitem__


@dataclass(frozen=True)
class Made:
    """What torchvision has made so far of the images of one file, by their number.

    Attributes:
        images: As they are in the file, with their labels.
        steps: What is done to an image, in words.
    """

    images: torch.Tensor
    labels: torch.Tensor
    steps: str
    digits: dict[int, Digit] = field(default_factory=dict)


MADE: list[Made] = []


@contextmanager
def remembered_digits() -> Iterator[None]:
    """Let torchvision make a tensor of each image once for all answers, where all make the same."""
    with (
        patch.object(datasets.MNIST, "__getitem__", lambda data, index: _digits(data, [index])[0]),
        patch.object(datasets.MNIST, "__getitems__", _batch, create=True),
    ):
        yield


def _batch(data: datasets.MNIST, indices: Sequence[int]) -> list[Digit]:
    """Several at once, unless an answer's own kind of data set makes something else of each."""
    own = type(data).__getitem__ is not datasets.MNIST.__getitem__
    return [data[index] for index in indices] if own else _digits(data, indices)


def _digits(data: datasets.MNIST, indices: Sequence[int]) -> list[Digit]:
    """What torchvision gives; it is looked up where the data set is as it was the last time."""
    parts = data.data, data.targets, data.transform, data.target_transform
    state = *parts, *(getattr(part, "_version", None) for part in parts)  # counts what is written
    known, made = vars(data).get("remembered", ([], None))
    if len(known) != len(state) or any(map(operator.is_not, known, state)):
        made = _made_of(*parts)
        vars(data)["remembered"] = state, made
    if made is None:
        return [FROM_TORCHVISION(data, index) for index in indices]
    for index in {*map(int, indices)} - made.digits.keys():
        made.digits[index] = FROM_TORCHVISION(data, index)
    images, labels = zip(*(made.digits[int(index)] for index in indices), strict=True)
    return list(zip(torch.stack(images), labels, strict=True))


def _made_of(images: Any, labels: Any, transform: Any, of_labels: Any) -> Made | None:
    """Where to remember what comes of images; None if it may be something else each time."""
    steps = getattr(transform, "transforms", [None])
    fixed = {type(step) for step in steps} <= {transforms.ToTensor, transforms.Normalize}
    if of_labels or not fixed or not all(isinstance(p, torch.Tensor) for p in (images, labels)):
        return None
    same = (m for m in MADE if m.steps == repr(steps) and torch.equal(m.images, images))
    for made in same:
        if torch.equal(made.labels, labels):
            return made
    MADE.append(Made(images.clone(), labels.clone(), repr(steps)))
    return MADE[-1]


COMPILED: dict[tuple[bytes, str], CodeType] = {}


@contextmanager
def remembered_code() -> Iterator[None]:
    """Compile each file of an answer once, however often a check imports or runs it."""

    def compiled(source: bytes, path: str, *_: object, **__: object) -> CodeType:
        if (source, path) not in COMPILED:
            COMPILED[source, path] = compile(source, path, "exec", dont_inherit=True)
        return COMPILED[source, path]

    COMPILED.clear()
    with (
        patch.object(SourceFileLoader, "source_to_code", staticmethod(compiled)),
        patch.object(runpy, "compile", compiled, create=True),
    ):
        yield


@contextmanager
def no_traces() -> Iterator[None]:
    """Take no note of who has asked for a seed: PyTorch keeps all frames for a GPU to come."""
    nobody = SimpleNamespace(format_stack=list)
    with contextlib.ExitStack() as stack:
        for kind in (torch.cuda, torch.xpu, torch.mtia):
            stack.enter_context(patch.object(kind, "traceback", nobody))
        yield


def few_units(model: MNISTClassifier) -> None:
    """The lesson's model with fewer units: of a file nobody asks what it has learned."""
    nn.Module.__init__(model)
    model.flatten, model.relu = nn.Flatten(), nn.ReLU()
    model.fc1, model.fc2, model.fc3 = nn.Linear(784, 16), nn.Linear(16, 8), nn.Linear(8, 10)


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
            tuple((place.get("old", ""), place["new"]) for place in places),
            tuple(place.get("blank", "") for place in places),
            table.get("counted", False),
        )


def _problem(table: dict[str, Any]) -> str:
    """What is wrong with a table; empty if nothing is."""
    places = table.get("change", [table])
    own = {"change"} if "change" in table else _place(table)
    needed = {"why", "fails", *own, *({"says"} if table.get("fails") else ())}
    keys = table.keys() - {"advises", "counted"}
    if needed != keys:
        lacks, strange = sorted(needed - keys), sorted(keys - needed)
        missing = f"the keys {lacks} are missing" if lacks else ""
        more = f"the keys {strange} are too many" if strange else ""
        return " and ".join(filter(None, (missing, more)))
    if table.get("fails") and len(table["says"]) < FEWEST_LETTERS:
        return f"'says' has to be {FEWEST_LETTERS} letters of a report at least"
    if any(_place(place) != place.keys() for place in places if place is not table):
        return "each change has the keys 'old' and 'new'"
    if any(place.get("old") == place["new"] for place in places):
        return "a change has the same 'old' and 'new'"
    return ""


def _place(table: dict[str, Any]) -> set[str]:
    """The keys that say where something is changed, and into what."""
    return {"old", "new", "blank"} & {"new", *table} if "blank" in table else {"old", "new"}


def changed_in_blank(source: str, name: str, old: str, new: str) -> str:
    """An annotated source with something else in a blank; ``old`` is all of it if it is empty.

    Raises:
        KeptAnswerError: If there is not exactly one such place.
    """
    found = [blank for blank in blanks_of(source) if blank.name == name]
    if len(found) != 1:
        raise KeptAnswerError(f"the source has {len(found)} blanks {name!r}")
    [blank] = found
    lines = source.splitlines(keepends=True)
    first = blank.line + len(blank.hints)
    end = first + len(blank.solution)
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    within = "".join(f"{line}\n" for line in blank.solution)
    if old and within.count(old) != 1:
        raise KeptAnswerError(f"blank {name} has {within.count(old)} of {old!r}")
    code = within.replace(old, new) if old else f"{new.rstrip()}\n"
    return "".join([*lines[:first], textwrap.indent(code, indent), *lines[end:]])


def changed(solution: str, answer: KeptAnswer) -> str:
    """A solution with what an answer has in its place.

    Raises:
        KeptAnswerError: If one of its places is not there exactly once, or two overlap.
    """
    places = []
    for old, new in answer.changes:
        if solution.count(old) != 1:
            raise KeptAnswerError(
                f"{answer.place}: the solution has {solution.count(old)} of {old!r}; write as "
                "`old` what it has once"
            )
        places.append((solution.index(old), old, new))
    end, text = len(solution), ""
    for start, old, new in sorted(places, reverse=True):
        if start + len(old) > end:
            raise KeptAnswerError(
                f"{answer.place}: {old!r} overlaps what follows; make them one change"
            )
        text = f"{new}{solution[start + len(old) : end]}{text}"
        end = start
    return solution[:end] + text


def starter(of: str) -> str:
    """What a learner of the lab gets."""
    return emptied(SOURCES[of].read_text(encoding="utf-8"), stub)


def outcomes(of: str, path: Path, seed: int = 0, without: Collection[str] = ()) -> list[Outcome]:
    """What the checks of a unit say of an answer, in this process, without deadlines.

    Of a TODO that is wrong already no more checks are asked: its first sentence is what counts.

    Args:
        of: The unit.
        path: The answer's file or folder.
        seed: For the cases that are drawn.
        without: Checks that are left out, by name.
    """
    checks = [check for check in checks_in(unit(of)) if check.run.__name__ not in without]
    return list(by_todo(asked(of, path, checks, seed)))


def asked(of: str, path: Path, checks: list[Check], seed: int = 0) -> list[Outcome]:
    """What some checks of a unit say of an answer that is opened for them."""
    try:
        with (
            one_thread(),
            no_traces(),
            remembered_digits(),
            remembered_code(),
            patch.object(MNISTClassifier, "__init__", few_units)
            if of == "notebook"
            else contextlib.nullcontext(),
        ):
            answer = getattr(unit(of), "opened", load)(path)
            return list(_judged(checks, answer, path, seed))
    finally:
        sys.modules.pop(ANSWER, None)


def contradiction(answer: KeptAnswer, found: Iterable[Outcome]) -> str:
    """What a table says of its answer and the checks do not, in a sentence; else nothing."""
    found = list(found)
    failed = {o.todo: o.says for o in found if o.state not in ("passed", "cannot be judged here")}
    advice = [text for outcome in found for text in outcome.advice]
    said = "\n".join(f"{todo}: {text}" for todo, text in failed.items()) or "nothing"
    if answer.fails != failed.keys():
        problem = f"fails is {sorted(answer.fails)}, and {sorted(failed)} fail"
    elif answer.fails and not any(answer.says in text for text in failed.values()):
        problem = f"no report has {answer.says!r} in it"
    elif answer.advises and not any(answer.advises in text for text in advice):
        problem = f"no advice has {answer.advises!r} in it, but it is {advice}"
    elif advice and not (answer.advises or answer.fails):
        problem = f"a right answer is advised {advice}; give it `advises`, or mend the check"
    else:
        return ""
    return f"{answer.place}: {problem}; correct the table or the check. What is reported:\n{said}"


def _judged(checks: list[Check], answer: Any, path: Path, seed: int) -> Iterator[Outcome]:
    wrong = set()
    for check in checks:
        asked = check.todo, check.title
        if asked not in wrong:
            outcome = judge(check, answer, path, seed)
            if outcome.state == "wrong":
                wrong.add(asked)
            yield outcome
