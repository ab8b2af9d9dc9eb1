"""The list from which readers choose their card, on every page that forecasts something for it.

The element ``reader-card`` holds the texts of all cards, so that the browser only puts them in
place; charts have their own. Without JavaScript the page speaks of the first card.
"""

import json
import os.path
from collections.abc import Callable, Iterable
from pathlib import Path
from xml.etree import ElementTree

from markdown import Markdown
from markdown.util import HTML_PLACEHOLDER_RE

from lesson_code.forecast.cards import read_cards
from lesson_site.card_options import card_options
from lesson_site.page import current_page
from results.reader_card import FIRST, NAME, is_readers, on_card
from results.store import Figure, Store

LABEL = "Forecasts on this page are for the"
PAGE = Path("docs/benchmarks/forecast.md")
BLANK = "{card}"  # in a source, for the card's name
CHART_OF_CARDS = " data-cards="  # a chart that draws forecasts has those of every card

Told = Callable[[Figure], str]


def place_reader_card(
    root: ElementTree.Element, used: Iterable[str], told: Told, store: Store, md: Markdown
) -> None:
    """Put the list before the first part of the page that follows the reader's card, if any does.

    Args:
        root: The page.
        used: The names of its figures.
        told: What the page's list of sources says of a figure.
        store: Where figures come from.
        md: Keeps what fences drew.
    """
    for index, part in enumerate(root):
        if _follows(part, md):
            root.insert(
                index, _element(filter(is_readers, used), told, store, current_page(md).source)
            )
            return


def _follows(part: ElementTree.Element, md: Markdown) -> bool:
    """Whether it shows a figure or a chart that follows the reader's card."""
    if any(is_readers(span.get("data-figure", "")) for span in part.iter("span")):
        return True
    drawn = [int(found) for found in HTML_PLACEHOLDER_RE.findall("".join(part.itertext()))]
    return any(CHART_OF_CARDS in str(md.htmlStash.rawHtmlBlocks[number]) for number in drawn)


def _element(names: Iterable[str], told: Told, store: Store, source: Path) -> ElementTree.Element:
    """The label, the list, and a line that says what changed."""
    texts = {name: _texts(name, told, store) for name in names if name != NAME}
    data = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
    element = ElementTree.Element("reader-card", {"data-texts": data, "data-search-exclude": ""})
    label = ElementTree.SubElement(element, "label")
    label.text = f"{LABEL} "
    listed = f'<select autocomplete="off">{card_options(FIRST)}</select>'
    label.append(ElementTree.fromstring(listed))
    if PAGE.is_file():  # a copy of a few pages may lack it
        link = ElementTree.SubElement(element, "a", {"href": os.path.relpath(PAGE, source.parent)})
        link.text = "Forecast a model of yours"
    ElementTree.SubElement(element, "span", {"role": "status"})
    return element


def _texts(name: str, told: Told, store: Store) -> tuple[str, dict[str, tuple[str, str]]]:
    """Where it comes from, with a blank for the card's name, and by card what is said and its band.

    Of one figure all cards have the same source but for that name, which ends what it is.
    """
    cards = read_cards()
    figures = {id: store.figure(on_card(name, id)) for id in cards}
    parts = [told(each).rpartition(cards[id].name) for id, each in figures.items()]
    (source,) = {f"{before}{BLANK}{after}" for before, _, after in parts}
    return source, {id: (each.text, each.band) for id, each in figures.items()}
