"""Figures and charts of the card that the reader chose, and the list to choose it from."""

import json
import re
from html import unescape

import pytest
from markdown import Markdown

from lesson_code.forecast.cards import read_cards
from results.reader_card import is_readers, on_card
from results.store import FigureError, open_store

FIGURE = "forecast.sweep_4096_1024.float32.card.time"


def written(text: str) -> str:
    """A page with figures, as HTML."""
    page = Markdown(extensions=["lesson_site.figures"])
    return page.convert(text)


def texts_in(html: str) -> dict[str, tuple[str, dict[str, list[str]]]]:
    """What the list knows of each figure: its source, and its text and band by card."""
    found = re.search(r'data-texts="(.*?)"', html)
    assert found
    texts: dict[str, tuple[str, dict[str, list[str]]]] = json.loads(unescape(found[1]))
    return texts


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("forecast.mnist_64.float32.card.time", True),
        ("forecast.card", True),
        ("forecast.mnist_64.float32.t4.time", False),
        ("published.card.time", False),
    ],
)
def test_a_name_with_the_word_card_follows_the_reader(name: str, expected: bool) -> None:
    """Every other forecast stays with the card that it names."""
    assert expected == is_readers(name)


def test_a_page_is_written_for_the_first_card() -> None:
    """Its value is the T4's, under the name that follows the reader."""
    store = open_store()

    assert "T4" == store.figure("forecast.card").text
    assert store.figure(on_card(FIGURE, "t4")).value == store.figure(FIGURE).value
    assert FIGURE == store.figure(FIGURE).name


def test_an_unknown_step_of_the_readers_card_is_refused() -> None:
    """As for any other card."""
    with pytest.raises(FigureError, match="there is no step 'nothing'"):
        open_store().figure("forecast.nothing.float32.card.time")


def test_the_list_stands_once_before_the_first_forecast() -> None:
    """It offers every card, and knows what each sentence says of it."""
    html = written(f"First.\n\nThe [[forecast.card]] takes [[{FIGURE}]].\n\nAgain [[{FIGURE}]].")

    before, _, after = html.partition("<reader-card")
    assert "First." in before
    assert '<span class="figure" data-figure="forecast.card" data-kind="exact">T4</span>' in after
    assert 1 == html.count("<reader-card")
    texts = texts_in(html)
    assert [FIGURE] == list(texts)
    source, cards = texts[FIGURE]
    assert list(read_cards()) == list(cards) == re.findall(r'<option.*? value="(.*?)"', html)
    for id, card in read_cards().items():
        expected = open_store().figure(on_card(FIGURE, id))
        assert [expected.text, expected.band] == cards[id]
        assert f"{expected.what}: {expected.source}" in source.replace("{card}", card.name)


def test_the_list_comes_before_a_chart_that_draws_forecasts() -> None:
    """Even where no sentence names one."""
    html = written('First.\n\n<figure data-cards="{}"></figure>')

    assert html.index("First.") < html.index("<reader-card") < html.index("<figure")


def test_a_page_without_forecasts_has_no_list() -> None:
    """A forecast for a card that the sentence names needs none."""
    html = written("[[mnist_classifier.parameters]] and [[forecast.mnist_64.float32.t4.time]]")

    assert "reader-card" not in html
