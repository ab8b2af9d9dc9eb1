"""Where the live server can put its buttons, the built pages say so, and say what is there."""

import json
import re
from pathlib import Path

import pytest

from lesson_code.lab.__main__ import FILES
from tests.building import REPOSITORY

PLACE = re.compile(r'data-runs="(?P<target>[^"]+)"')
OPTIONS = re.compile(r"`(?:python \S+ )?(--[^`]+)`")
SOLUTION = "2-3-2-gpu-training-solution.ipynb"


def places(page: Path) -> list[str]:
    """What the places of a page run."""
    return PLACE.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("exercise", "file"), FILES.items())
def test_each_exercise_is_checked_and_run(built_site: Path, exercise: int, file: str) -> None:
    """By the name under which the starter is copied; the report comes with the page's options."""
    page = built_site / "lab" / f"exercise-{exercise}" / "index.html"
    prose = (REPOSITORY / "docs" / "lab" / f"exercise-{exercise}.md").read_text(encoding="utf-8")

    check, *others = places(page)
    (report,) = [place for place in others if place.startswith("report ")]

    assert f"check {exercise} {file}" == check
    assert file == report.split()[1]
    said = [word for code in re.findall(OPTIONS, prose) for word in code.split()]
    assert set(report.split()[2:]) <= set(said)


def test_each_cell_with_an_output_can_run(built_site: Path) -> None:
    """The pages of the notebook name every such cell once, in order, by its id in the file."""
    notebook = json.loads((built_site / "notebooks" / SOLUTION).read_text(encoding="utf-8"))
    expected = [
        f"notebooks/{SOLUTION}#{cell['id']}" for cell in notebook["cells"] if cell.get("outputs")
    ]
    names = ("setup", *(f"exercise-{number}" for number in range(1, 5)))

    found = [
        place for name in names for place in places(built_site / "notebooks" / name / "index.html")
    ]

    assert 10 < len(expected)
    assert expected == found
