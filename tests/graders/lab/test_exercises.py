"""The exercises: starters that say what is missing, solutions that pass, mistakes found."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graders.checks import checks_in, unit
from lesson_code.lab.__main__ import FILES
from lesson_code.lab.todos import open_todos
from tests.graders.lab.answers import LAB, WrongAnswer, outcomes, wrong_answers

EXERCISES = [n for n in FILES if (LAB / "solution" / FILES[n]).is_file()]
TODOS = {1: 6, 2: 8, 3: 6, 4: 8}
WRONG_AT_LEAST = {1: 10, 2: 12, 3: 14, 4: 10}


def _file(room: str, exercise: int) -> Path:
    return LAB / room / FILES[exercise]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_solution_passes(exercise: int) -> None:
    """Everything that this machine can check passes; what needs a GPU says so."""
    found = outcomes(exercise, _file("solution", exercise))

    assert {"passed"} == {o.state for o in found} - {"cannot be judged here"}
    assert all(o.says == "needs a CUDA GPU" for o in found if o.state == "cannot be judged here")
    assert not any(o.advice for o in found)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_starter_is_not_done_yet(exercise: int) -> None:
    """An untouched starter is neither wrong nor right, and each of its TODOs is asked for."""
    found = outcomes(exercise, _file("starter", exercise))

    assert [] == [o for o in found if o.state not in ("not done yet", "cannot be judged here")]
    assert {o.todo for o in found} == {
        check.todo for check in checks_in(unit(f"lab.exercise_{exercise}"))
    }


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_todo_is_checked_and_marked(exercise: int) -> None:
    """The TODOs of the checks are those that the starter's text has."""
    marked = {todo.split()[0] for todo in open_todos(str(_file("starter", exercise)))}

    assert {check.todo for check in checks_in(unit(f"lab.exercise_{exercise}"))} == marked
    assert [] == open_todos(str(_file("solution", exercise)))


@pytest.mark.parametrize("exercise", EXERCISES)
def test_starter_and_solution_differ_inside_todos_only(exercise: int) -> None:
    """Both have the same docstring, imports, names and signatures, and the same given code."""
    starter, solution = (_given(_file(room, exercise)) for room in ("starter", "solution"))

    for name, text in starter.items():
        if "NotImplementedError" in text:
            assert _head(text) == _head(solution[name]), name
        else:
            assert text == solution[name], name
    assert all(name.startswith("_") for name in solution.keys() - starter.keys())


def _given(path: Path) -> dict[str, str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    found = {"": ast.get_docstring(tree) or "", "import": "\n".join(map(ast.unparse, imports))}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = ast.unparse(node)
    return found


def _head(code: str) -> str:
    function = ast.parse(code).body[0]
    assert isinstance(function, ast.FunctionDef)
    return (
        f"{ast.unparse(function.args)} -> {function.returns and ast.unparse(function.returns)}"
        + (ast.get_docstring(function) or "")
    )


@pytest.mark.parametrize(
    "wrong", wrong_answers(), ids=lambda wrong: f"{wrong.exercise}-{wrong.name}"
)
def test_a_wrong_answer_is_caught(wrong: WrongAnswer, tmp_path: Path) -> None:
    """The check that is meant for it fails with the right words, and no other one does."""
    found = outcomes(wrong.exercise, wrong.write(tmp_path))
    failed = {o.todo: o.says for o in found if o.state not in ("passed", "cannot be judged here")}

    assert wrong.todos == failed.keys(), failed
    assert any(wrong.says in message for message in failed.values()), failed


@pytest.mark.parametrize("exercise", EXERCISES)
def test_there_are_enough_wrong_answers(exercise: int) -> None:
    """The library does not shrink unseen."""
    count = sum(wrong.exercise == exercise for wrong in wrong_answers())

    assert count >= WRONG_AT_LEAST[exercise]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_check_ends_within_a_minute(exercise: int) -> None:
    """The whole command, from a cold start, on a solution; other processes do not count."""
    before_s = _children_s()
    path = _file("solution", exercise)
    done = _lab("check", str(exercise), str(path))

    assert 0 == done.returncode, done.stdout + done.stderr
    assert 1 < _children_s() - before_s < 60


def _children_s() -> float:
    """How long processes have computed that this one has started, and theirs; in seconds."""
    used = os.times()
    return used.children_user + used.children_system


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_starter_names_what_is_left(exercise: int) -> None:
    """Run as it is, it lists its TODOs."""
    path = _file("starter", exercise)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)

    assert all(f"TODO {todo}" in done.stdout for todo in open_todos(str(path)))


def _lab(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lesson_code.lab", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
