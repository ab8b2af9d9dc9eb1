"""Step 6: a note is complete when each of its headings has a text, whatever the text says."""

from pathlib import Path

import pytest

from tests.lesson_code.foundations.lab.workspace import SOLUTIONS, Checked, check, starter_folder

GOOD = (SOLUTIONS / "training-readiness.md").read_text(encoding="utf-8")
HEADINGS = [line.removeprefix("## ") for line in GOOD.splitlines() if line.startswith("## ")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The starter, whose note is still the template."""
    return starter_folder(tmp_path)


def checked(folder: Path, note: str) -> Checked:
    """What the checker says of a note."""
    (folder / "training-readiness.md").write_text(note, encoding="utf-8")
    return check("6", folder)


def left_open(said: Checked) -> list[str]:
    """The headings that the report names."""
    listed = " ".join(said.text.split()).partition("under: ")[2]
    return [heading for heading in HEADINGS if heading in listed]


def test_the_template_is_empty_under_every_heading(folder: Path) -> None:
    """The starter's own note leaves all eight open, those with a list of fields too."""
    template = (folder / "training-readiness.md").read_text(encoding="utf-8")

    assert 8 == len(HEADINGS)
    assert HEADINGS == left_open(checked(folder, template))


def test_a_written_note_is_complete(folder: Path) -> None:
    """Neither metrics file nor checkpoint is asked for."""
    said = checked(folder, GOOD)

    assert {"passed"} == set(said.states.values()), said.text
    assert 0 == said.status


@pytest.mark.parametrize("heading", HEADINGS)
def test_one_word_under_each_heading_is_enough(heading: str, folder: Path) -> None:
    """No word is looked for and none is refused; an empty heading, or a lost one, is open."""
    words = {name: f"## {name}\n\nYes.\n\n" for name in HEADINGS}
    whole = "".join(words.values())
    comment = whole.replace(words[heading], f"## {heading}\n\n<!-- Say it. -->\n\n")
    without = whole.replace(words[heading], "")

    assert {"passed"} == set(checked(folder, whole).states.values())
    assert [heading] == left_open(checked(folder, comment))
    assert [heading] == left_open(checked(folder, without))
