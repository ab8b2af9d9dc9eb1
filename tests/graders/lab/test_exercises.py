"""The exercises: starters that say what is missing, solutions that pass, mistakes found."""

import os
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from graders.blanks import blanks_of
from graders.checks import checks_in, unit
from lesson_code.lab.__main__ import FILES, main
from tests.building import REPOSITORY
from tests.graders.kept import SOURCES, kept, outcomes, starter

WRONG_AT_LEAST = {1: 27, 2: 41, 3: 55, 4: 46}


@pytest.fixture(params=FILES, ids=str)
def exercise(request: pytest.FixtureRequest) -> int:
    """The number of an exercise."""
    number: int = request.param
    return number


@pytest.fixture
def started(exercise: int, tmp_path: Path) -> Path:
    """Its file as a learner gets it."""
    path = tmp_path / FILES[exercise]
    path.write_text(starter(f"lab.exercise_{exercise}"), encoding="utf-8")
    return path


def _source(exercise: int) -> Path:
    return SOURCES[f"lab.exercise_{exercise}"]


def test_the_solution_passes(exercise: int) -> None:
    """Everything that this machine can check passes; what needs a GPU says so."""
    found = outcomes(f"lab.exercise_{exercise}", _source(exercise))

    assert {"passed"} == {o.state for o in found} - {"cannot be judged here"}
    assert all(o.says == "needs a CUDA GPU" for o in found if o.state == "cannot be judged here")
    assert not any(o.advice for o in found if o.title != "on a GPU")  # how fast one is, is its own


def test_the_starter_is_not_done_yet(exercise: int, started: Path) -> None:
    """It is neither wrong nor right, whatever is asked."""
    found = outcomes(f"lab.exercise_{exercise}", started)

    assert {"not done yet"} == {o.state for o in found} - {"cannot be judged here"}


def test_every_blank_is_checked(exercise: int) -> None:
    """And every check is about one."""
    blanks = blanks_of(_source(exercise).read_text(encoding="utf-8"))

    assert {check.todo for check in checks_in(unit(f"lab.exercise_{exercise}"))} == {
        blank.name for blank in blanks
    }


def test_every_blank_has_a_hint(exercise: int) -> None:
    """A learner finds words above each line that is to go."""
    blanks = blanks_of(_source(exercise).read_text(encoding="utf-8"))

    assert [] == [blank.task for blank in blanks if not blank.hints]


def test_there_are_enough_wrong_answers(exercise: int) -> None:
    """The library does not shrink unseen."""
    wrong = [answer for answer in kept(f"lab.exercise_{exercise}") if answer.fails]

    assert len(wrong) >= WRONG_AT_LEAST[exercise]


@pytest.mark.usefixtures("warm_children")
def test_the_command_says_that_a_solution_passes(
    exercise: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where each TODO is judged in a process of its own."""
    assert 0 == main(["check", str(exercise), str(_source(exercise))])

    assert "WRONG" not in capsys.readouterr().out


def test_a_check_ends_within_a_minute() -> None:
    """The whole command, from a cold start, on a solution; other processes do not count."""
    before_s = _children_s()
    done = _lab("check", "4", str(_source(4)))

    assert 0 == done.returncode, done.stdout + done.stderr
    assert 1 < _children_s() - before_s < 60


def _children_s() -> float:
    """How long processes have computed that this one has started, and theirs; in seconds."""
    used = os.times()
    return used.children_user + used.children_system


def test_the_starter_names_what_is_left(
    exercise: int,
    started: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Run as it is, it lists its TODOs."""
    blanks = blanks_of(_source(exercise).read_text(encoding="utf-8"))
    monkeypatch.setattr(sys, "argv", [str(started)])

    assert not _status_of(started)
    assert [f"  TODO {blank.name} {blank.task}" for blank in blanks] == [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("  TODO ")
    ]


def _status_of(script: Path) -> object:
    """Run a script as a program, in this process."""
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        return ended.code
    return 0


def test_the_command_copies_what_a_learner_gets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Into a new folder; a file that is there stays as it is."""
    folder = tmp_path / "new" / "my-lab"
    folder.mkdir(parents=True)
    (folder / FILES[2]).write_text("mine")

    assert 0 == main(["start", str(folder)])
    found = {number: (folder / name).read_text("utf-8") for number, name in FILES.items()}
    assert {n: starter(f"lab.exercise_{n}") for n in FILES} | {2: "mine"} == found
    assert f"kept    {folder / FILES[2]}" in capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("warm_children")
def test_a_check_without_a_file_takes_the_one_of_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without one it says so in one sentence, and grades nothing."""
    monkeypatch.chdir(tmp_path)

    assert 2 == main(["check", "1"])
    assert f"error: there is no file {FILES[1]}; name yours" in capsys.readouterr().err
    Path(FILES[1]).write_text("def f(:\n")
    assert 1 == main(["check", "1"])
    assert f"error: {FILES[1]}, line 1 is no Python" in capsys.readouterr().err


def test_an_older_python_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence with both versions, before anything of the graders is imported."""
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    monkeypatch.setitem(sys.modules, "graders", None)  # to import it would raise

    assert 2 == main(["check", "1", str(_source(1))])
    said = capsys.readouterr().err
    assert 1 == said.count("\n")
    assert "3.10" in said
    assert declared["project"]["requires-python"].removeprefix(">=") in said


def _lab(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lesson_code.lab", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
