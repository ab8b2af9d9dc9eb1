"""What `--json` says at last: which file was graded, by what, and how far it got."""

import json
import tomllib
from dataclasses import asdict
from pathlib import Path

import jsonschema
import pytest

from graders import door
from graders.checks import checks_in, unit
from graders.commands import main
from graders.hand_in import VERSION, digest
from graders.outcome import Outcome
from graders.process import CheckerError
from graders.units import UNITS
from lesson_code.lab.__main__ import FILES
from tests.building import REPOSITORY

UNIT = "lab.exercise_1"
FOUND = [
    Outcome("1.1", "choose", "passed", seed=7),
    Outcome("1.2", "create", "wrong", "expected 1, got 2 (look)", seed=7),
    Outcome("1.2", "on a GPU", "cannot be judged here", "there is no GPU", seed=7),
]
# What tools may rely on.
TEXT, COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}
STATES = ["passed", "wrong", "not done yet", "cannot be judged here"]
LINE = {
    "todo": TEXT,
    "title": TEXT,
    "state": {"enum": STATES},
    "says": TEXT,
    "advice": {"type": "array", "items": TEXT},
    "seed": COUNT,
}
VERSIONS = {"python": TEXT, "torch": {"type": ["string", "null"]}, "graders": TEXT}
LAST = {
    "unit": {"enum": [*UNITS]},
    "file": TEXT,
    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "seed": COUNT,
    "passed": COUNT,
    "of": COUNT,
    "versions": {
        "type": "object",
        "properties": VERSIONS,
        "required": [*VERSIONS],
        "additionalProperties": False,
    },
}


def schema(properties: dict[str, object]) -> dict[str, object]:
    """An object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    """A file whose digest everybody can compute."""
    path = tmp_path / "01_gpu_basics.py"
    path.write_bytes(b"abc")
    return path


def test_the_last_line_is_the_hand_in(
    answer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It counts what passed of what could be judged, and names the file by its digest."""
    monkeypatch.setattr(door, "examine", lambda *_: iter(FOUND))

    assert 1 == door.grade(UNIT, "title", answer, as_json=True, seed=7)
    *lines, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert [asdict(outcome) | {"advice": []} for outcome in FOUND] == lines
    # The digest of `abc` is the first example of the standard.
    assert last["sha256"].startswith("ba7816bf8f01cfea")
    assert (UNIT, "01_gpu_basics.py", 7, 1, 2) == tuple(
        last[key] for key in ("unit", "file", "seed", "passed", "of")
    )


def test_text_has_no_hand_in(
    answer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Learners read the lines that they know."""
    monkeypatch.setattr(door, "examine", lambda *_: iter(FOUND))

    door.grade(UNIT, "title", answer, as_json=False, seed=7)

    assert "sha256" not in (said := capsys.readouterr().out)
    assert said.endswith("The same cases again: --seed 7\n")


@pytest.mark.parametrize("as_json", [False, True])
def test_what_cannot_be_imported_is_wrong_in_every_todo(
    as_json: bool,
    answer: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A learner reads one sentence, a tool finds it at each TODO."""

    def refuse(*_: object) -> None:
        raise CheckerError("it is no Python", [("1.1", "a"), ("1.1", "a"), ("1.2", "b")])

    monkeypatch.setattr(door, "examine", refuse)

    assert 1 == door.grade(UNIT, "title", answer, as_json, seed=7)
    said = capsys.readouterr()
    assert "error: it is no Python\n" == said.err
    if as_json:
        *lines, last = map(json.loads, said.out.splitlines())
        assert [("1.1", "wrong"), ("1.2", "wrong")] == [(o["todo"], o["state"]) for o in lines]
        assert {("it is no Python", 7)} == {(o["says"], o["seed"]) for o in lines}
        assert (0, 2) == (last["passed"], last["of"])
    else:
        assert "title\n" == said.out


def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, and the status for a wrong call."""
    assert 2 == door.grade(UNIT, "title", tmp_path / "nothing.py", as_json=True)
    assert capsys.readouterr().err.startswith("error: can't read")


@pytest.mark.usefixtures("warm_children")
def test_a_door_writes_what_tools_rely_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same fields in each line, for a true file in a process of its own."""
    path = tmp_path / "01_gpu_basics.py"
    path.write_text('def choose_device(prefer=None):\n    raise NotImplementedError("TODO 1.1")\n')
    status = main(["check", UNIT, str(path), "--json", "--seed", "3"])
    *lines, last = map(json.loads, capsys.readouterr().out.splitlines())

    assert 1 == status
    for line in lines:
        jsonschema.validate(line, schema(LINE))
    jsonschema.validate(last, schema(LAST))
    judged = [line for line in lines if line["state"] != "cannot be judged here"]
    assert (3, 3, len(judged)) == (lines[0]["seed"], last["seed"], last["of"])
    assert len({check.title for check in checks_in(unit(UNIT))}) == len(lines)


def test_a_folder_s_digest_follows_every_file_of_the_unit(tmp_path: Path) -> None:
    """It changes with a name or a byte, and with nothing else in the folder."""
    names = ("a.py", "b.md", "missing.md")
    (tmp_path / "a.py").write_bytes(b"a")
    (tmp_path / "b.md").write_bytes(b"b")
    before = digest(tmp_path, names)
    (tmp_path / "data.bin").write_bytes(b"ours")

    assert before == digest(tmp_path, names)
    (tmp_path / "b.md").write_bytes(b"c")
    assert before != digest(tmp_path, names)
    (tmp_path / "b.md").rename(tmp_path / "missing.md")
    (tmp_path / "missing.md").write_bytes(b"b")
    assert before != digest(tmp_path, names)


def test_the_version_is_the_project_s() -> None:
    """A hand-in says which checks it met."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))

    assert project["project"]["version"] == VERSION


@pytest.mark.parametrize("name", UNITS)
def test_every_unit_has_checks(name: str) -> None:
    """What commands offer can be graded."""
    assert checks_in(unit(name))


def test_the_lab_s_files_are_those_that_learners_get() -> None:
    """A unit asks for the name that the learner's folder has."""
    assert FILES == {n: UNITS[f"lab.exercise_{n}"].file for n in FILES}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lab.exercise_9", "FILE"], "there is no unit lab.exercise_9; take one of lab.exercise_1"),
        (["lab.exercise_2", "FOLDER"], "is a folder; name the file in it, such as"),
        (["lab.exercise_2", "FOLDER/none.py"], "none.py; name the learner's 02_amp_training.py"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(
    words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, and the status for a wrong call."""
    assert 2 == main(["check", *(word.replace("FOLDER", str(tmp_path)) for word in words)])
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert says in said
