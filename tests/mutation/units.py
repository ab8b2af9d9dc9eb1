"""What is mutated for each unit: the lines of the solution that a learner writes."""

from dataclasses import dataclass

from graders.blanks import MARK, kinds
from tests.graders.kept import SOURCES


@dataclass(frozen=True)
class Unit:
    """A solution.

    Attributes:
        name: Such as ``"lab.exercise_1"``.
        source: Its text, marks included, which are comments.
        todos: The lines that a learner writes or has to think of, each with its TODO.
    """

    name: str
    source: str
    todos: dict[int, str]


def read(name: str) -> Unit:
    """The unit of a name, such as ``"lab.exercise_1"``.

    Raises:
        KeyError: If there is no such unit.
    """
    source = SOURCES[name].read_text(encoding="utf-8")
    return Unit(name, source, todos_of(source))


def todos_of(source: str) -> dict[int, str]:
    """The lines of blanks and of what only the solution has; the latter belong to the last TODO."""
    lines = source.splitlines()
    todos: dict[int, str] = {}
    last = ""
    for number, (line, kind) in enumerate(zip(lines, kinds(lines), strict=True), start=1):
        mark = MARK.match(line) if kind == "mark" else None
        if mark and mark["word"] == "BLANK":
            last = mark["rest"].partition(":")[0]
        if kind in ("solution", "ours"):
            todos[number] = last
    return todos
