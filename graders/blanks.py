"""One annotated source for an exercise: what learners get is the solution with its blanks emptied.

In the source, whole comment lines of any indentation are marks:

``# BLANK 1.1: choose a device`` begins what a learner writes, with its name and its task;
``#: A preference wins.`` in it is a hint, an ordinary comment in the learner's file;
``# INSTEAD`` (perhaps) begins lines that the learner finds in its place, each behind one ``#``;
``# END`` ends it;
``# OURS`` begins what only the solution needs, such as a helper, up to the next ``# END``.

``# --8<-- [start:name]`` and ``[end:name]``, which mark what pages show, are in neither version.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["shared", "mark", "hint", "solution", "instead", "ours"]
Stub = Callable[[str, str], str]

MARK = re.compile(r"\s*# (?P<word>BLANK(?!\S)|INSTEAD$|OURS$|END$)(?: (?P<rest>.*))?")
NAMED = re.compile(r"(?P<name>\S+): (?P<task>\S.*)")
SECTION = re.compile(r"\s*# --8<-- \[(?:start|end):[\w-]+\]\s*$")
FOLLOWING: dict[str, tuple[Kind | None, ...]] = {
    "BLANK": (None,),
    "OURS": (None,),
    "INSTEAD": ("solution",),
    "END": ("solution", "instead", "ours"),
}
INSIDE: dict[str, Kind | None] = {
    "BLANK": "solution",
    "INSTEAD": "instead",
    "OURS": "ours",
    "END": None,
}


class BlankError(ValueError):
    """Marks that do not fit together; the message says in which line, and what to do."""


@dataclass(frozen=True)
class Blank:
    """What a learner writes.

    Attributes:
        name: The number of the TODO, such as ``"1.1"``; several blanks of one may differ by task.
        task: What to write, in words.
        hints: Comments that the learner keeps.
        solution: Lines of code without common indentation, as are the next.
        instead: Lines that the learner finds in their place; empty for most.
        line: Where it begins, counted from one.
    """

    name: str
    task: str
    hints: tuple[str, ...]
    solution: tuple[str, ...]
    instead: tuple[str, ...]
    line: int


def kinds(lines: Sequence[str]) -> list[Kind]:
    """What each line of an annotated source is; all are ``"shared"`` where it has no marks.

    Raises:
        BlankError: If marks do not fit together.
    """
    found: list[Kind] = []
    inside: Kind | None = None
    begun, names = 0, dict[str, int]()
    for number, line in enumerate(lines, start=1):
        mark = MARK.match(line)
        if mark is None:
            found.append(_kind(line, inside, number))
            continue
        word = mark["word"]
        if inside not in FOLLOWING[word]:
            raise BlankError(_misplaced(word, number, begun if inside else 0))
        if word == "BLANK":
            named = NAMED.fullmatch(mark["rest"] or "")
            if named is None:
                raise BlankError(f"line {number}: a blank begins with `# BLANK NAME: TASK`")
            earlier = names.setdefault(named[0], number)
            if earlier != number:
                raise BlankError(
                    f"line {number}: blank {named[0]!r} is in line {earlier} already; "
                    "give it a task of its own"
                )
        inside, begun = INSIDE[word], number if inside is None else begun
        found.append("mark")
    if inside:
        raise BlankError(f"line {begun}: what begins here has no `# END`; write one")
    return found


def blanks_of(text: str) -> list[Blank]:
    """The blanks of an annotated source, in order.

    Raises:
        BlankError: If marks do not fit together.
    """
    lines = text.splitlines()
    found, collected = [], dict[Kind, list[str]]()
    for number, (line, kind) in enumerate(zip(lines, kinds(lines), strict=True), start=1):
        mark = MARK.match(line) if kind == "mark" else None
        if mark and mark["word"] in ("BLANK", "OURS"):
            begun, collected = number, {"hint": [], "solution": [], "instead": [], "ours": []}
        elif mark and mark["word"] == "END" and (named := _named(lines[begun - 1])):
            hints, solution = _dedented(collected["hint"]), _dedented(collected["solution"])
            found.append(Blank(*named, hints, solution, _dedented(collected["instead"]), begun))
        elif kind not in ("shared", "mark"):
            collected[kind].append(_learners(line, kind))
    return found


def emptied(text: str, stub: Stub) -> str:
    """What a learner gets: in each blank its hints, a line that names it, and what is instead.

    Args:
        text: An annotated source.
        stub: Makes that line of a blank's name and task, such as ``raise NotImplementedError(…)``;
            where it gives nothing, there is no such line.

    Raises:
        BlankError: If marks do not fit together.
    """
    lines = text.splitlines()
    kept: list[str | None] = []
    to_do = ""
    for line, kind in zip(lines, kinds(lines), strict=True):
        if kind == "mark" and (named := _named(line)):
            written = stub(*named)
            to_do = f"{_indent(line)}{written}" if written else ""
        elif to_do and kind == "mark":  # at INSTEAD, else at END
            kept.append(to_do)
            to_do = ""
        elif kind in ("hint", "instead"):
            kept.append(_learners(line, kind))
        else:
            kept.append(line if kind == "shared" and not SECTION.match(line) else None)
    return _joined(kept, text)


def filled(text: str) -> str:
    """The solution alone, without any mark.

    Raises:
        BlankError: If marks do not fit together.
    """
    lines = text.splitlines()
    ours = zip(lines, kinds(lines), strict=True)
    kept = [line if shown(kind) and not SECTION.match(line) else None for line, kind in ours]
    return _joined(kept, text)


def shown(kind: Kind) -> bool:
    """Whether a line is one of the solution."""
    return kind in ("shared", "solution", "ours")


def _kind(line: str, inside: Kind | None, number: int) -> Kind:
    if inside == "solution" and line.lstrip().startswith("#:"):
        return "hint"
    if inside == "instead" and not line.lstrip().startswith("#"):
        raise BlankError(f"line {number}: what is INSTEAD is behind a `#`; put one before the line")
    return inside or "shared"


def _misplaced(word: str, number: int, begun: int) -> str:
    if not begun:
        return f"line {number}: `# {word}` has no beginning; write `# BLANK NAME: TASK` before it"
    if word == "INSTEAD":
        return (
            f"line {number}: `# INSTEAD` can't be here in what begins in line {begun}; take it out"
        )
    return f"line {number}: what begins in line {begun} has no `# END` yet; write one before this"


def _named(line: str) -> tuple[str, str] | None:
    """The name and the task of a blank that begins in a line."""
    mark = MARK.match(line)
    named = NAMED.fullmatch(mark["rest"] or "") if mark and mark["word"] == "BLANK" else None
    return (named["name"], named["task"]) if named else None


def _learners(line: str, kind: Kind) -> str:
    """A hint or a line of INSTEAD as the learner has it."""
    sign, kept = {"hint": ("#:", "#"), "instead": ("#", "")}.get(kind, ("", ""))
    rest = line.lstrip().removeprefix(sign)
    if kind == "instead":
        rest = rest.removeprefix(" ")
    return f"{_indent(line)}{kept}{rest}".rstrip() if sign else line


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _dedented(lines: list[str]) -> tuple[str, ...]:
    return tuple(textwrap.dedent("\n".join(lines)).split("\n")) if lines else ()


def _joined(lines: Iterable[str | None], text: str) -> str:
    """The lines without those that are None; empty lines before and after one of these merge."""
    kept: list[str] = []
    spare = 0
    for line in lines:
        if line is None:
            spare = next((n for n, last in enumerate(reversed(kept)) if last), len(kept))
        elif line or not spare:
            kept.append(line)
            spare = 0
        else:
            spare -= 1
    return "\n".join(kept) + ("\n" if text.endswith("\n") else "")
