"""What somebody else's answer may not do, tried by a process that is confined."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest

from graders import process
from graders.limits import CPU_S, landlock
from graders.outcome import Outcome
from graders.process import CheckerError, examine

TRIES = """
import json, os, resource, subprocess, sys
from pathlib import Path
from graders.limits import LARGEST_FILE, MORE_MEMORY, confine

home, outside = map(Path, sys.argv[1:])
confine(home)

def tried(deed):
    try:
        deed()
    except (OSError, MemoryError) as problem:
        return type(problem).__name__
    return "done"

def large():
    with (home / "large").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)

python = [sys.executable, "-c"]
print(json.dumps({
    "inside": tried(lambda: (home / "file").write_text("mine")),
    "folder": tried(lambda: (home / "folder").mkdir()),
    "null": tried(lambda: Path(os.devnull).write_text("nothing")),
    "read": tried(outside.read_text),
    "outside": tried(lambda: outside.write_text("mine")),
    "beside": tried(lambda: (outside.parent / "new").write_text("mine")),
    "remove": tried(outside.unlink),
    "signal": tried(lambda: os.kill(os.getppid(), 0)),
    "large": tried(large),
    "memory": tried(lambda: bytearray(2 * MORE_MEMORY)),
    "by another": subprocess.run(
        [*python, f"open({str(outside)!r}, 'w')"], capture_output=True).returncode,
    "processor": resource.getrlimit(resource.RLIMIT_CPU)[1],
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What came of each deed."""
    folder = tmp_path_factory.mktemp("limits")
    home, outside = folder / "home", folder / "outside"
    home.mkdir()
    outside.write_text("another's")
    command = [sys.executable, "-c", TRIES, str(home), str(outside)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, object] = json.loads(done.stdout)
    return result | {"left": outside.read_text()}


def test_an_answer_works_in_its_folder(found: dict[str, object]) -> None:
    """It reads, writes and makes folders there."""
    assert {"done"} == {found[deed] for deed in ("inside", "folder", "null", "read")}


@pytest.mark.skipif(landlock() < 3, reason="this kernel has no Landlock that forbids it")
def test_an_answer_changes_nothing_elsewhere(found: dict[str, object]) -> None:
    """Neither by itself nor by a process that it starts."""
    assert {"PermissionError"} == {found[deed] for deed in ("outside", "beside", "remove")}
    assert (1, "another's") == (found["by another"], found["left"])


@pytest.mark.skipif(landlock() < 6, reason="this kernel's Landlock does not know signals")
def test_an_answer_ends_nobody_else(found: dict[str, object]) -> None:
    """What graded it goes on."""
    assert "PermissionError" == found["signal"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other limits")
def test_an_answer_takes_its_share(found: dict[str, object]) -> None:
    """Of memory, the disk and the processor."""
    assert ("MemoryError", "OSError") == (found["memory"], found["large"])
    assert int(str(found["processor"])) <= CPU_S


FORGED = [{}, [], 1, None, {"todo": "1.1"}, {"todo": "9.9", "title": "x", "state": "passed"}]
TRUE = {"todo": "1.1", "title": "choose", "seed": 0}


class Voice:
    """A child that says what an answer wrote in its place, then nothing more."""

    def __init__(self, *lines: object) -> None:
        self.lines = [*lines]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def next(self, _: float) -> object:
        """The next line."""
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def said_of(monkeypatch: pytest.MonkeyPatch, *lines: object) -> list[Outcome]:
    """What comes of the lines, where one check is planned."""
    monkeypatch.setattr(process, "Child", lambda *_: Voice([["1.1", "choose", 20.0]], *lines))
    return list(examine("lab.exercise_1", Path("01_gpu_basics.py")))


@pytest.mark.parametrize(
    "line", [*FORGED, {**TRUE, "state": "great"}, {**TRUE, "state": "passed", "says": 1}]
)
def test_a_line_that_no_check_wrote_costs_its_todo(
    line: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not the planned TODO's outcome is none."""
    assert ["wrong"] == [outcome.state for outcome in said_of(monkeypatch, "", line)]


@pytest.mark.parametrize("line", [{}, [], 0, None])
def test_a_line_in_the_place_of_the_import_s_is_refused(
    line: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that wrote there while it was imported is graded no further."""
    with pytest.raises(CheckerError, match="ends the process when it is imported"):
        said_of(monkeypatch, line, {**TRUE, "state": "passed"})


def test_a_planned_line_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a check wrote counts."""
    true = {**TRUE, "state": "passed"}

    assert ["passed"] == [outcome.state for outcome in said_of(monkeypatch, "", true)]
