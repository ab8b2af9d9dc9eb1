"""The order of the navigation numbers the lesson's sections, and pages refer to them by name."""

from pathlib import Path

import markdown
import pytest

from lesson_site import lesson_pages, reading_time
from lesson_site.errors import PageError
from lesson_site.numbering import section_of, sections
from lesson_site.page import Page

NAVIGATION = """\
site_name: !ENV [NAME, "Lesson"]
extensions:
  - format: !!python/name:some.function
nav:
  - Start: index.md
  - Lesson:
      - gpu-training/index.md
      - Start here:
          - gpu-training/context.md
          - A title of its own: gpu-training/loop.md
      - Later:
          - gpu-training/checks.md
      - The whole lesson: gpu-training/whole-lesson.md
  - Lab:
      - Exercises:
          - lab/first.md
"""
PAGES = {
    "context": "# Context { #context }\n\nSee [[section:checks#why]].\n",
    "loop": "---\nmilestone: Half of it.\n---\n\n# The loop\n\n" + "word " * 500 + "\n",
    "checks": "# Checks { #checks }\n\n## Why { #why }\n\nThe loop is [[section:loop]].\n",
}


@pytest.fixture(autouse=True)
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a lesson of three sections in two parts."""
    (tmp_path / "docs" / "gpu-training").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text(NAVIGATION, encoding="utf-8")
    for slug, text in PAGES.items():
        (tmp_path / "docs" / "gpu-training" / f"{slug}.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def convert(monkeypatch: pytest.MonkeyPatch, source: str, text: str) -> str:
    """The HTML of ``text``, as if it were the file ``source`` below ``docs``."""
    page = Page(Path("docs") / source, "anywhere/")
    for module in (lesson_pages, reading_time):
        monkeypatch.setattr(module, "current_page", lambda _: page)
    extensions = ["attr_list", "md_in_html", "lesson_site.lesson_pages", "lesson_site.reading_time"]
    return markdown.markdown(text, extensions=extensions)


def test_a_page_that_the_navigation_has_and_nobody_wrote_is_named(lesson: Path) -> None:
    """The message has the file in which the name is, and the one that is missing."""
    (lesson / "docs" / "gpu-training" / "loop.md").unlink()

    said = r"mkdocs\.yml: .* gpu-training/loop\.md, and docs/gpu-training/loop\.md is not there"
    with pytest.raises(PageError, match=said):
        [section.title for section in sections()]


def test_sections_are_numbered_through_all_parts() -> None:
    """Pages beside the parts, and other tracks, have no number."""
    assert [
        (1, "context", "Start here"),
        (2, "loop", "Start here"),
        (3, "checks", "Later"),
    ] == [(each.number, each.slug, each.part) for each in sections()]
    assert section_of(Path("docs/gpu-training/index.md")) is None
    assert section_of(Path("docs/lab/first.md")) is None


def test_a_changed_navigation_numbers_anew(lesson: Path) -> None:
    """A page that is put in between moves those after it."""
    line = "          - gpu-training/context.md\n"
    moved = NAVIGATION.replace(line, line + "          - gpu-training/new.md\n")
    (lesson / "mkdocs.yml").write_text(moved + "# later\n", encoding="utf-8")

    assert ["context", "new", "loop", "checks"] == [each.slug for each in sections()]


def test_without_a_navigation_there_are_no_sections(lesson: Path) -> None:
    """Pages are also rendered where no settings are."""
    (lesson / "mkdocs.yml").unlink()

    assert () == sections()


@pytest.mark.parametrize("line", ["[sections]", "[whole lesson]"])
def test_where_no_section_is_the_page_is_refused(
    monkeypatch: pytest.MonkeyPatch, lesson: Path, line: str
) -> None:
    """An empty list would look as if it were meant."""
    (lesson / "mkdocs.yml").write_text("nav: [index.md]\n", encoding="utf-8")

    with pytest.raises(PageError, match=r"mkdocs\.yml: the navigation has no sections"):
        convert(monkeypatch, "gpu-training/index.md", line)


def test_a_title_gets_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first heading, and only on a section."""
    html = convert(monkeypatch, "gpu-training/checks.md", PAGES["checks"])

    assert '<h1 id="checks">3. Checks</h1>' in html
    assert '<h2 id="why">Why</h2>' in html
    assert "<h1>The lab</h1>" in convert(monkeypatch, "lab/first.md", "# The lab\n")


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("gpu-training/context.md", "checks.md#why"),
        ("lab/first.md", "../gpu-training/checks.md#why"),
        ("index.md", "gpu-training/checks.md#why"),
    ],
)
def test_a_reference_reads_as_the_number_and_leads_to_the_file(
    monkeypatch: pytest.MonkeyPatch, source: str, address: str
) -> None:
    """MkDocs turns the file into an address, and checks it."""
    html = convert(monkeypatch, source, "See [[section:checks#why]].")

    assert f'See <a href="{address}">section 3</a>.' in html


def test_a_reference_to_no_section_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which sections there are."""
    with pytest.raises(PageError, match=r"no section 'tests'; it has context, loop, checks"):
        convert(monkeypatch, "lab/first.md", "[[section:tests]]")


def test_the_list_has_parts_minutes_and_milestones(
    monkeypatch: pytest.MonkeyPatch, lesson: Path
) -> None:
    """It is made from the navigation and the pages alone."""
    overview = "# Lesson\n\n[sections]\n"
    for slug, text in (("index", overview), ("whole-lesson", "# All\n\n[whole lesson]\n")):
        (lesson / "docs" / "gpu-training" / f"{slug}.md").write_text(text, encoding="utf-8")

    html = convert(monkeypatch, "gpu-training/index.md", overview)

    assert "3 sections · about 6 minutes" in html
    assert html.index("<h2>Start here</h2>") < html.index('<a href="context.md">1. Context</a>')
    assert '<a href="loop.md">2. The loop</a> <span class="reading-time">3 min</span>' in html
    assert html.index("2. The loop") < html.index('<p class="milestone">Half of it.</p>')
    assert html.index("Half of it.") < html.index("<h2>Later</h2>")


def test_the_whole_lesson_has_all_sections_one_level_lower(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their numbers come along, their front matter does not, and it is no section itself."""
    html = convert(monkeypatch, "gpu-training/whole-lesson.md", "# All\n\n[whole lesson]\n")

    assert '<h2 id="context">1. Context</h2>' in html
    assert '<h3 id="why">Why</h3>' in html
    assert "milestone" not in html
    assert "page-position" not in html
