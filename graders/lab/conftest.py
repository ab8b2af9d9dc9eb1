"""Options for grading an answer with pytest: `pytest graders/lab/as_tests.py …`."""

from pathlib import Path

import pytest

from graders.checks import checks_in, unit
from graders.outcome import Outcome
from graders.process import CheckerError, examine
from graders.report import by_todo
from lesson_code.lab.__main__ import FILES


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which exercise, and whose answer."""
    group = parser.getgroup("lab", "the lab's exercises")
    group.addoption("--exercise", type=int, choices=tuple(FILES), default=1)
    group.addoption("--answer", type=Path, help="by default the exercise's file in this folder")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a TODO, and one for what needs a GPU."""
    checks = checks_in(unit(f"lab.exercise_{metafunc.config.getoption('exercise')}"))
    names = dict.fromkeys((check.todo, check.title) for check in checks)
    metafunc.parametrize(("todo", "title"), list(names), ids=[" ".join(name) for name in names])


@pytest.fixture(scope="session")
def graded(request: pytest.FixtureRequest) -> dict[tuple[str, str], Outcome]:
    """What the checks say of the answer; they run once, in a process of their own."""
    exercise = request.config.getoption("exercise")
    path = request.config.getoption("answer") or Path(FILES[exercise])
    try:
        return {(o.todo, o.title): o for o in by_todo(examine(f"lab.exercise_{exercise}", path))}
    except CheckerError as problem:
        pytest.fail(str(problem), pytrace=False)
