"""The time that a page takes to read, and where it is in its lesson."""

import json
import re
from pathlib import Path

import markdown
import pytest

from lesson_site import notebooks, reading_time
from lesson_site.errors import PageError
from lesson_site.markdown_source import Source
from lesson_site.notebooks import LEARNER, NotebookError
from lesson_site.page import Page
from lesson_site.reading_time import minutes, scale

LOOP = '```lesson-code show="gpu_training/loop_gpu.py:loop"\n```\n'


NAVIGATION = "nav: [{Lesson: [{Part: [%s]}]}]"


@pytest.fixture
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lesson of three sections."""
    folder = tmp_path / "docs" / "gpu-training"
    folder.mkdir(parents=True)
    for slug, words in (("one", 150), ("two", 500), ("three", 1)):
        (folder / f"{slug}.md").write_text(f"# Title\n\n{'word ' * words}\n", encoding="utf-8")
    pages = ", ".join(f"gpu-training/{slug}.md" for slug in ("one", "two", "three"))
    (tmp_path / "mkdocs.yml").write_text(NAVIGATION % pages, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def convert(monkeypatch: pytest.MonkeyPatch, source: str, text: str = "# 2. Title\n") -> str:
    """The HTML of ``text``, as if it were that page of the lesson."""
    page = Page(Path("docs/gpu-training") / source, "lesson/page/")
    monkeypatch.setattr(reading_time, "current_page", lambda _: page)
    return markdown.markdown(text, extensions=["lesson_site.reading_time"])


@pytest.mark.parametrize(("words", "expected"), [(0, 1), (200, 1), (201, 2), (1000, 5)])
def test_two_hundred_words_take_a_minute(words: int, expected: int) -> None:
    """Minutes are rounded up, and no page takes none."""
    assert minutes(Source("word " * words)) == expected


def test_shown_code_takes_time() -> None:
    """The 18 lines of the loop add half a minute to a page that was full to the minute."""
    assert minutes(Source("word " * 200)) == 1
    assert minutes(Source("word " * 200 + "\n\n" + LOOP)) == 2


def test_front_matter_and_link_targets_are_not_read() -> None:
    """Only what a reader sees counts."""
    front = "---\ndescription: " + "word " * 300 + "\n---\n"
    link = "[one](" + "a/b " * 300 + ")"

    assert minutes(Source(f"{front}# Title {{ #title }}\n\n{link}")) == 1


def test_a_fence_with_a_mistake_is_left_to_the_fence() -> None:
    """The estimate never stops a build; the fence does, and says why."""
    assert minutes(Source('```lesson-code show="no/such.py:section"\n```\n')) == 1
    assert minutes(Source("```lesson-compare\nbefore: [\n```\n")) == 1


@pytest.mark.usefixtures("lesson")
def test_a_page_says_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Position and minutes stand right below the title."""
    html = convert(monkeypatch, "two.md")

    expected = '<h1>2. Title</h1>\n<p class="page-position"><span>Section 2 of 3 · 3 minutes</span>'
    assert expected in html


@pytest.mark.usefixtures("lesson")
def test_a_page_says_what_one_learns_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its front matter has as its aim is below its position; without one nothing is."""
    page = Path("docs/gpu-training/two.md")
    page.write_text("---\naim: save & load.\n---\n\n# Title\n", encoding="utf-8")

    html = convert(monkeypatch, "two.md")

    assert '</svg></p><p class="page-aim">You learn to save &amp; load.</p>' in html
    assert "page-aim" not in convert(monkeypatch, "one.md")


@pytest.mark.usefixtures("lesson")
def test_a_minute_is_not_a_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One minute is written in the singular."""
    assert "Section 1 of 3 · 1 minute<" in convert(monkeypatch, "one.md")


@pytest.mark.usefixtures("lesson")
def test_the_overview_says_how_much_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lesson's first page gives the number of sections and the sum of their minutes."""
    assert "3 sections · about 5 minutes" in convert(monkeypatch, "index.md")


@pytest.mark.usefixtures("lesson")
def test_the_overview_and_other_pages_say_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The overview is one of the track's pages, and counts itself."""
    overview = Path("docs/gpu-training/index.md")
    overview.write_text("# Title\n\n" + "word " * 300, encoding="utf-8")
    settings = Path("mkdocs.yml").read_text(encoding="utf-8")
    listed = settings.replace("{Part:", "gpu-training/index.md, {Part:")
    Path("mkdocs.yml").write_text(listed, encoding="utf-8")

    html = convert(monkeypatch, "index.md", "# Title\n\nIn [[minutes:gpu-training]].")

    assert "3 sections · about 7 minutes" in html
    assert ">7 minutes</span>" in html


@pytest.mark.usefixtures("lesson")
def test_another_page_carries_no_position(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page without a number stands nowhere in the order."""
    assert "page-position" not in convert(monkeypatch, "whole-lesson.md")


@pytest.mark.usefixtures("lesson")
def test_a_track_says_its_pages_and_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lesson on one page is none of them."""
    Path("docs/gpu-training/three.md").write_text("# All\n\n[whole lesson]\n", encoding="utf-8")

    html = convert(monkeypatch, "index.md", "In [[minutes:gpu-training]].")

    assert '<span data-pages="2" data-track="gpu-training">4 minutes</span>' in html


@pytest.mark.usefixtures("lesson")
def test_the_minutes_of_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is named without its ending."""
    html = convert(monkeypatch, "index.md", "In [[minutes:gpu-training/two]].")

    assert '<span data-pages="1" data-track="gpu-training/two">3 minutes</span>' in html


@pytest.mark.usefixtures("lesson")
def test_a_track_that_is_not_there_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names it."""
    with pytest.raises(PageError, match="no page in 'labs'"):
        convert(monkeypatch, "index.md", "In [[minutes:labs]].")


def test_the_scale_has_one_mark_a_page_and_one_for_here() -> None:
    """The ruler counts pages; it is hidden from assistive technology, which has the sentence."""
    svg = scale(5, 17)

    assert svg.count('class="passed"') == 4
    assert svg.count('class="here"') == 1
    assert svg.count('class="ahead"') == 12
    assert 'aria-hidden="true"' in svg


def test_the_notebook_takes_what_it_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own estimate has the writing in it; the pages about it repeat its cells."""
    learner = json.loads(LEARNER.read_text(encoding="utf-8"))
    said = "".join(learner["cells"][0]["source"])

    html = convert(monkeypatch, "index.md", "In [[minutes:notebook]].")

    [minutes_of_it] = re.findall(r"takes about (\d+) minutes", said)
    assert f"<span>{minutes_of_it} minutes</span>" in html


def test_a_notebook_without_its_source_says_so(tmp_path: Path) -> None:
    """Missing, or with a blank that has no end."""
    source = tmp_path / "source.py"
    with pytest.raises(NotebookError, match="can't read"):
        notebooks.minutes(source)

    source.write_text("# BLANK 1a: the device\n", encoding="utf-8")
    with pytest.raises(NotebookError, match=r"source\.py"):
        notebooks.minutes(source)
