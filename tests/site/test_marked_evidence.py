"""Every figure of the built site has its kind; no sentence has a hole; empty tables are closed."""

from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as etree

import html5lib
import pytest

from results.reader_card import NAME
from results.store import Kind

SENTENCES = ("p", "li", "figcaption", "caption", "summary", "h1", "h2", "h3", "h4", "title", "desc")


@pytest.fixture(scope="module")
def pages(built_site: Path) -> dict[str, etree.Element]:
    """The article of every page, by its address."""
    return {
        path.parent.relative_to(built_site).as_posix(): article
        for path in sorted(built_site.rglob("index.html"))
        if (article := _article(path)) is not None
    }


def _article(path: Path) -> etree.Element | None:
    text = path.read_text(encoding="utf-8")
    tree = html5lib.parse(text, treebuilder="etree", namespaceHTMLElements=False)
    found: etree.Element | None = tree.find(".//article")
    return found


def _text(element: etree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_no_sentence_says_that_something_is_not_measured(pages: dict[str, etree.Element]) -> None:
    """A sentence, caption or heading says what is known, by whichever kind of evidence."""
    found = [
        f"{address}: {_text(element)[:80]}"
        for address, article in pages.items()
        for name in SENTENCES
        for element in article.iter(name)
        if "not measured yet" in _text(element).lower()
    ]

    assert 0 < len(pages)
    assert [] == found


def test_every_figure_has_a_kind(pages: dict[str, etree.Element]) -> None:
    """In sentences, in tables and in charts: measured, published, forecast or exact."""
    figures = [
        (address, element)
        for address, article in pages.items()
        for element in article.iter()
        if element.get("data-figure") or element.get("data-kind")
    ]

    assert 0 < len(figures)
    assert [] == [
        f"{address}: {element.get('data-figure')} {element.get('data-kind')}"
        for address, element in figures
        if element.get("data-kind") not in get_args(Kind)
    ]


def test_every_forecast_says_so_beside_its_band(pages: dict[str, etree.Element]) -> None:
    """The word and both ends are in the text, for eyes and ears alike."""
    forecasts = [
        (address, _text(element))
        for address, article in pages.items()
        for element in article.iter("span")
        if element.get("data-kind") == "forecast" and "figure" in element.get("class", "").split()
    ]

    assert 0 < len(forecasts)
    assert [] == [
        f"{address}: {text}"
        for address, text in forecasts
        if "forecast" not in text or " to " not in text
    ]


def test_a_figure_in_a_sentence_leads_to_its_source(pages: dict[str, etree.Element]) -> None:
    """A link, which a keyboard reaches, to a line that names machine, source or formula."""
    figures = [
        (address, span.get("data-figure"), span.find("a"))
        for address, article in pages.items()
        for span in article.iter("span")
        if "figure" in span.get("class", "").split() and span.get("data-figure") != NAME
    ]
    lines = {
        (address, line.get("id")): _text(line)
        for address, article in pages.items()
        for line in article.iter("li")
    }

    assert 0 < len(figures)
    assert [] == [
        f"{address}: {name}"
        for address, name, link in figures
        if link is None or ": " not in lines.get((address, link.get("href", "")[1:]), "")
    ]


def test_no_open_table_has_only_dashes(pages: dict[str, etree.Element]) -> None:
    """A table that nothing has filled is folded."""
    found = []
    for address, article in pages.items():
        folded = {table for fold in article.iter("details") for table in fold.iter("table")}
        for table in set(article.iter("table")) - folded:
            cells = [e for e in table.iter() if e.get("data-figure")]
            if cells and all("not-measured" in e.get("class", "") for e in cells):
                found.append(f"{address}: {_text(table)[:80]}")

    assert [] == found
