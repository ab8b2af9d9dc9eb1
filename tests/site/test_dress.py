"""Each page of the finished site has the style of all that is on it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lesson_site.postbuild.dress import JOINED, asked_by
from lesson_site.postbuild.minify import minify_css
from lesson_site.postbuild.rules import Known, Rule, rules_of, selectors_of
from tests.building import REPOSITORY

SHEETS = REPOSITORY / "docs/assets/sheets"
NAMES = sorted(path.stem for path in SHEETS.glob("*.css"))
LINK = re.compile(rf'<link rel="stylesheet" href="[^"]*{JOINED.as_posix()}">')


def selectors(rules: list[Rule]) -> Iterator[str]:
    """Every selector of a style sheet."""
    for rule in rules:
        if isinstance(rule.body, list):
            yield from selectors(rule.body)
        elif not rule.head.startswith("@"):
            yield from selectors_of(rule)


@pytest.fixture(scope="module")
def known(built_site: Path) -> dict[str, tuple[str, Known]]:
    """The text and the elements of each page."""
    pages = {str(p.relative_to(built_site)): p for p in built_site.rglob("*.html")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in pages.items()}
    return {name: (html, Known([html], [])) for name, html in texts.items()}


@pytest.mark.parametrize("name", NAMES)
def test_no_page_has_what_a_sheet_styles_without_the_sheet(
    name: str, known: dict[str, tuple[str, Known]]
) -> None:
    """What a sheet says of its pages is true of all that its rules match."""
    css = (SHEETS / f"{name}.css").read_text(encoding="utf-8")
    asks = asked_by(name, css)
    rules = list(selectors(rules_of(minify_css(css))))
    assert rules

    without = {page: elements for page, (html, elements) in known.items() if not asks(html)}
    bare = [(page, one) for page, has in without.items() for one in rules if has.may_match(one)]

    assert [] == bare


def test_each_page_has_the_sheets_that_it_asks_for(known: dict[str, tuple[str, Known]]) -> None:
    """In one file, into which the settings put every sheet."""
    settings = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    order = re.findall(r"- assets/sheets/([\w-]+)\.css", settings)
    asks = [asked_by(n, (SHEETS / f"{n}.css").read_text(encoding="utf-8")) for n in order]
    assert NAMES == sorted(order)

    for page, (html, _) in known.items():
        if 'http-equiv="refresh"' in html:
            continue
        assert any(asked(html) for asked in asks) == len(LINK.findall(html)), page


def test_some_pages_have_none(known: dict[str, tuple[str, Known]]) -> None:
    """Or nothing was saved."""
    assert 10 <= sum(not LINK.search(html) for html, _ in known.values())
