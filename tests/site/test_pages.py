"""The built pages: their order and numbers, and where their code comes from."""

import re
from pathlib import Path

import pytest

from graders.blanks import filled
from lesson_site.numbering import Section, sections
from lesson_site.postbuild.redirects import MOVED
from tests.building import REPOSITORY, SAID
from tests.pages import read, text_of, value_of

NUMBERED = re.compile(r"^(\d+)\. \S")
SECTION_MARKER = re.compile(r"^\s*# --8<-- \[")


def page(built_site: Path, section: Section) -> Path:
    """The built file of a section of the lesson."""
    return built_site / "gpu-training" / section.slug / "index.html"


def test_the_strict_build_says_nothing_but_progress(built_site: Path) -> None:
    """No warning and no notice is printed."""
    said = built_site.with_suffix(SAID).read_text(encoding="utf-8").splitlines()

    assert said
    assert [] == [line for line in said if not line.startswith("INFO")]


def test_the_sections_are_in_the_navigation_with_their_numbers(built_site: Path) -> None:
    """Each is before the title of the page that has it."""
    home = read(built_site / "gpu-training" / "index.html")
    entries = [
        (value_of(link, "href").strip("/"), int(found[1]))
        for link in home.css(".md-nav--primary a.md-nav__link")
        if (found := NUMBERED.match(text_of(link)))
    ]

    assert entries
    assert [(section.slug, section.number) for section in sections()] == entries


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.slug)
def test_a_page_has_its_number_and_a_stable_anchor(built_site: Path, section: Section) -> None:
    """The one first heading starts with the number, and its id is the slug."""
    headings = read(page(built_site, section)).css("h1")

    assert 1 == len(headings)
    assert text_of(headings[0]).startswith(f"{section.number}. ")
    assert section.slug == headings[0].id


def test_each_page_leads_to_the_next_one(built_site: Path) -> None:
    """The link at the foot of a page follows the numbers."""
    leads = [
        value_of(read(page(built_site, each)).css_first(".md-footer__link--next"), "href")
        for each in sections()[:-1]
    ]

    assert [f"../{each.slug}/" for each in sections()[1:]] == leads


@pytest.mark.parametrize("old", MOVED)
def test_an_address_with_a_number_leads_to_the_section(built_site: Path, old: str) -> None:
    """Anyone who kept a link, or a bookmark, arrives: by itself, or by the link on the page."""
    moved = read(built_site / "gpu-training" / old / "index.html")
    refresh = moved.css_first("meta[http-equiv=refresh]")
    new = f"../{old.partition('-')[2]}/"

    assert f"0; url={new}" == value_of(refresh, "content")
    assert [new] == [value_of(link, "href") for link in moved.css("a")]
    assert (built_site / "gpu-training" / old / new / "index.html").is_file()


@pytest.mark.parametrize(
    ("page_name", "count"),
    [
        ("device-aware-loop", "three lines added, none removed"),
        ("automatic-mixed-precision", "five lines"),
    ],
)
def test_the_page_says_how_many_lines_change(built_site: Path, page_name: str, count: str) -> None:
    """The count is computed from the two loops, and is above the reasons."""
    shown = read(built_site / "gpu-training" / page_name / "index.html")

    counts = [text_of(element).lower() for element in shown.css(".compare-count")]
    assert any(said.startswith(count) for said in counts), counts


def test_every_python_block_is_shown_code(built_site: Path) -> None:
    """The lines of each block are in one file of the rooms that pages show, in this order.

    Of an exercise pages show the solution, without the marks of what learners write.
    """
    files = {
        path.relative_to(REPOSITORY): bare_lines(filled(path.read_text(encoding="utf-8")))
        for room in ("lesson_code", "graders")
        for path in (REPOSITORY / room).rglob("*.py")
    }
    strangers = []
    for path in sorted(built_site.rglob("*.html")):
        for block in read(path).css(".language-python"):
            lines = bare_lines(block.text())
            if not any(lines in text for text in files.values()):
                strangers.append(f"{path.relative_to(built_site)}: {lines[:80]}")

    assert [] == strangers


def bare_lines(source: str) -> str:
    """Source without indentation, empty lines and section markers."""
    lines = (line.strip() for line in source.splitlines() if not SECTION_MARKER.match(line))
    return "\n" + "\n".join(line for line in lines if line) + "\n"
