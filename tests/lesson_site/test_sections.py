"""Named sections of lesson code are found, dedented and counted, and mistakes are named."""

from pathlib import Path

import pytest

from lesson_site.sections import SectionError, read_section, sections_of

MODULE = '''\
"""A module."""
# --8<-- [start:outer]


class Loop:
    # --8<-- [start:step]
    def step(self):
        return 1

    # --8<-- [end:step]
# --8<-- [end:outer]
'''


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A folder of lesson code with one module."""
    (tmp_path / "loop.py").write_text(MODULE)
    return tmp_path


def test_a_section_is_dedented_and_knows_its_lines(code: Path) -> None:
    """Markers, common indentation and empty lines at the edges are gone; numbers are the file's."""
    section = read_section("loop.py:step", code)

    assert ("def step(self):", "    return 1") == section.lines
    assert (7, 8) == section.numbers
    assert "def step(self):\n    return 1" == section.text


def test_sections_may_lie_in_each_other(code: Path) -> None:
    """The outer section holds the inner one, without its markers."""
    section = read_section("loop.py:outer", code)

    assert ("class Loop:", "    def step(self):", "        return 1") == section.lines


def test_a_whole_file_is_a_section_without_a_name(code: Path) -> None:
    """All lines but the markers are there."""
    section = read_section("loop.py", code)

    assert '"""A module."""' == section.lines[0]
    assert not any("--8<--" in line for line in section.lines)


def test_all_sections_of_a_file_are_listed(code: Path) -> None:
    """By name, without the whole file."""
    assert {"outer", "step"} == set(sections_of("loop.py", code))


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("loop.py:nope", "has no section 'nope'; its sections are: outer, step"),
        ("nope.py:step", "there is no file"),
        ("../loop.py:step", "lies outside"),
    ],
)
def test_what_does_not_exist_is_named(code: Path, target: str, said: str) -> None:
    """The message says what there is instead."""
    with pytest.raises(SectionError, match=said):
        read_section(target, code)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "# --8<-- [start:a]\nx = 1\n",
            r"a\.py: section 'a' .*write `# --8<-- \[end:a\]`",
        ),
        ("x = 1\n# --8<-- [end:a]\n", ":2: section 'a' ends before it starts"),
        ("# --8<-- [start:a]\n# --8<-- [start:a]\n", ":2: section 'a' starts twice"),
    ],
)
def test_markers_that_do_not_pair_up_are_refused(tmp_path: Path, source: str, said: str) -> None:
    """A marker without its partner names the file and the section."""
    (tmp_path / "a.py").write_text(source)

    with pytest.raises(SectionError, match=said):
        read_section("a.py:a", tmp_path)


def test_an_exercise_is_shown_as_its_solution(code: Path) -> None:
    """Marks and hints are left out, and numbers are the file's."""
    text = "# --8<-- [start:a]\n# BLANK 1: count\n#: From one.\na = 1\n# INSTEAD\n# a = 0\n# END\n"
    (code / "exercise.py").write_text(f"{text}b = 2\n# --8<-- [end:a]\n")
    section = read_section("exercise.py:a", code)

    assert ("a = 1", "b = 2") == section.lines
    assert (4, 8) == section.numbers


def test_a_blank_without_an_end_is_named(code: Path) -> None:
    """With its file and its line."""
    (code / "exercise.py").write_text("a = 1\n# BLANK 1: count\nb = 2\n")

    with pytest.raises(SectionError, match=r"^exercise\.py: line 2: what begins here has no"):
        read_section("exercise.py", code)
