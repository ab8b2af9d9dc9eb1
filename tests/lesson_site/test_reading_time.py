"""The time that a page takes to read, and where it stands in its lesson."""

import re
from pathlib import Path

import markdown
import pytest

from lesson_site import reading_time
from lesson_site.errors import PageError
from lesson_site.page import Page
from lesson_site.reading_time import Lesson, minutes, scale

LOOP = '```lesson-code show="gpu_training/loop_gpu.py:loop"\n```\n'


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    """A folder with a lesson of three pages."""
    for number, words in ((1, 150), (2, 500), (3, 1)):
        text = f"# {number}. Title\n\n{'word ' * words}\n"
        (tmp_path / f"0{number}-page.md").write_text(text, encoding="utf-8")
    return tmp_path


def convert(monkeypatch: pytest.MonkeyPatch, source: Path, text: str) -> str:
    """The HTML of ``text``, as if it were the file ``source``."""
    monkeypatch.setattr(reading_time, "current_page", lambda _: Page(source, "lesson/page/"))
    return markdown.markdown(text, extensions=["md_in_html", "lesson_site.reading_time"])


@pytest.mark.parametrize(("words", "expected"), [(0, 1), (200, 1), (201, 2), (1000, 5)])
def test_two_hundred_words_take_a_minute(words: int, expected: int) -> None:
    """Minutes are rounded up, and no page takes none."""
    assert minutes("word " * words) == expected


def test_shown_code_takes_time() -> None:
    """The 18 lines of the loop add half a minute to a page that was full to the minute."""
    assert minutes("word " * 200) == 1
    assert minutes("word " * 200 + "\n\n" + LOOP) == 2


def test_front_matter_and_link_targets_are_not_read() -> None:
    """Only what a reader sees counts."""
    front = "---\ndescription: " + "word " * 300 + "\n---\n"
    link = "[one](" + "a/b " * 300 + ")"

    assert minutes(f"{front}# Title {{ #title }}\n\n{link}") == 1


def test_a_fence_with_a_mistake_is_left_to_the_fence() -> None:
    """The estimate never stops a build; the fence does, and says why."""
    assert minutes('```lesson-code show="no/such.py:section"\n```\n') == 1
    assert minutes("```lesson-compare\nbefore: [\n```\n") == 1


def test_a_page_says_where_it_stands(monkeypatch: pytest.MonkeyPatch, lesson: Path) -> None:
    """Position and minutes stand right below the title."""
    source = lesson / "02-page.md"

    html = convert(monkeypatch, source, source.read_text(encoding="utf-8"))

    expected = '<h1>2. Title</h1>\n<p class="page-position"><span>Section 2 of 3 · 3 minutes</span>'
    assert expected in html


def test_a_minute_is_not_a_minutes(monkeypatch: pytest.MonkeyPatch, lesson: Path) -> None:
    """One minute is written in the singular."""
    html = convert(monkeypatch, lesson / "01-page.md", "# 1. Title\n")

    assert "Section 1 of 3 · 1 minute<" in html


def test_the_overview_says_how_much_there_is(monkeypatch: pytest.MonkeyPatch, lesson: Path) -> None:
    """The lesson's first page gives the number of sections and the sum of their minutes."""
    html = convert(monkeypatch, lesson / "index.md", "# Lesson\n")

    assert "3 sections · about 5 minutes" in html


def test_the_list_of_pages_gives_each_its_minutes(
    monkeypatch: pytest.MonkeyPatch, lesson: Path
) -> None:
    """Links to numbered pages get their time, and other links do not."""
    text = (
        '<div class="lesson-pages" markdown>\n\n'
        "- [Two](02-page.md)\n- [Elsewhere](other.md)\n\n</div>\n"
    )

    html = convert(monkeypatch, lesson / "index.md", text)

    assert re.findall(r'<span class="reading-time">([^<]*)</span>', html) == ["3 min"]
    assert 'Two</a> <span class="reading-time">3 min</span></li>' in html


def test_a_list_that_names_a_missing_page_stops_the_build(
    monkeypatch: pytest.MonkeyPatch, lesson: Path
) -> None:
    """A page that was renamed is found in the overview."""
    text = '<div class="lesson-pages" markdown>\n\n[Nine](09-page.md)\n\n</div>\n'

    with pytest.raises(PageError, match=r"09-page\.md, which does not exist"):
        convert(monkeypatch, lesson / "index.md", text)


def test_the_whole_lesson_carries_no_position(
    monkeypatch: pytest.MonkeyPatch, lesson: Path
) -> None:
    """A page without a number stands nowhere in the order."""
    html = convert(monkeypatch, lesson / "whole-lesson.md", "# All\n\n## 1. Title\n")

    assert "page-position" not in html


def test_the_scale_has_one_mark_a_page_and_one_for_here() -> None:
    """The ruler counts pages; it is hidden from assistive technology, which has the sentence."""
    svg = scale(5, 17)

    assert svg.count('class="passed"') == 4
    assert svg.count('class="here"') == 1
    assert svg.count('class="ahead"') == 12
    assert 'aria-hidden="true"' in svg


def test_the_real_lesson_has_seventeen_pages() -> None:
    """The numbered pages are found in their order."""
    pages = Lesson.around(Path("docs/gpu-training/index.md")).pages

    assert [page.name[:2] for page in pages] == [f"{n:02}" for n in range(1, 18)]
