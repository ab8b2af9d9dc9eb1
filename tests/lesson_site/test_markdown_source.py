"""A page's Markdown is taken apart in one place."""

from pathlib import Path

import pytest
import yaml

from lesson_site import markdown_source
from lesson_site.markdown_source import Fence, Heading, Source, in_fences, read_yaml, sources

PAGE = """\
---
description: "What it is about"
claims: ["a < b"]
---
# The title { #title }

Some words.

    ```lesson-code show="a.py:b" run='print("x")'
    ```

````text
# no heading
```
still inside
````

## A part { #part .wide }

## Another, without an anchor
"""


def test_front_matter_is_read_and_left_out_of_the_prose() -> None:
    """Its keys are known, and its words are none of the page's."""
    page = Source(PAGE)

    assert {"description": "What it is about", "claims": ["a < b"]} == page.front_matter
    assert "description" not in page.body
    assert "claims" not in page.prose


def test_a_page_without_front_matter_has_none() -> None:
    """A rule of three dashes further down is no front matter."""
    page = Source("# Title\n\n---\n\nWords.\n")

    assert {} == page.front_matter
    assert page.text == page.body


def test_fences_have_their_kind_options_body_and_line() -> None:
    """Both kinds of quotes, any indentation, and shorter marks inside longer ones."""
    code, text = Source(PAGE).fences

    assert Fence("lesson-code", {"show": "a.py:b", "run": 'print("x")'}, "", 9) == code
    assert ("text", "# no heading\n```\nstill inside", 12) == (text.kind, text.body, text.line)


def test_the_prose_is_what_stands_outside_of_fences() -> None:
    """Words and headings, and nothing of the code."""
    prose = Source(PAGE).prose

    assert "Some words." in prose
    assert "inside" not in prose
    assert "lesson-code" not in prose


def test_headings_have_a_level_and_perhaps_an_anchor() -> None:
    """What looks like one inside a fence is none."""
    page = Source(PAGE)

    assert [
        Heading(1, "The title", "title"),
        Heading(2, "A part", "part"),
        Heading(2, "Another, without an anchor", ""),
    ] == page.headings
    assert "The title" == page.title
    assert ["title", "part"] == page.anchors


def test_a_fence_without_an_end_goes_to_the_end_of_the_page() -> None:
    """As Markdown reads it; it is no fence with a body yet."""
    lines = ["words", "```sh", "make test"]

    assert [False, True, True] == [fenced for fenced, _ in in_fences(lines)]
    assert [] == Source("\n".join(lines)).fences


def test_every_page_of_a_folder_is_read(tmp_path: Path) -> None:
    """Folders below it too, in the order of their names."""
    (tmp_path / "below").mkdir()
    for name in ("b.md", "below/a.md"):
        (tmp_path / name).write_text(f"# {name}\n", encoding="utf-8")

    assert {"b.md": "b.md", "below/a.md": "below/a.md"} == {
        path.relative_to(tmp_path).as_posix(): page.title
        for path, page in sources(tmp_path).items()
    }


@pytest.mark.parametrize("text", ["a: [1, 2.5, null, 2026-01-02]\nb: |\n  x\n", "", "- é"])
def test_yaml_says_the_same_with_and_without_libyaml(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine may lack the library."""
    fast = read_yaml(text)

    monkeypatch.setattr(markdown_source, "FAST", yaml.SafeLoader)

    assert yaml.safe_load(text) == fast == read_yaml(text)


@pytest.mark.parametrize("text", ["a: b: c", "[1, 2", "\t- a", "!!python/name:os.system"])
def test_what_is_wrong_with_yaml_is_said_in_one_way(text: str) -> None:
    """The library words it otherwise."""
    with pytest.raises(yaml.YAMLError) as expected:
        yaml.safe_load(text)

    with pytest.raises(yaml.YAMLError) as problem:
        read_yaml(text)

    assert str(expected.value) == str(problem.value)
