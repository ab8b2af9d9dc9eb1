"""Every figure of the built site has its kind; no sentence has a hole; empty tables are closed."""

from pathlib import Path
from typing import get_args

import pytest
from selectolax.lexbor import LexborNode

from results.reader_card import NAME
from results.store import Kind
from tests.pages import read, text_of, value_of

SENTENCES = "p, li, figcaption, caption, summary, h1, h2, h3, h4, title, desc"
Articles = dict[str, LexborNode]


@pytest.fixture(scope="module")
def articles(built_site: Path) -> Articles:
    """The article of every page, by its address."""
    return {
        path.parent.relative_to(built_site).as_posix(): article
        for path in sorted(built_site.rglob("index.html"))
        if (article := read(path).css_first("article"))
    }


def test_no_sentence_says_that_something_is_not_measured(articles: Articles) -> None:
    """A sentence, caption or heading says what is known, by whichever kind of evidence."""
    found = [
        f"{address}: {text_of(element)[:80]}"
        for address, article in articles.items()
        for element in article.css(SENTENCES)
        if "not measured yet" in text_of(element).lower()
    ]

    assert 0 < len(articles)
    assert [] == found


def test_every_figure_has_a_kind(articles: Articles) -> None:
    """In sentences, in tables and in charts: measured, published, forecast or exact."""
    figures = [
        (address, element)
        for address, article in articles.items()
        for element in article.css("[data-figure], [data-kind]")
    ]

    assert 0 < len(figures)
    assert [] == [
        f"{address}: {value_of(element, 'data-figure')} {value_of(element, 'data-kind')}"
        for address, element in figures
        if value_of(element, "data-kind") not in get_args(Kind)
    ]


def test_every_forecast_says_so_beside_its_band(articles: Articles) -> None:
    """The word and both ends are in the text, for eyes and ears alike."""
    forecasts = [
        (address, text_of(element))
        for address, article in articles.items()
        for element in article.css("span.figure[data-kind=forecast]")
    ]

    assert 0 < len(forecasts)
    assert [] == [
        f"{address}: {text}"
        for address, text in forecasts
        if "forecast" not in text or " to " not in text
    ]


def test_a_figure_in_a_sentence_leads_to_its_source(articles: Articles) -> None:
    """A link, which a keyboard reaches, to a line that names machine, source or formula."""
    figures = [
        (address, value_of(span, "data-figure"), value_of(span.css_first("a"), "href"))
        for address, article in articles.items()
        for span in article.css("span.figure")
        if value_of(span, "data-figure") != NAME
    ]
    lines = {
        (address, f"#{line.id}"): text_of(line)
        for address, article in articles.items()
        for line in article.css("li[id]")
    }

    assert 0 < len(figures)
    assert [] == [
        f"{address}: {name}"
        for address, name, link in figures
        if ": " not in lines.get((address, link), "")
    ]


def test_no_open_table_has_only_dashes(articles: Articles) -> None:
    """A table that nothing has filled is folded."""
    found = []
    for address, article in articles.items():
        for table in article.css("table"):
            cells = table.css("[data-figure]")
            empty = cells and all(cell.css_matches(".not-measured") for cell in cells)
            if empty and not table.css_matches("details table"):
                found.append(f"{address}: {text_of(table)[:80]}")

    assert [] == found
