"""Wherever a chart draws forecasts, readers can choose the card first."""

from pathlib import Path

import pytest

CARDS = ' data-cards=""'


def charted(site: Path) -> list[Path]:
    """The pages with a chart that has forecasts for every card."""
    return [
        page
        for page in sorted(site.rglob("index.html"))
        if CARDS in page.read_text(encoding="utf-8")
    ]


def test_the_list_of_cards_comes_before_every_chart_of_forecasts(built_site: Path) -> None:
    """Also where no sentence of the page names a forecast."""
    pages = charted(built_site)
    if not pages:
        pytest.skip("a GPU has measured whatever charts draw")

    for page in pages:
        html = page.read_text(encoding="utf-8")
        assert -1 < html.find("<reader-card") < html.find(CARDS), page
