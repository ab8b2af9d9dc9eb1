"""The mission's sentences: from Markdown, with numbers put in, under ids that scripts know."""

import re
from pathlib import Path

import pytest

from lesson_site.errors import PageError
from lesson_site.mission import sentences
from lesson_site.mission.payload import payload_text
from lesson_site.mission.sentences import files, messages, read
from lesson_site.mission.values import values
from tests.lesson_site.mission.test_scripts import SCRIPTS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of texts."""
    monkeypatch.setattr(sentences, "FOLDER", tmp_path)
    return tmp_path


def test_a_text_goes_on_in_indented_lines(folder: Path) -> None:
    """A list has texts and answers; a paragraph ends at an empty line."""
    lines = ["# Title", "", "One.", "Two.", "", "Three.", "", "- a.b: First.", "  Second."]
    lines += ["- [ ] no: label", "  Wrong.", "- [x] yes: other"]
    (folder / "some.md").write_text("\n".join(lines), encoding="utf-8")

    found = read("some")["Title"]

    assert ["One. Two.", "Three."] == found.paragraphs
    assert {"a.b": "First. Second.", "no": "label Wrong.", "yes": "other"} == found.texts
    assert ["First.", "Second."] == found.items["a.b"]
    assert ["yes"] == found.right


def test_numbers_come_by_name(folder: Path) -> None:
    """A figure of the catalogue has its unit; a value of the mission has none."""
    text = "# Title\n\n- id: [[mission.state.adam]] of [[node]] GB, {total} GB here.\n"
    (folder / "some.md").write_text(text, encoding="utf-8")

    assert "12.46 GB of 80.0 GB, {total} GB here." == messages()["id"]


@pytest.mark.parametrize("name", ["mission.nothing", "nothing"])
def test_an_unknown_number_is_refused_with_its_line(folder: Path, name: str) -> None:
    """The author reads where it is."""
    (folder / "some.md").write_text(f"# Title\n\n- id: [[{name}]]\n", encoding="utf-8")

    with pytest.raises(PageError, match=rf"some\.md:3: there is no figure '{name}'"):
        messages()


@pytest.mark.parametrize("second", ["- id: Again.", "- No id."])
def test_a_text_without_an_id_of_its_own_is_refused(folder: Path, second: str) -> None:
    """The author reads which text it is."""
    (folder / "some.md").write_text(f"# Title\n\n- id: Text.\n{second}\n", encoding="utf-8")

    with pytest.raises(PageError, match=rf"some\.md: needs an id of its own: {second}"):
        messages()


def test_an_id_is_given_once(folder: Path) -> None:
    """Two texts of one id are refused in two files."""
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text("# Title\n\n- id: Text.\n", encoding="utf-8")

    with pytest.raises(PageError, match=r"two\.md: two texts are called id"):
        messages()


def test_a_changed_text_is_seen_at_once(folder: Path) -> None:
    """A preview that goes on sees that the data is out of date, and that it is mended."""
    for path in Path("lesson_site/mission/texts").glob("*.md"):
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    before = payload_text()

    guide = folder / "guide.md"
    guide.write_text(f"{guide.read_text(encoding='utf-8')}- new: New.\n", encoding="utf-8")

    assert '"new":"New."' not in before
    assert '"new":"New."' in payload_text()


def test_every_number_is_in_a_text() -> None:
    """None is computed that nobody reads."""
    written = "".join(path.read_text(encoding="utf-8") for path in files())

    assert [] == [name for name in values() if f"[[{name}]]" not in written]


def test_every_text_that_a_script_names_is_there() -> None:
    """No script asks for a text under an id that nobody wrote."""
    asked = {
        name
        for script in SCRIPTS
        for name in re.findall(r'\b(?:text|says)\("([\w.]+)"', script.read_text(encoding="utf-8"))
    }

    assert len(asked) > 40
    assert set() == asked - messages().keys()
