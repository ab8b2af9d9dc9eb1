"""The page of Exercise 2 has its parts."""

import re
from pathlib import Path

import pytest

from lesson_site.markdown_source import Source

TEXT = Path("docs/lab/exercise-2.md").read_text(encoding="utf-8")
TODOS = ["2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8"]


@pytest.mark.parametrize("anchor", ["why", "start", "todos", "hints", "solution", "report"])
def test_other_pages_can_link_here(anchor: str) -> None:
    """The sections keep the names under which they are linked."""
    assert anchor in Source(TEXT).anchors


def test_every_todo_can_be_ticked_and_has_a_hint_and_a_solution() -> None:
    """Eight of each, the hints before the solutions."""
    ticks = re.findall(r"^- \[ \] \*\*(2\.\d)\*\*", TEXT, flags=re.MULTILINE)
    hints = re.findall(r'^\?\?\? tip "(2\.\d) ', TEXT, flags=re.MULTILINE)
    solved = re.findall(r'^\?\?\? success "(.+)"$', TEXT, flags=re.MULTILINE)

    assert ticks == TODOS
    assert hints == TODOS
    assert sorted(re.findall(r"2\.\d", " ".join(solved))) == TODOS
    assert TEXT.index("??? tip") < TEXT.index("??? success")


@pytest.mark.parametrize(
    "command",
    [
        "python -m lesson_code.lab start my-lab",
        "python -m lesson_code.lab check 2 my-lab/02_amp_training.py",
    ],
)
def test_the_learner_is_told_how_to_begin(command: str) -> None:
    """Both commands are on the page, in a form that can be typed."""
    assert f"\n$ {command}\n" in TEXT
