"""What teachers are told works as it is written: the commands, the fields, how to cite."""

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from graders.collect import COLUMNS
from graders.units import UNITS
from tests.building import REPOSITORY
from tests.graders.test_hand_in import LAST, LINE, STATES

PAGE = (REPOSITORY / "docs" / "teaching.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
FILE = UNITS["lab.exercise_1"].file
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


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which somebody has typed them, one after the other."""
    folder = tmp_path_factory.mktemp("teaching")
    for place in (folder, folder / "handed-in" / "ada"):
        place.mkdir(parents=True, exist_ok=True)
        (place / FILE).write_text("", encoding="utf-8")
    python = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands():
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": python, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        assert "error:" not in done.stderr
    return folder


def test_the_page_s_report_ends_with_a_hand_in(typed: Path) -> None:
    """In the file that the page names."""
    lines = (typed / "report-1.json").read_text(encoding="utf-8").splitlines()

    assert "lab.exercise_1" == json.loads(lines[-1])["unit"]


def test_the_page_s_table_is_written(typed: Path) -> None:
    """With the learner whose folder is there."""
    rows = list(csv.DictReader((typed / "grades.csv").read_text(encoding="utf-8").splitlines()))

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
