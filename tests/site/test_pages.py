"""The built pages: their order and numbers, and where their code comes from."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import pytest

from tests.building import REPOSITORY, build

NUMBERED = re.compile(r"^(\d+)\. \S")
LESSON_PAGES = sorted((REPOSITORY / "docs" / "gpu-training").glob("[0-9][0-9]-*.md"))
SECTION_MARKER = re.compile(r"^\s*# --8<-- \[")


def parse(path: Path) -> ElementTree.Element:
    """A built page as a tree."""
    return html5lib.parse(path.read_text(encoding="utf-8"), namespaceHTMLElements=False)


def with_class(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """Every element below ``root`` that has the class ``name``."""
    return (e for e in root.iter() if name in str(e.get("class", "")).split())


def text_of(element: ElementTree.Element) -> str:
    """The text of an element, in one line."""
    return " ".join("".join(element.itertext()).split())


def page(built_site: Path, source: Path) -> Path:
    """The built file of a lesson page."""
    return built_site / "gpu-training" / source.stem / "index.html"


def test_the_strict_build_says_nothing_but_progress(tmp_path: Path) -> None:
    """No warning and no notice is printed."""
    built = build(tmp_path / "site")

    said = [line for line in built.stderr.splitlines() if not line.startswith("INFO")]
    assert [] == said
    assert "" == built.stdout


def test_the_seventeen_pages_are_in_the_navigation_in_order(built_site: Path) -> None:
    """Numbers 1 to 17 stand before the titles, each on the page that has that number."""
    home = parse(built_site / "gpu-training" / "index.html")
    primary = next(with_class(home, "md-nav--primary"))
    entries = [
        (link.get("href", "").strip("/"), found[1])
        for link in with_class(primary, "md-nav__link")
        if link.tag == "a" and (found := NUMBERED.match(text_of(link)))
    ]

    expected = [(source.stem, str(i)) for i, source in enumerate(LESSON_PAGES, start=1)]
    assert 17 == len(expected)
    assert expected == entries


@pytest.mark.parametrize("source", LESSON_PAGES, ids=lambda source: source.stem)
def test_a_page_has_its_number_and_a_stable_anchor(built_site: Path, source: Path) -> None:
    """The one first heading starts with the number in the file's name, and its id is the slug."""
    headings = list(parse(page(built_site, source)).iter("h1"))

    number, _, slug = source.stem.partition("-")
    assert 1 == len(headings)
    assert text_of(headings[0]).startswith(f"{int(number)}. ")
    assert slug == headings[0].get("id")


def test_each_page_leads_to_the_next_one(built_site: Path) -> None:
    """The link at the foot of a page follows the numbers."""
    leads = [
        next(with_class(parse(page(built_site, source)), "md-footer__link--next")).get("href")
        for source in LESSON_PAGES[:-1]
    ]

    assert [f"../{source.stem}/" for source in LESSON_PAGES[1:]] == leads


@pytest.mark.parametrize(
    ("page_name", "count"),
    [
        ("05-device-aware-loop", "three lines added, none removed"),
        ("12-automatic-mixed-precision", "five lines"),
    ],
)
def test_the_page_says_how_many_lines_change(built_site: Path, page_name: str, count: str) -> None:
    """The count is computed from the two loops, and stands above the reasons."""
    root = parse(built_site / "gpu-training" / page_name / "index.html")

    counts = [text_of(element).lower() for element in with_class(root, "compare-count")]
    assert any(said.startswith(count) for said in counts), counts


def test_every_python_block_comes_from_lesson_code(built_site: Path) -> None:
    """The lines of each block stand in one file of lesson_code, one below the other."""
    files = {
        path.relative_to(REPOSITORY): bare_lines(path.read_text(encoding="utf-8"))
        for path in (REPOSITORY / "lesson_code").rglob("*.py")
    }
    strangers = []
    for path in sorted(built_site.rglob("*.html")):
        for block in with_class(parse(path), "language-python"):
            lines = bare_lines("".join(block.itertext()))
            if not any(lines in text for text in files.values()):
                strangers.append(f"{path.relative_to(built_site)}: {lines[:80]}")

    assert [] == strangers


def bare_lines(source: str) -> str:
    """Source without indentation, empty lines and section markers."""
    lines = (line.strip() for line in source.splitlines() if not SECTION_MARKER.match(line))
    return "\n" + "\n".join(line for line in lines if line) + "\n"
