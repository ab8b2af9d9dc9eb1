"""What teachers are told works as it is written: the commands, the fields, how to cite."""

import csv
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from graders import commands as graders_door
from graders.collect import COLUMNS
from graders.units import UNITS
from lesson_code.lab import __main__ as lab_door
from tests.building import REPOSITORY
from tests.graders.test_hand_in import LAST, LINE, STATES

PAGE = (REPOSITORY / "docs" / "teaching.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
FILE = UNITS["lab.exercise_1"].file
DOORS = {"graders": graders_door.main, "lesson_code.lab": lab_door.main}
# All that version 1.2.0 of the format knows, and what it asks for.
KNOWN = {
    *("abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi"),
    *("identifiers", "keywords", "license", "license-url", "message", "preferred-citation"),
    *("references", "repository", "repository-artifact", "repository-code", "title", "type"),
    *("url", "version"),
}
REQUIRED = {"authors", "cff-version", "message", "title"}


def commands() -> list[str]:
    """The lines that a teacher or a learner types."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """A folder in which somebody has typed them, one after the other."""
    for place in (tmp_path, tmp_path / "handed-in" / "ada"):
        place.mkdir(parents=True, exist_ok=True)
        (place / FILE).write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command in commands():
        words, _, report = command.partition(" > ")
        python, flag, module, *arguments = shlex.split(words)
        status = DOORS[module](arguments)
        said = capsys.readouterr()
        if report:
            Path(report).write_text(said.out, encoding="utf-8")
        assert ("python", "-m") == (python, flag)
        assert status in (0, 1), said.err
        assert "error:" not in said.err
    return tmp_path


@pytest.mark.usefixtures("warm_children")
def test_what_the_page_types_does_what_it_says(typed: Path) -> None:
    """The report ends with a hand-in, in the file that is named, and a table has the learner."""
    lines = (typed / "report-1.json").read_text(encoding="utf-8").splitlines()

    rows = list(csv.DictReader((typed / "grades.csv").read_text(encoding="utf-8").splitlines()))

    assert "lab.exercise_1" == json.loads(lines[-1])["unit"]
    assert {"ada"} == {row["learner"] for row in rows}


def test_the_page_names_every_field() -> None:
    """A tool's author reads them there."""
    named = set(re.findall(r'`"?([\w ]+)"?`', PAGE))

    assert set() == {*LINE, *LAST, *STATES, "report", "same_as"} - named
    assert {"report", "same_as"} <= set(COLUMNS)


def test_the_citation_is_one() -> None:
    """It has what the format asks for, and nothing that it does not know."""
    assert REQUIRED <= set(CITATION)
    assert set(CITATION) <= KNOWN
    assert "1.2.0" == CITATION["cff-version"]
    assert [["name"]] == [list(author) for author in CITATION["authors"]]


def test_the_citation_has_the_project_s_version() -> None:
    """A new version is cited as such."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))

    assert project["project"]["version"] == CITATION["version"]
