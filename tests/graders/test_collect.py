"""Grading what many learners handed in: who is found, what is refused, and what a teacher reads."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from graders import submissions
from graders.collect import COLUMNS, collect
from graders.hand_in import digest, hand_in
from graders.limits import landlock
from graders.outcome import Outcome
from graders.process import CheckerError
from graders.submissions import LARGEST
from graders.units import UNITS
from tests.building import REPOSITORY
from tests.processes import gone

UNIT = "lab.exercise_1"
FILE = UNITS[UNIT].file
SECOND = UNITS["lab.exercise_2"].file


def ask(unit: str, path: Path, seed: int, home: Path) -> Iterator[Outcome]:
    """Two TODOs, each as the answer says: it holds a state a line, or why it can't be graded."""
    assert path.is_relative_to(home)
    states = path.read_text(encoding="utf-8").splitlines()
    if len(states) == 1:
        raise CheckerError(states[0], [("1.1", "title"), ("1.2", "title")])
    for number, state in enumerate(states, 1):
        says = "" if state == "passed" else "=because"
        yield Outcome(f"1.{number}", "title", state, says, seed=seed)  # type: ignore[arg-type]


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A folder for what learners hand in."""
    folder = tmp_path / "handed-in"
    folder.mkdir()
    return folder


def hand(folder: Path, *states: str, file: str = FILE) -> Path:
    """Write an answer as ``ask`` reads it."""
    folder.mkdir(exist_ok=True)
    path = folder / file
    path.write_text("\n".join(states), encoding="utf-8")
    return path


def lines_of(room: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a teacher reads."""
    assert 0 == collect(room, seed=7, ask=ask)
    return capsys.readouterr().out.splitlines()


def rows_of(room: Path) -> list[dict[str, str]]:
    """The table that is written."""
    table = room.parent / "table.csv"
    assert 0 == collect(room, table, 7, ask)
    with table.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_a_line_for_each_learner_and_a_column_for_each_unit(
    room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says how many of the judged TODOs passed, and below which did not; a dash is no file."""
    hand(room / "ben", "passed", "passed")
    hand(room / "ada", "wrong", "not done yet")
    hand(room / "ada", "passed", "cannot be judged here", file=SECOND)

    assert [
        ["learner", "lab.exercise_1", "lab.exercise_2"],
        ["ada", "0/2", "1/1"],
        ["ben", "2/2", "–"],
        [""],
        ["ada, lab.exercise_1: wrong 1.1; not done yet 1.2"],
        ["lab.exercise_2: cannot be judged here: 1.2"],
        [""],
        ["The same cases again: --seed 7"],
    ] == [re.split(" {2,}", line) for line in lines_of(room, capsys)]


def test_a_row_for_each_learner_and_todo(room: Path) -> None:
    """With the state, the sentence, the seed and the digest."""
    path = hand(room / "ada", "wrong", "passed")
    first, second = rows_of(room)

    assert COLUMNS == tuple(first)
    assert ("ada", UNIT, "1.1", "wrong") == tuple(
        first[name] for name in ("learner", "unit", "todo", "state")
    )
    assert ("7", digest(path)) == (first["seed"], first["sha256"])
    assert ("1.2", "passed", "") == (second["todo"], second["state"], second["says"])


def test_no_cell_is_a_formula(room: Path) -> None:
    """A spreadsheet computes nothing that a learner wrote."""
    hand(room / "=1+1", "wrong", "passed")
    row = rows_of(room)[0]

    assert ("'=1+1", "'=because") == (row["learner"], row["says"])


def test_what_was_not_handed_in_is_not_done_yet(room: Path) -> None:
    """A row says so, without a TODO."""
    hand(room / "ada", "passed", "passed")
    hand(room / "ben", "passed", "passed", file=SECOND)
    missing = [row for row in rows_of(room) if not row["todo"]]

    assert [("ada", SECOND), ("ben", FILE)] == [
        (row["learner"], row["says"].split()[1]) for row in missing
    ]
    assert {"not done yet"} == {row["state"] for row in missing}


def test_files_may_begin_with_the_learner(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a learning platform hands them out."""
    hand(room, "passed", "passed", file=f"Ada Lovelace_{FILE}")
    hand(room, "passed", "wrong", file=f"ben-{FILE}")
    said = lines_of(room, capsys)

    assert said[1].startswith("Ada Lovelace  2/2")
    assert said[2].startswith("ben           1/2")


def test_the_outermost_file_counts(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A whole copy of the project has solutions of the same name further in."""
    (room / "ada" / "gpu-lab" / "solution").mkdir(parents=True)
    hand(room / "ada" / "gpu-lab", "wrong", "wrong")
    hand(room / "ada" / "gpu-lab" / "solution", "passed", "passed")

    assert "0/2" in lines_of(room, capsys)[1]


def test_what_lies_beside_an_answer_goes_along(room: Path) -> None:
    """A learner may import a file of their own; the original stays untouched."""
    hand(room / "ada", "passed", "passed")
    (room / "ada" / "helpers.py").write_text("")
    (room / "ada" / "data.bin").write_text("")
    seen: list[list[str]] = []

    def look(unit: str, path: Path, seed: int, home: Path) -> Iterator[Outcome]:
        seen.append(sorted(entry.name for entry in home.iterdir()))
        path.write_text("changed")
        yield Outcome("1.1", "title", "passed")

    collect(room, ask=look)

    assert [[FILE, "helpers.py"]] == seen
    assert "passed\npassed" == (room / "ada" / FILE).read_text()


def test_what_learners_were_handed_out_is_the_project_s(room: Path) -> None:
    """Nobody has to hand in the digits, and nobody's own faults are planted."""
    hand(room, "passed", "passed", file="ada_train_mnist.py")
    hand(room / "ben", "passed", "passed", file="train_mnist.py")
    (room / "ben" / "faults.py").write_text("mine")
    seen: list[str] = []

    def look(unit: str, path: Path, seed: int, home: Path) -> Iterator[Outcome]:
        assert len(list((home / "digits").rglob("*ubyte"))) == 4
        seen.append((home / "faults.py").read_text(encoding="utf-8"))
        yield Outcome("3.1", "title", "passed")

    collect(room, ask=look)

    given = (REPOSITORY / "lesson_code/foundations/lab/faults.py").read_text(encoding="utf-8")
    assert [given, given] == seen


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has other links and no pipes")
def test_what_is_not_fit_is_refused_unread(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A link, a pipe, a huge file: a sentence each, and the others are graded."""
    secret = hand(room.parent / "secret", "passed", "passed")
    for name in ("link", "pipe", "huge", "fine"):
        (room / name).mkdir()
    (room / "link" / FILE).symlink_to(secret)
    os.mkfifo(room / "pipe" / FILE)
    with (room / "huge" / FILE).open("wb") as file:
        file.truncate(LARGEST + 1)
    hand(room / "fine", "passed", "passed")
    (room / "linked").symlink_to(secret.parent)
    said = "\n".join(lines_of(room, capsys))

    assert f"link, {UNIT}: not graded: {FILE} is a link; hand in the file itself" in said
    assert f"pipe, {UNIT}: not graded: {FILE} is not a file" in said
    assert f"huge, {UNIT}: not graded: {FILE} has 1,000,001 bytes" in said
    assert f"linked, {UNIT}: not graded: linked is a link" in said
    assert 1 == said.count("2/2")


def test_two_files_of_one_name_are_refused(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody guesses which one counts."""
    (room / "ada").mkdir()
    hand(room / "ada" / "one", "passed", "passed")
    hand(room / "ada" / "two", "passed", "passed")

    assert "are two answers; leave one" in "\n".join(lines_of(room, capsys))


def test_a_folder_without_end_is_refused(
    room: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A learner's whole disk is not looked through."""
    monkeypatch.setattr(submissions, "MOST", 5)
    hand(room / "ben", "passed", "passed")
    (room / "ada").mkdir()
    for number in range(6):
        (room / "ada" / str(number)).touch()

    assert "ada has more than 5 entries" in "\n".join(lines_of(room, capsys))


def test_an_answer_that_cannot_be_graded_gets_a_sentence(
    room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the text and in the table, and the others are graded."""
    hand(room / "ada", f"{FILE} is no Python: \x1b[2J")
    hand(room / "ben", "passed", "passed")
    said = "\n".join(lines_of(room, capsys))

    assert rf"ada, {UNIT}: not graded: {FILE} is no Python: \x1b[2J" in said
    assert "2/2" in said
    assert [("1.1", "wrong"), ("1.2", "wrong")] == [
        (row["todo"], row["state"]) for row in rows_of(room) if row["learner"] == "ada"
    ]


def test_equal_files_are_named_and_not_judged(
    room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are graded as they are."""
    for name in ("ada", "ben"):
        hand(room / name, "passed", "passed")
    hand(room / "cyd", "passed", "wrong")
    said = lines_of(room, capsys)

    assert f"ada, {UNIT}: the same bytes as ben" in said
    assert ["ben", "ben", "ada", "ada", "", ""] == [row["same_as"] for row in rows_of(room)]


def test_names_cannot_steer_a_terminal(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even those of folders."""
    hand(room / "a\x1b[2Jda", "passed", "passed")
    collect(room, ask=ask)

    assert [] == [c for c in "".join(capsys.readouterr()) if not c.isprintable() and c != "\n"]


def report(path: Path, *states: str, sha256: str = "") -> str:
    """What a learner's own grader would have written of a file."""
    said = [Outcome(f"1.{n}", "title", state) for n, state in enumerate(states, 1)]  # type: ignore[arg-type]
    lines = [*said, hand_in(UNIT, path, sha256 or digest(path), said, 0)]
    return "\n".join(json.dumps(asdict(line)) for line in lines)


@pytest.mark.parametrize(
    ("states", "sha256", "says"),
    [
        (("passed", "wrong"), "", "agrees"),
        (("cannot be judged here", "wrong"), "", "agrees"),
        (("passed", "passed"), "", "differs: 1.2 was passed there and is wrong here"),
        (("passed",), "", "differs: 1.2 was missing there and is wrong here"),
        (("passed", "wrong"), "0" * 64, "differs: it is about another file"),
    ],
)
def test_a_report_is_compared_with_what_came_of_the_file(
    states: tuple[str, ...], sha256: str, says: str, room: Path
) -> None:
    """State by state, for the file that was handed in."""
    path = hand(room / "ada", "passed", "wrong")
    (room / "ada" / "report.json").write_text(report(path, *states, sha256=sha256))

    assert {says} == {row["report"] for row in rows_of(room)}


@pytest.mark.parametrize("text", ["", "no JSON", "[" * 100_000, "[1]", "\ud800", '{"unit": []}'])
def test_a_report_that_cannot_be_read_is_none(text: str, room: Path) -> None:
    """Grading goes on without it."""
    hand(room / "ada", "passed", "wrong")
    (room / "ada" / "report.json").write_bytes(text.encode("utf-8", "surrogatepass"))

    assert {""} == {row["report"] for row in rows_of(room)}


def test_a_report_beside_a_file_begins_with_the_learner(room: Path) -> None:
    """The longest name that fits is its author's."""
    path = hand(room, "passed", "wrong", file=f"anna_{FILE}")
    hand(room, "passed", "wrong", "passed", file=f"ann_{FILE}")
    (room / "anna_report.json").write_text(report(path, "passed", "wrong"))

    assert {("anna", "agrees"), ("ann", "")} == {
        (row["learner"], row["report"]) for row in rows_of(room)
    }


EMPTY = "has nothing to grade; put a folder for each learner in it"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda room: room / "none", "is not a folder; name the one"),
        (lambda room: room, EMPTY),
        (lambda room: hand(room / "ada", "passed", file="debugging-note.md").parents[1], EMPTY),
    ],
)
def test_a_folder_with_nothing_in_it_is_refused(
    make: Any, says: str, room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, and the status for a wrong call."""
    assert 2 == collect(make(room), ask=ask)
    assert says in (said := capsys.readouterr().err)
    assert said.startswith("error: ")
    assert 1 == said.count("\n")


@pytest.mark.parametrize("place", [".", "no-folder/table.csv"])
def test_a_table_that_cannot_be_written_is_refused_first(
    place: str, room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before minutes are spent on grading."""
    hand(room / "ada", "passed", "passed")

    assert 2 == collect(room, room / place, ask=ask)
    assert ("", True) == ((said := capsys.readouterr()).out, "error: can't write" in said.err)
    assert 1 == said.err.count("\n")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_true_answers_are_graded_in_processes(room: Path) -> None:
    """One leaves a daemon and can't be imported, one writes where it should not: nothing stays."""
    outside = room.parent / "outside"
    (room / "ada").mkdir()
    (room / "ben").mkdir()
    (room / "ada" / FILE).write_text(
        "import os, time\n"
        "daemon = os.fork()\n"
        "if not daemon:\n"
        "    os.setsid()\n"
        "    time.sleep(3600)\n"
        "raise SystemExit(f'\\x1b[2J {daemon}')\n"
    )
    (room / "ben" / FILE).write_text(
        "import os, pathlib, torch\n"
        "pathlib.Path('inside').write_text(str(os.getpid()))\n"
        "try:\n"
        f"    pathlib.Path({str(outside)!r}).write_text('mine')\n"
        "except OSError:\n"
        "    pass\n"
        "def move_tensor(t, device):\n"
        "    return t.to(device)\n"
    )
    (room / "json.py").write_text(f"open({str(outside)!r}, 'w')\n")  # not in the teacher's process
    table = room.parent / "table.csv"
    command = [sys.executable, "-m", "graders", "collect", ".", "--csv", str(table), "--seed", "3"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=room,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )

    assert 0 == done.returncode, done.stderr
    said = re.search(r"not graded: .* SystemExit: \\x1b\[2J (\d+)", done.stdout)
    assert said, done.stdout
    assert gone(int(said[1]))
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    states = {row["todo"]: row["state"] for row in rows if row["learner"] == "ben"}
    assert ("passed", "wrong") == (states["1.3"], states["1.1"])
    assert ["ada", "ben", "json.py"] == sorted(path.name for path in room.iterdir())
    assert [FILE] == [path.name for path in (room / "ben").iterdir()]
    if landlock() >= 3:
        assert not outside.exists()
