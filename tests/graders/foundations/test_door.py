"""The lab's command and its archive: what learners have, and what it says of it."""

import ast
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import torch

from graders.answers import AnswerError
from graders.folder import Folder
from graders.outcome import Outcome
from graders.process import CheckerError, Deadlines, examine
from lesson_code.foundations.lab import check, layout
from lesson_code.foundations.lab.__main__ import main as start
from lesson_site.postbuild.bundle import LAB_PAGE, pack_lab
from tests.processes import gone


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a learner has after unpacking the archive and making an environment."""
    folder = tmp_path_factory.mktemp("download")
    (folder / LAB_PAGE).parent.mkdir(parents=True)
    (folder / LAB_PAGE).touch()
    archive = pack_lab(folder)
    assert archive is not None
    zipfile.ZipFile(archive).extractall(folder)
    lab = folder / layout.FOLDER
    command = [sys.executable, "-m", "venv", "--without-pip", ".venv"]
    subprocess.run(command, cwd=lab, check=True)
    return lab


def learners_check(lab: Path, python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command of the page with an interpreter."""
    command = [str(python), "-B", "check.py", *arguments]
    return subprocess.run(command, cwd=lab, capture_output=True, text=True, check=False)


def test_step_1_in_a_fresh_environment(unpacked: Path) -> None:
    """Empty, the environment lacks PyTorch; with the packages in it the step passes."""
    inside = unpacked / ".venv" / "bin" / "python"
    empty = learners_check(unpacked, inside, "1")
    libraries = unpacked / ".venv" / "lib" / f"python{sysconfig.get_python_version()}"
    # In place of a download: what is installed for this test is found from there.
    here = str(Path(str(torch.__file__)).parent.parent)
    (libraries / "site-packages" / "installed.pth").write_text(here)

    filled = learners_check(unpacked, inside, "1")

    assert 1 == empty.returncode
    assert "python can't import PyTorch: No module named 'torch'" in empty.stderr
    assert 0 == filled.returncode, filled.stdout + filled.stderr
    assert "4 of 4 passed" in filled.stdout


def test_the_archive_grades_with_nothing_beside_it(unpacked: Path) -> None:
    """Its own graders say of the starter that it is not done yet, line by line in JSON."""
    done = learners_check(unpacked, Path(sys.executable), "2", "--json", "--seed", "7")

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert 1 == done.returncode, done.stderr
    assert [("2.1", "not done yet", 7), ("2.4", "not done yet", 7)] == [
        (line["todo"], line["state"], line["seed"]) for line in (lines[0], lines[3])
    ]
    assert "foundations.step_2" == lines[4]["unit"]


def test_the_archive_needs_nothing_of_ours(unpacked: Path) -> None:
    """Neither lesson code nor solutions are in it."""
    texts = [path.read_text(encoding="utf-8") for path in unpacked.glob("graders/**/*.py")]
    written = [(unpacked / name).read_text(encoding="utf-8") for name in layout.WRITTEN]

    assert not any("import lesson_code" in t or "from lesson_code" in t for t in texts)
    assert not any("# BLANK" in text or "# OURS" in text for text in written)
    assert not (unpacked / "lesson_code").exists()


def test_the_archive_is_what_start_makes(tmp_path: Path, unpacked: Path) -> None:
    """A copy of the project gives the same folder; what a learner wrote stays."""
    folder = tmp_path / "lab"
    assert 0 == start(["start", str(folder)])
    (folder / "train_mnist.py").write_text("mine")
    assert 0 == start(["start", str(folder)])

    made = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
    had = {p.relative_to(unpacked) for p in unpacked.rglob("*") if p.is_file()}
    assert made == {p for p in had if ".venv" not in p.parts and p.suffix != ".pyc"}
    assert "mine" == (folder / "train_mnist.py").read_text()


def test_a_folder_that_cannot_be_made_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, and the status for a wrong call."""
    (tmp_path / "file").touch()

    assert 2 == start(["start", str(tmp_path / "file")])
    assert capsys.readouterr().err.startswith("error: can't make the lab's folder")


@pytest.mark.parametrize("arguments", [[], ["7"], ["two"]])
def test_a_wrong_call_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Only 1 to 6 and `all` are steps."""
    with pytest.raises(SystemExit) as refused:
        check.main(arguments)

    assert 2 == refused.value.code
    assert "python check.py" in capsys.readouterr().err


def test_an_older_python_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It can read the file, imports nothing of the graders, and names both versions."""
    source = Path(check.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    monkeypatch.setitem(sys.modules, "graders", None)  # to import it would raise

    assert 2 == check.main(["1"])
    said = capsys.readouterr().err
    assert 1 == said.count("\n")
    assert "3.11" in said
    assert "3.10" in said
    # What an older Python would evaluate, and refuse, when it defines the function.
    assert {str} == set(map(type, check.main.__annotations__.values()))


def test_all_is_as_good_as_its_worst_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """`all` grades the six steps in order, and fails if one does."""
    asked: list[str] = []

    def grade(unit: str, *_: object) -> int:
        asked.append(unit)
        return int(unit.endswith("4"))

    monkeypatch.setattr("graders.door.grade", grade)

    assert 1 == check.main(["all"])
    assert [f"foundations.step_{step}" for step in range(1, 7)] == asked


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def broken(:\n", "explore_gradients.py, line 1 is no Python"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        (None, "explore_gradients.py is missing"),
    ],
)
def test_a_script_that_cannot_be_imported_gets_one_sentence(
    source: str | None, says: str, tmp_path: Path
) -> None:
    """Whatever is in the file, or where there is none."""
    from graders.foundations import step_2

    if source is not None:
        (tmp_path / "explore_gradients.py").write_text(source, encoding="utf-8")

    with pytest.raises(AnswerError) as refused:
        step_2.opened(tmp_path)

    assert says in str(refused.value)


def test_a_folder_in_a_files_place_is_named(tmp_path: Path) -> None:
    """It is not missing: it is of another kind."""
    (tmp_path / "train_mnist.py").mkdir()

    with pytest.raises(AnswerError, match=r"train_mnist\.py is a folder"):
        Folder(tmp_path).read("train_mnist.py")


def test_scripts_run_as_programs(tmp_path: Path) -> None:
    """Status, both streams and arguments are theirs; the next run reads a changed file."""
    (tmp_path / "other.py").write_text("WORD = 'first'\n")
    (tmp_path / "says.py").write_text(
        "import sys, other\nprint(other.WORD, sys.argv[1])\nsys.exit('no')\n"
    )
    folder, before = Folder(tmp_path), list(sys.path)

    first = folder.run("says.py", "again")
    (tmp_path / "other.py").write_text("WORD = 'second'\n")
    second = folder.run("says.py", "again")

    assert (1, "first again\n", "no\n") == (first.status, first.output, first.error)
    assert "second again\n" == second.output
    assert before == sys.path


def test_an_error_of_a_script_is_its_last_words(tmp_path: Path) -> None:
    """An open end is none."""
    (tmp_path / "fails.py").write_text("raise ValueError('too small')\n")
    (tmp_path / "open.py").write_text("raise NotImplementedError('TODO 3.4 run')\n")
    folder = Folder(tmp_path)

    assert "exit status 1; on stderr: ValueError: too small" == (
        folder.run("fails.py").last_words()
    )
    with pytest.raises(NotImplementedError, match=r"TODO 3\.4"):
        folder.run("open.py")


DAEMON = """
import os, pathlib, time
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    pathlib.Path("note").write_text(str(os.getpid()))
    time.sleep(3600)
while not os.path.exists("note") or not pathlib.Path("note").read_text():
    time.sleep(0.05)
os.system("echo noise")
os.write(1, b"noise")
try:
    input()
except EOFError:
    pass
os.fork()
"""


@pytest.mark.usefixtures("warm_children")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans do not come to the checker")
def test_a_hostile_script_disturbs_nobody(tmp_path: Path) -> None:
    """It leaves a daemon, prints between our lines, asks for input, and comes back twice."""
    starter = layout.starter("debug_model.py")
    main = 'if __name__ == "__main__":\n'
    hostile = main + "".join(f"    {line}\n" for line in DAEMON.strip().splitlines())
    (tmp_path / "debug_model.py").write_text(starter.replace(main, hostile))
    (tmp_path / "debugging-note.md").write_bytes((layout.LAB / "debugging-note.md").read_bytes())

    found = list(examine("foundations.step_4", tmp_path))

    assert "4.7" == found[-1].todo
    assert len(found) == len({o.todo: o for o in found}) + 4  # two checks of 4.2, four of 4.5
    assert gone(int((tmp_path / "note").read_text(encoding="utf-8")))


@pytest.mark.usefixtures("warm_children")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_script_that_hangs_or_dies_costs_its_own_todo(tmp_path: Path) -> None:
    """The loop without an exit is stopped; the process that ended is followed by another."""
    code = layout.starter("explore_gradients.py")
    stub = '    raise NotImplementedError("TODO 2.{} {}")\n'
    hangs = stub.format(2, "compute one gradient")
    dies = stub.format(4, "let gradients add up")
    assert hangs in code
    assert dies in code
    code = code.replace(hangs, "    import time\n    while True:\n        time.sleep(1)\n")
    code = code.replace(dies, "    import os\n    os._exit(7)\n")
    (tmp_path / "explore_gradients.py").write_text(code)
    (tmp_path / "expressions.py").write_bytes((layout.LAB / "expressions.py").read_bytes())

    found: dict[str, Outcome] = {}
    for outcome in examine("foundations.step_2", tmp_path, deadlines=Deadlines(check_s=3)):
        found[outcome.todo] = outcome

    assert "did not finish in 3 s; look for a loop without an exit" == found["2.2"].says
    assert found["2.4"].says.startswith("took the whole process down")
    assert "not done yet" == found["2.3"].state


@pytest.mark.usefixtures("warm_children")
def test_what_would_steer_a_terminal_is_written_as_a_number(tmp_path: Path) -> None:
    """Text out of a script neither clears the screen nor changes its colours."""
    (tmp_path / "explore_gradients.py").write_text("raise ValueError('\\x1b[2J\\x9b31m')\n")

    with pytest.raises(CheckerError) as refused:
        list(examine("foundations.step_2", tmp_path))

    assert r"ValueError: \x1b[2J\x9b31m" in str(refused.value)


def test_the_environment_cannot_create_itself(tmp_path: Path) -> None:
    """An interpreter that does not exist yet can't make the folder that would hold it."""
    command = ["sh", "-c", ".venv/bin/python -m venv .venv"]

    tried = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert 127 == tried.returncode


def test_builds_that_do_not_fit_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A torchvision for CUDA beside a torch for the CPU raises no ImportError, and is seen."""
    from graders.foundations.step_1 import has_the_packages

    (tmp_path / "torchvision.py").write_text("raise RuntimeError('no operator nms')\n")
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(Exception, match=r"got no operator nms; torch .*, torchvision"):
        has_the_packages(Folder(tmp_path))
