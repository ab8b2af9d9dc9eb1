"""The lesson on paper: Chromium's own print of the page that holds all sections."""

import re

from playwright.sync_api import Page

from tests.browser.conftest import settled

# CSS pixels of A4 within the margins of the style sheet's `@page`.
WIDTH = 210 - 2 * 20
HEIGHT = 297 - 2 * 18
PIXELS = 96 / 25.4
# What may stay empty at the foot of pages, so that a drawing or a listing is not cut in two.
SPARE = 1.18


def test_little_paper_stays_empty(page: Page, site: str) -> None:
    """The whole lesson takes about as many pages as its length asks for."""
    page.set_viewport_size({"width": round(WIDTH * PIXELS), "height": round(HEIGHT * PIXELS)})
    page.goto(f"{site}gpu-training/whole-lesson/")
    settled(page)

    sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))

    page.emulate_media(media="print")
    length = page.evaluate("document.documentElement.scrollHeight")
    full = length / (HEIGHT * PIXELS)
    assert full <= sheets <= SPARE * full
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_question_is_printed_with_its_choices(page: Page, site: str) -> None:
    """No page ends between them, and none behind a heading or the title of a closed part."""
    page.goto(f"{site}gpu-training/whole-lesson/")
    page.emulate_media(media="print")

    apart = page.evaluate(
        """() => [...document.querySelectorAll(
             "article :is(h1, h2, h3, summary), .check > :is(.admonition-title, .check-question)")]
           .filter((e) => e.checkVisibility() && e.nextElementSibling)
           .filter((e) => getComputedStyle(e).breakAfter !== "avoid")
           .map((e) => e.outerHTML.slice(0, 100))"""
    )

    assert [] == apart
