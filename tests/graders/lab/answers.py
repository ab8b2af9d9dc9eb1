"""Solutions, starters and wrong answers, and what the checks say of them."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from graders.answers import ANSWER, load
from graders.checks import checks_in, unit
from graders.judging import judge
from graders.outcome import Outcome
from graders.report import by_todo
from lesson_code.devices import one_thread
from lesson_code.lab.__main__ import FILES

LAB = Path("lesson_code/lab")
WRONG_ANSWERS = Path("tests/graders/lab/wrong")
MAIN = '\n\nif __name__ == "__main__":'


@dataclass(frozen=True)
class WrongAnswer:
    """A file with the functions that are wrong; everything else is the solution's.

    Attributes:
        todos: The TODOs that must fail; all others must pass.
        says: A part of the message.
    """

    exercise: int
    name: str
    code: str
    todos: set[str]
    says: str

    def write(self, folder: Path) -> Path:
        """The whole answer as a file."""
        solution = (LAB / "solution" / FILES[self.exercise]).read_text(encoding="utf-8")
        path = folder / f"{self.name}.py"
        path.write_text(solution.partition(MAIN)[0] + "\n\n" + self.code, encoding="utf-8")
        return path


def wrong_answers() -> list[WrongAnswer]:
    """The library: `# fails:` and `# says:` in each file tell what must come of it."""
    found = []
    for path in sorted(WRONG_ANSWERS.glob("exercise_*/*.py")):
        code = path.read_text(encoding="utf-8")
        fails, says = (re.findall(rf"^# {word}: (.+)$", code, re.M) for word in ("fails", "says"))
        exercise = int(path.parent.name.removeprefix("exercise_"))
        todos = set(fails[0].split(", "))
        found.append(WrongAnswer(exercise, path.stem, code, todos, says[0]))
    return found


def outcomes(exercise: int, path: Path) -> list[Outcome]:
    """What the checks say of a file, in this process: quick, and without deadlines."""
    try:
        with one_thread():
            answer = load(path)
            return list(
                by_todo(
                    judge(check, answer, path)
                    for check in checks_in(unit(f"lab.exercise_{exercise}"))
                )
            )
    finally:
        sys.modules.pop(ANSWER, None)
