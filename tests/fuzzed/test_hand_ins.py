"""Whatever is handed in or given, a teacher and a maintainer get a table, a file, or a sentence."""

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from benchmarks.contribute import main as contribute
from graders.collect import COLUMNS, collect
from graders.outcome import Outcome
from graders.process import CheckerError
from graders.units import UNITS
from results import contributed, store
from tests.benchmarks.made_up import good
from tests.building import REPOSITORY
from tests.fuzzed.by_chance import by_chance
from tests.fuzzed.damage import damaged

FILES = sorted({file for unit in UNITS.values() for file in unit.files})
NAMES = st.lists(
    st.sampled_from(("ada", "ben", " ", "_", "-", ".", "\n", "\x1b[2J", "é", "\udcff", "=1+1")),
    min_size=1,
    max_size=4,
).map("".join)
FILE_NAMES = st.sampled_from(FILES) | st.tuples(
    NAMES, st.sampled_from((*FILES, ".json", ".py", ".md", "", "_report.json"))
).map("".join)
STATES = st.sampled_from(("passed", "wrong", "not done yet", "cannot be judged here"))
ANSWERS = st.lists(STATES, max_size=4).map(lambda states: "\n".join(states).encode())
UNIT = "lab.exercise_1"
SOUND = "\n".join(
    json.dumps(line)
    for line in (
        {"todo": "1.1", "title": "title", "state": "passed", "says": "", "advice": [], "seed": 0},
        {"unit": UNIT, "path": UNITS[UNIT].file, "sha256": sha256(b"passed").hexdigest()},
    )
)
CONTENTS = (
    *(ANSWERS, damaged(SOUND).map(lambda text: text.encode("utf-8", "surrogatepass"))),
    *(st.binary(max_size=40), st.sampled_from((b"", b"\0" * 99, b"[" * 99_999, b'"\\ud800"'))),
)
PIPES = ("pipe",) if hasattr(os, "mkfifo") else ()
KINDS = st.sampled_from(("file", "file", "file", "folder", "link", *PIPES))
ENTRIES = st.tuples(st.lists(NAMES, max_size=2), FILE_NAMES, KINDS, st.one_of(CONTENTS))


def ask(unit: str, path: Path, seed: int, home: Path) -> Iterator[Outcome]:
    """One TODO, of which the answer itself is said, or a checker that the answer breaks."""
    assert path.is_relative_to(home)
    content = (path / UNITS[unit].file if path.is_dir() else path).read_bytes()
    says = content[:40].decode("latin-1")
    if b"judged" in content:
        raise CheckerError(says, [("1.1", "title")])
    yield Outcome("1.1", "title", "passed" if b"passed" in content else "wrong", says, seed=seed)


def put(room: Path, entry: tuple[list[str], str, str, bytes]) -> None:
    """Lay one thing below a folder, unless something else is in its place."""
    folders, name, kind, content = entry
    path = room.joinpath(*folders, name)
    if os.path.lexists(path):  # a pipe would wait for a reader
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "folder":
                path.mkdir()
            case "link":
                path.symlink_to(room)
            case "pipe":
                os.mkfifo(path)
            case _:
                path.write_bytes(content)
    except OSError:
        return


def test_whatever_learners_hand_in_is_graded_or_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line of the table for each answer, whatever lies around it and whatever it is called."""
    room, table = tmp_path / "handed-in", tmp_path / "table.csv"

    @by_chance(st.lists(ENTRIES, min_size=1, max_size=6))
    def grade(entries: list[tuple[list[str], str, str, bytes]]) -> None:
        shutil.rmtree(room, ignore_errors=True)
        table.unlink(missing_ok=True)
        room.mkdir()
        for entry in entries:
            put(room, entry)

        status = collect(room, table, 7, ask)

        said = capsys.readouterr()
        assert all(line.isprintable() for line in said.out.split("\n"))
        if status:
            assert 2 == status
            assert re.fullmatch("(.*\n)*error: .+\n", said.err)
            assert not table.exists()
        else:
            with table.open(encoding="utf-8", newline="") as text:
                rows = list(csv.DictReader(text))
            assert rows
            assert all([*COLUMNS] == [*row] for row in rows)
            assert all(cell.isprintable() for row in rows for cell in row.values())

    grade()


def test_a_damaged_result_is_given_whole_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command writes is shown later; what it refuses leaves nothing behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platform.node", lambda: "my-box")
    ours = store.open_store(REPOSITORY)
    given = Path("benchmarks")

    @by_chance(damaged(json.dumps(good(), indent=1)), st.just("Ada") | NAMES | st.text(max_size=30))
    def give(text: str, name: str) -> None:
        shutil.rmtree(given, ignore_errors=True)
        Path("mine.json").write_text(text, encoding="utf-8", errors="surrogatepass")
        capsys.readouterr()

        status = contribute(["mine.json", f"--as={name}"])

        said = capsys.readouterr().err
        if status:
            assert 2 == status
            assert re.fullmatch("error: .{9,5000}\n", said)
            assert not given.exists()
        else:
            assert "" == said
            assert 1 == len(contributed.read(ours, Path()))

    give()


def test_a_damaged_gift_is_shown_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file below the folder of gifts is a contribution, or one sentence says what is wrong."""
    monkeypatch.chdir(tmp_path)
    Path("mine.json").write_text(json.dumps(good()), encoding="utf-8")
    assert 0 == contribute(["mine.json", "--as", "Ada"])
    [path] = contributed.FOLDER.glob("*/*")
    sound = json.dumps(json.loads(path.read_text(encoding="utf-8")), indent=1)
    ours = store.open_store(REPOSITORY)
    known: list[Any] = list(ours.definitions.values())

    @by_chance(damaged(sound))
    def read(text: str) -> None:
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        said = ""
        try:
            [found] = contributed.read(ours, Path())
            assert all(found.text(one) is not None for one in known)
            assert found.name.isprintable()
        except store.FigureError as refusal:
            said = str(refusal)
        assert "\n" not in said

    read()
