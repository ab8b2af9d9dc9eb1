"""The pages on what we corrected: every row leads somewhere, and the pages to each other."""

import itertools
import re
from pathlib import Path

import pytest

from tests.building import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = (
    "corrections.md",
    "corrections-foundations.md",
    "corrections-lab.md",
    "corrections-mission.md",
)
TEXTS = {name: (DOCS / name).read_text(encoding="utf-8") for name in PAGES}
ROW = re.compile(r"^\| (?!you may have read|---)(.+?) \| (.+) \| (.+?) \|$", flags=re.M)
# What the chapter says is a table of its own, and no list of corrections.
CORRECTIONS = {name: text.partition("{ #traceability }")[0] for name, text in TEXTS.items()}
ROWS = {
    name: [match.groups() for match in ROW.finditer(text)] for name, text in CORRECTIONS.items()
}
SISTERS = PAGES[1:]


def links(text: str) -> list[tuple[str, str]]:
    """The pages and anchors that a text links to; a missing anchor is empty."""
    return re.findall(r"\]\(([\w./-]+\.md)(?:#([\w-]+))?\)", text)


@pytest.mark.parametrize("name", SISTERS)
def test_every_row_links_to_a_place_that_exists(name: str) -> None:
    """Page and anchor, both written out in the page's source."""
    room = f"{name.removeprefix('corrections-').removesuffix('.md')}/"
    for claim, _, see in ROWS[name]:
        assert links(see), claim
    for page, anchor in links("\n".join(f"{holds} {see}" for _, holds, see in ROWS[name])):
        assert page.startswith(room)
        assert anchor
        assert re.search(
            rf"^#+ .+ \{{ #{anchor} \}}$", (DOCS / page).read_text(encoding="utf-8"), flags=re.M
        ), f"{page}#{anchor}"


@pytest.mark.parametrize(
    ("name", "following"), list(itertools.pairwise((*PAGES, "mission/index.md")))
)
def test_each_of_them_leads_to_the_next(name: str, following: str) -> None:
    """Lesson, foundations, lab, mission, and to the mission itself, by the last line of each."""
    last = TEXTS[name].rstrip().splitlines()[-1]

    assert f"({following}){{ .next-step }}" in last


def test_the_first_page_names_its_sisters_at_the_top() -> None:
    """All are linked before the first table."""
    top = TEXTS["corrections.md"].split("\n## ")[0]

    assert [(name, "") for name in SISTERS] == links(top)


def test_the_footer_of_every_page_leads_there(built_site: Path) -> None:
    """They are in no tab; what only leads on has no footer."""
    pages = [page for page in built_site.rglob("index.html") if page.parent.name != "corrections"]

    footers = {page: page.read_text(encoding="utf-8").partition("<footer")[2] for page in pages}
    assert [] == [
        page for page, footer in footers.items() if footer and 'corrections/">' not in footer
    ]
    assert any(footers.values())
