"""The checker itself: files that can't be checked, checks that never end, and the command line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graders.answers import AnswerError
from graders.checks import checks_in, unit
from graders.outcome import Outcome
from graders.process import CheckerError, Deadlines, examine
from graders.report import by_todo, line_of, passed, total
from lesson_code.lab.__main__ import FILES, main
from tests.building import REPOSITORY
from tests.graders.kept import SOURCES, outcomes, starter
from tests.processes import gone
from tests.warm import Parent

UNIT = "lab.exercise_1"
MAIN = '\n\nif __name__ == "__main__":'
SOLUTION = SOURCES[UNIT].read_text(encoding="utf-8").partition(MAIN)[0]
# For what never ends. The checks of the other TODOs take hundredths of a second.
SHORT = Deadlines(check_s=5)

pytestmark = pytest.mark.usefixtures("warm_children")


def _answer(folder: Path, code: str) -> Path:
    path = folder / "01_gpu_basics.py"
    path.write_text(SOLUTION + "\n\n" + code, encoding="utf-8")
    return path


def _judged(folder: Path, code: str) -> dict[str, Outcome]:
    """What the checks say here, of an answer that can do this process no harm."""
    return {outcome.todo: outcome for outcome in outcomes(UNIT, _answer(folder, code))}


def test_a_loop_without_end_is_stopped_and_the_rest_still_runs(tmp_path: Path) -> None:
    """Not even a bare `except:` inside the loop holds up the other checks."""
    endless = """
import time
def move_tensor(t, device):
    while True:
        try:
            while True:
                time.sleep(0.1)
        except:
            pass
"""
    found = {o.todo: o for o in by_todo(examine(UNIT, _answer(tmp_path, endless), deadlines=SHORT))}

    assert "did not finish in 5 s; look for a loop without an exit" == found["1.3"].says
    assert {"passed"} == {
        o.state for todo, o in found.items() if todo in ("1.1", "1.2", "1.4", "1.5")
    }


def test_a_check_that_ends_the_process_has_failed(tmp_path: Path) -> None:
    """What kills its process costs its own TODO and no other."""
    deadly = "import os\ndef move_model(model, device):\n    os._exit(0)\n"
    found = {o.todo: o for o in by_todo(examine(UNIT, _answer(tmp_path, deadly)))}

    assert found["1.4"].says.startswith("took the whole process down")
    assert {"passed"} == {found[todo].state for todo in ("1.1", "1.2", "1.3", "1.5")}


def test_a_process_that_the_answer_started_ends_with_it(tmp_path: Path) -> None:
    """Nothing of a stopped check goes on in the background."""
    note = tmp_path / "note"
    code = f"""
import pathlib, subprocess, sys
def move_tensor(t, device):
    command = [sys.executable, "-c", "import time; time.sleep(3600)"]
    started = subprocess.Popen(command)
    pathlib.Path({str(note)!r}).write_text(str(started.pid))
    started.wait()
"""
    list(examine(UNIT, _answer(tmp_path, code), deadlines=SHORT))

    assert gone(int(note.read_text(encoding="utf-8")))


# Forks twice with a session of its own in between, notes its number, and lives on.
DAEMON = """
import os, pathlib, time
def daemon(note):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    pathlib.Path(note).write_text(str(os.getpid()))
    time.sleep(3600)
def noted(note):
    while not pathlib.Path(note).exists() or not pathlib.Path(note).read_text():
        time.sleep(0.05)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans do not come to the checker")
@pytest.mark.parametrize("ending", ["return t.to(device)", "os._exit(0)"])
def test_not_even_a_daemon_outlives_the_checks(ending: str, tmp_path: Path) -> None:
    """It holds nobody up, costs no TODO, and ends."""
    note = tmp_path / "note"
    code = f"""{DAEMON}
def move_tensor(t, device, note={str(note)!r}):
    if not os.path.exists(note):
        daemon(note)
        noted(note)
    {ending}
"""
    found = {o.todo: o.state for o in by_todo(examine(UNIT, _answer(tmp_path, code)))}

    assert gone(int(note.read_text(encoding="utf-8")))
    assert ("passed" if "return" in ending else "wrong") == found["1.3"]
    assert {"passed"} == {found[todo] for todo in ("1.1", "1.2", "1.4", "1.5")}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_process_that_stays_out_of_reach_is_not_waited_for(tmp_path: Path) -> None:
    """It took down what would have ended it, and left its session."""
    note = tmp_path / "note"
    code = f"""{DAEMON}
import signal
def move_tensor(t, device, note={str(note)!r}):
    os.kill(os.getppid(), signal.SIGKILL)
    daemon(note)
    noted(note)
    os._exit(0)
"""
    try:
        found = {o.todo: o.state for o in by_todo(examine(UNIT, _answer(tmp_path, code)))}
    finally:
        os.kill(int(note.read_text(encoding="utf-8")), signal.SIGKILL)

    assert "wrong" == found["1.3"]
    assert {"passed"} == {found[todo] for todo in ("1.1", "1.2", "1.4", "1.5")}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_an_answer_that_comes_back_twice_is_heard_once(tmp_path: Path) -> None:
    """What it forked goes on like the check itself, and says nothing."""
    code = "import os\ndef move_tensor(t, device):\n    os.fork()\n    return t.to(device)\n"
    found = [(o.todo, o.state) for o in examine(UNIT, _answer(tmp_path, code))]

    assert [check.todo for check in checks_in(unit(UNIT))] == [todo for todo, _ in found]
    assert {"passed"} == {state for _, state in found} - {"cannot be judged here"}


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "import no_such_thing\n",
            r"ModuleNotFoundError: .* \(01_gpu_basics\.py, line \d+: import",
        ),
        ("\0", r"01_gpu_basics\.py( is|, line \d+ is) no Python: .*null bytes"),
        ("raise SystemExit(3)\n", r"can't be imported: SystemExit: 3"),
        ("assert False\n", r"can't be imported: AssertionError \(01_gpu_basics\.py, line \d+: as"),
    ],
)
def test_a_file_that_cannot_be_imported_gets_one_sentence(
    code: str, says: str, tmp_path: Path
) -> None:
    """It says what was wrong, and in which line."""
    with pytest.raises(AnswerError, match=says):
        outcomes(UNIT, _answer(tmp_path, code))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def f(:\n    pass\n", r"01_gpu_basics\.py, line \d+ is no Python: .*: def f\(:"),
        ("import os\nos._exit(0)\n", r"ends the process when it is imported"),
    ],
)
def test_what_an_import_came_to_is_heard(code: str, says: str, tmp_path: Path) -> None:
    """From the other process, whether it could still say so or not."""
    with pytest.raises(CheckerError, match=says):
        list(examine(UNIT, _answer(tmp_path, code)))


def test_a_file_whose_import_never_ends_gets_one_sentence(tmp_path: Path) -> None:
    """Where to look, after the time that an import may take."""
    with pytest.raises(CheckerError, match=r"could not be imported in 1 s; look for work outside"):
        list(
            examine(
                "lab.exercise_1",
                _answer(tmp_path, "import time\nwhile True:\n    time.sleep(1)\n"),
                deadlines=Deadlines(first_s=1),
            )
        )


def test_what_the_answer_prints_does_not_disturb(tmp_path: Path) -> None:
    """Neither lines of its own, nor lines that look like ours."""
    code = "print('[]')\ndef move_tensor(t, device):\n    print('{}')\n    return t.to(device)\n"
    found = list(by_todo(examine(UNIT, _answer(tmp_path, code))))

    assert {"passed"} == {o.state for o in found} - {"cannot be judged here"}


def test_an_answer_that_asks_for_input_gets_none(tmp_path: Path) -> None:
    """Nobody can type into a check, so it does not wait."""
    code = "def move_tensor(t, device):\n    return t.to(input())\n"
    found = {o.todo: o for o in by_todo(examine(UNIT, _answer(tmp_path, code)))}

    assert found["1.3"].says.startswith("your code stopped with EOFError")


def test_an_error_of_the_answer_names_its_line(tmp_path: Path) -> None:
    """The traceback of the checker helps nobody."""
    found = _judged(tmp_path, "def move_tensor(t, device):\n    return t.nothing\n")

    assert "your code stopped with AttributeError" in found["1.3"].says
    assert found["1.3"].says.endswith(": return t.nothing)")


def test_a_name_that_is_missing_is_named(tmp_path: Path) -> None:
    """A function that was renamed is no crash."""
    found = _judged(tmp_path, "del move_tensor\n")

    assert "the file has no move_tensor; keep the names that the starter gives" == (
        found["1.3"].says
    )


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "def move_tensor(t):\n    return t\n",
            "the check could not go on with what your code gives it, TypeError: move_tensor() "
            "takes 1 positional argument but 2 were given; keep the names, arguments and results "
            "that the starter has",
        ),
        (
            "def move_tensor(t, device):\n    raise ValueError('x ' * 9999)\n",
            " x  … (01_gpu_basics",
        ),
        ("def move_tensor(t, device):\n    raise ValueError\n", "with ValueError (01_gpu_basics"),
        (
            """
class Mute(Exception):
    def __str__(self):
        raise ValueError
def move_tensor(t, device):
    raise Mute
""",
            "your code stopped with Mute (01_gpu_basics",
        ),
    ],
    ids=["signature", "long", "empty", "mute"],
)
def test_whatever_an_answer_raises_is_one_sentence(code: str, says: str, tmp_path: Path) -> None:
    """It says whose fault it is, and no other TODO suffers."""
    found = _judged(tmp_path, code)

    assert says in found["1.3"].says
    assert {"passed"} == {o.state for todo, o in found.items() if todo in ("1.1", "1.2", "1.4")}


def test_junk_between_our_lines_does_not_disturb(tmp_path: Path) -> None:
    """Whatever the answer writes where its process speaks, it costs no other TODO."""
    code = """
import os
def move_tensor(t, device):
    for fd in range(3, 30):
        try:
            os.write(fd, b"junk\\n")
        except OSError:
            pass
    os._exit(0)
"""
    found = {o.todo: o for o in by_todo(examine(UNIT, _answer(tmp_path, code)))}

    assert "took the whole process down" in found["1.3"].says
    assert {"passed"} == {o.state for todo, o in found.items() if todo in ("1.1", "1.2", "1.4")}


def test_defaults_that_an_answer_leaves_behind_do_no_harm(tmp_path: Path) -> None:
    """The next check begins with PyTorch's own."""
    code = "torch.set_default_device('meta')\ntorch.set_default_dtype(torch.float64)\n"
    found = list(by_todo(examine(UNIT, _answer(tmp_path, code))))

    assert {"passed"} == {o.state for o in found} - {"cannot be judged here"}


def test_a_character_that_no_terminal_has_is_written_as_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error of an answer may contain anything."""
    code = "def move_tensor(t, device):\n    raise ValueError('\\ud800')\n"

    main(["check", "1", str(_answer(tmp_path, code))])

    said = capsys.readouterr()
    assert "ValueError: \\ud800" in said.out
    assert "" == said.err


STEERING = r"\x1b[2J\x9b31m"
STEERS = f"""
import warnings
def move_tensor(t, device):
    raise ValueError('{STEERING}')
def make_on_device(shape, device):
    return '{STEERING}'
def pick_device(prefer=None):
    warnings.warn('{STEERING}', FutureWarning)
    return torch.device("cpu")
"""


@pytest.mark.parametrize(
    ("code", "times"),
    [(f"raise ValueError('{STEERING}')\n", 1), (STEERS, 3)],
    ids=["import", "error, result and warning"],
)
def test_what_would_steer_a_terminal_is_written_as_a_number(
    code: str, times: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text out of an answer neither clears the screen nor changes its colours."""
    main(["check", "1", str(_answer(tmp_path, code))])

    printed = "".join(capsys.readouterr())
    assert times <= printed.count(STEERING)
    assert [] == [c for c in printed if not c.isprintable() and c != "\n"]


def test_a_folder_that_cannot_be_made_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, and the status for a wrong call."""
    (tmp_path / "file").write_text("", encoding="utf-8")

    assert 2 == main(["start", str(tmp_path / "file")])
    assert capsys.readouterr().err.startswith("error: can't copy the exercises into")


def test_a_missing_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """It says how to get one."""
    assert 2 == main(["check", "1", "no_such_file.py"])
    assert "error: there is no file no_such_file.py" in capsys.readouterr().err


def test_a_folder_in_a_files_place_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says which file in it is meant."""
    assert 2 == main(["check", "2", str(tmp_path)])
    assert f"error: {tmp_path} is a folder" in (said := capsys.readouterr().err)
    assert str(tmp_path / FILES[2]) in said


def test_the_command_reports_line_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong answer costs status 1, and the report says where to go on."""
    path = _answer(tmp_path, "def move_tensor(t, device):\n    return t\n")

    assert 1 == main(["check", "1", str(path)])

    lines = capsys.readouterr().out.splitlines()
    assert "TODO 1.2 create a tensor on the device: PASSED" in lines
    assert any(
        text.startswith("TODO 1.3 move a tensor: WRONG: expected the moved") for text in lines
    )
    assert lines[-2].endswith("1 wrong, 1 cannot be judged here. Go on with TODO 1.3.") or (
        lines[-2].endswith("1 wrong. Go on with TODO 1.3.")
    )


def test_the_report_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For tools: a line a TODO."""
    path = tmp_path / FILES[1]
    path.write_text(starter(UNIT), encoding="utf-8")

    assert 1 == main(["check", "1", str(path), "--json"])
    found = [json.loads(text) for text in capsys.readouterr().out.splitlines()]

    assert "not done yet" == found[0]["state"]


def test_the_worst_outcome_of_a_todo_counts() -> None:
    """One failure among several checks is a failure, and advice is kept."""
    found = [
        Outcome("1.5", "names", "passed", advice=("slow",)),
        Outcome("1.5", "names", "wrong", "why"),
    ]

    assert [Outcome("1.5", "names", "wrong", "why", ("slow",))] == list(by_todo(found))


def test_what_cannot_be_judged_is_not_passed() -> None:
    """A report without a single pass is none."""
    skipped = [Outcome("1.6", "on a GPU", "cannot be judged here", "needs a CUDA GPU")]

    assert not passed(skipped)
    assert "TODO 1.6 on a GPU: CANNOT BE JUDGED HERE: needs a CUDA GPU" == line_of(skipped[0])
    assert "0 of 1 passed, 1 cannot be judged here." == total(skipped)


# Runs pytest where the process of the answer is forked, too.
FORKING = """
import subprocess, sys
from types import SimpleNamespace
import pytest
from graders import process
from tests.warm import Program
start = lambda *words, **settings: Program(sys.argv[1], *words, **settings)
process.subprocess = SimpleNamespace(Popen=start, DEVNULL=subprocess.DEVNULL, PIPE=subprocess.PIPE)
sys.exit(pytest.main(sys.argv[2:]))
"""


def _pytest(warm: Parent, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", FORKING, warm.address, "-q", "graders/lab/as_tests.py"]
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(REPOSITORY),
    }
    return warm.run([*command, *options], cwd=REPOSITORY, env=environment)


def test_pytest_grades_an_answer(tmp_path: Path, warm: Parent) -> None:
    """The same checks and the same words, one test a TODO."""
    path = _answer(tmp_path, "def move_tensor(t, device):\n    return t\n")
    done = _pytest(warm, "--exercise", "1", "--answer", str(path))

    assert 1 == done.returncode
    assert "TODO 1.3 move a tensor: expected the moved tensor" in done.stdout
    assert "1 failed, 5 passed" in done.stdout


def test_pytest_says_what_cannot_be_imported(tmp_path: Path, warm: Parent) -> None:
    """One sentence in place of a traceback."""
    done = _pytest(warm, "--exercise", "1", "--answer", str(_answer(tmp_path, "def f(:\n")))

    assert 1 == done.returncode
    assert "is no Python" in done.stdout
    assert "Traceback" not in done.stdout


def test_the_command_itself_does_without_pytorch() -> None:
    """Only the process in which an answer runs imports it, so that nobody waits for it twice."""
    code = "import sys, graders.process, graders.report"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print('torch' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "False" == done.stdout.strip()
