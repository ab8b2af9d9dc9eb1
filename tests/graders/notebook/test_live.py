"""What a learner meets in the notebook: blanks, reports, and cells in any order."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from graders.checks import NotYetError, WrongAnswerError, require, todo
from graders.live import fill_in, needs, recall, report
from graders.notebook import opened
from graders.process import examine
from lesson_code.data import SUBSET_FOLDER
from lesson_site import notebooks
from tests.building import REPOSITORY
from tests.graders.notebook.companion import Companion


def test_an_empty_blank_names_itself() -> None:
    """The message has the blank's name, its task, and what to do."""
    with pytest.raises(NotYetError, match=r"^Blank 1a is still empty\. Your task: move it\. Write"):
        fill_in("1a", "move it")


def test_jupyter_shows_the_sentence_alone() -> None:
    """It is in the place of a traceback."""
    assert ["✗ Not yet."] == NotYetError("Not yet.")._render_traceback_()


@pytest.mark.parametrize(
    ("prediction", "said"),
    [
        ("twice as fast", "twice as fast"),
        (" ", "nothing yet; a guess first makes the result stick"),
    ],
)
def test_a_prediction_returns(
    prediction: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was guessed is above the result, and so is that nothing was."""
    recall(prediction)

    assert f"You predicted: {said}\n\n" == capsys.readouterr().out


def test_what_is_needed_names_its_exercise() -> None:
    """Something given is enough."""
    needs(1, [1.0])
    with pytest.raises(NotYetError, match="what exercise 3 gives"):
        needs(3, [])


@todo("7.1", "the sum")
def adds(answer: Any) -> None:
    """Two and three."""
    require(answer.add(2, 3) == 5, "5", answer.add(2, 3), "add them")


@todo("7.2", "the name")
def is_named(answer: Any) -> None:
    """There is one."""
    require(bool(answer.name), "a name", "none", "give it one")


@todo("8.1", "of another exercise")
def never_asked(_: Any) -> None:
    """It is not of this exercise."""
    raise WrongAnswerError


CHECKS = {"adds": adds, "is_named": is_named, "never_asked": never_asked}


def test_a_report_has_a_line_for_each_todo(capsys: pytest.CaptureFixture[str]) -> None:
    """All hold, and the last line says so."""
    report(7, "add", {**CHECKS, "add": lambda a, b: a + b, "name": "sum"})

    assert (
        "✓ TODO 7.1 the sum: PASSED\n✓ TODO 7.2 the name: PASSED\nExercise 7: everything holds.\n"
    ) == capsys.readouterr().out


def test_what_is_open_ends_the_cell_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong says why, and what no cell has defined is not done yet."""
    with pytest.raises(NotYetError) as left:
        report(7, "add", {**CHECKS, "add": lambda a, b: a * b}, seed=3)

    assert (
        "✗ TODO 7.1 the sum: WRONG: expected 5, got 6 (add them)\n"
        "✗ TODO 7.2 the name: NOT DONE YET: there is no name yet; run the cell that defines it\n"
    ) == capsys.readouterr().out
    assert (
        "Exercise 7: 0 of 2 passed. Go on with TODO 7.1. "
        "The same cases again: seed=3 in report(...)."
    ) == str(left.value)


def test_a_report_in_json_is_that_of_every_door(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a TODO, with the same keys."""
    with pytest.raises(NotYetError):
        report(7, "add", {**CHECKS, "add": lambda a, b: a * b}, as_json=True, seed=3)

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [{"todo", "title", "state", "says", "advice", "seed"}] * 2 == [set(x) for x in lines]
    assert ["wrong", "not done yet"] == [x["state"] for x in lines]
    assert [3, 3] == [x["seed"] for x in lines]


def test_an_error_is_placed_in_the_learners_cell(capsys: pytest.CaptureFixture[str]) -> None:
    """By its line, since a cell has no name."""
    cells: dict[str, Any] = {**CHECKS, "name": "sum"}
    exec(compile("def add(a, b):\n    return a + c\n", "/somewhere/12345.py", "exec"), cells)

    with pytest.raises(NotYetError):
        report(7, "add", cells)

    printed = " ".join(capsys.readouterr().out.split())
    assert "your code stopped with NameError: name 'c' is not defined (line 2: )" in printed


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Companion:
    """The notebook, run up to the first exercise, where it finds the digits of the lesson."""
    folder = tmp_path_factory.mktemp("companion")
    (folder / "mnist_subset").symlink_to(SUBSET_FOLDER)
    return Companion(folder)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("epochs", [1, 2])
def test_the_right_answers_pass(
    companion: Companion,
    number: int,
    epochs: int,
    monkeypatch: pytest.MonkeyPatch,
    one_thread: None,
) -> None:
    """Each check says that everything holds, with a single epoch, too."""
    for name in ("EPOCHS", "CHECKPOINT_EPOCHS", "PORTABLE_EPOCHS"):
        monkeypatch.setattr(companion.module, name, epochs)

    printed = companion.exercise(number, {})

    assert f"Exercise {number}: everything holds." in printed
    assert "✗" not in printed


def test_the_cells_need_nothing_but_themselves(tmp_path: Path, one_thread: None) -> None:
    """All that checks use is in the one room of the kernel, beside what the learner made."""
    (tmp_path / "mnist_subset").symlink_to(SUBSET_FOLDER)
    alone = Companion(tmp_path, imported=False)

    printed = "".join(alone.exercise(number, {}) for number in (1, 2, 3, 4))

    assert ["1", "2", "3", "4"] == re.findall(r"Exercise (\d): everything holds", printed)


EMPTY = {"1": "1a", "2": "2a", "3": "3a"}


@pytest.mark.parametrize("number", EMPTY)
def test_an_exercise_that_is_not_solved_holds_up_no_other(
    number: str, tmp_path: Path, one_thread: None
) -> None:
    """Cell by cell: only what needs its result stops, each time with one sentence."""
    (tmp_path / "mnist_subset").symlink_to(SUBSET_FOLDER)
    companion = Companion(tmp_path)
    empty = {EMPTY[number]: f'fill_in("{EMPTY[number]}", "made up")'}

    stopped, printed = {}, ""
    for tags, code in companion.rest(empty):
        try:
            printed += companion.run(code)
        except NotYetError as problem:
            stopped["".join(tags)] = str(problem)

    wanted = [f"exercise-{number}", f"check-{number}"]
    wanted += [] if number == "2" else [""]  # nothing is compared with what exercise 2 gives
    assert wanted == list(stopped)
    assert f"exercise {number}" in list(stopped.values())[-1].lower()
    others = [other for other in "1234" if other != number]
    assert others == re.findall(r"Exercise (\d): everything holds", printed)
    assert "is written" in printed


@pytest.mark.parametrize(("blank", "todos"), [("2b", ["2.2", "2.4"]), ("2c", ["2.3", "2.4"])])
def test_an_empty_blank_is_not_done_yet_and_not_given_away(
    companion: Companion, blank: str, todos: list[str], one_thread: None
) -> None:
    """The check says that it is empty, and not what belongs into it."""
    with pytest.raises(NotYetError) as caught:
        companion.exercise(2, {blank: f'fill_in("{blank}", "made up")'})

    printed = " ".join("\n".join(caught.value.__notes__).split())
    assert todos == re.findall(r"TODO (\S+) [^:]*: NOT DONE YET", printed)
    assert f"Blank {blank} is still empty" in printed
    assert "load_state_dict" not in printed


@pytest.mark.usefixtures("warm_children")
def test_a_notebook_can_be_graded_from_its_file() -> None:
    """The solution passes what needs no run, in a process of its own."""
    found = list(examine("notebook", REPOSITORY / notebooks.SOLUTION, seed=1))

    runs = {o.todo for o in found if o.state == "cannot be judged here"}
    assert {"1.5", "2.4", "4.6"} == runs
    assert {"passed"} == {o.state for o in found if o.todo not in runs}


def test_the_learners_notebook_is_not_done_yet() -> None:
    """No cell of it trains anything when it is opened."""
    answer = opened(REPOSITORY / notebooks.LEARNER)

    with pytest.raises(NotYetError, match="Blank 2b is still empty"):
        answer.load_on_cpu(Path("nowhere"))
