"""A screen of 1,280 pixels at 400 %, and colours that the reader's system chooses."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import OVERFLOWS
from tests.browser.test_firefox import SEEN
from tests.browser.test_read_aloud import PAGES

CUT = """() => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const cells = [...document.querySelectorAll("article td > code")];
  const names = cells.filter(({ textContent }) => /^[\\w.()]+$/.test(textContent));
  const cut = names.filter((name) => name.getClientRects().length > 1);
  const boxes = [...document.querySelectorAll("article .md-typeset__scrollwrap")];
  const wide = boxes.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1);
  return [...cut, ...wide].map(({ textContent }) => textContent.slice(0, 80));
}"""


@pytest.mark.parametrize("address", [*PAGES, "lab/memory-mathematics/", "benchmarks/compare/"])
def test_at_400_percent_nothing_has_to_be_moved_sideways(
    browser: Browser, site: str, address: str
) -> None:
    """320 CSS pixels hold the page, with its instruments awake."""
    page = browser.new_page(viewport={"width": 320, "height": 256})
    page.goto(site + address)
    page.wait_for_function(f"() => {SEEN}")

    assert [] == page.evaluate(OVERFLOWS)
    assert 320 == page.evaluate("document.documentElement.scrollWidth")
    page.close()


@pytest.mark.parametrize("address", ["mission/", "lab/key-concepts/", "foundations/losses/"])
def test_at_200_percent_a_table_cuts_no_name_in_two(
    browser: Browser, site: str, address: str
) -> None:
    """640 CSS pixels have room for every name, and no table has to be moved sideways for it."""
    page = browser.new_page(viewport={"width": 640, "height": 450})
    page.goto(site + address)

    assert [] == page.evaluate(CUT)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_focus_is_seen_in_colours_of_the_system(
    browser: Browser, site: str, scheme: Literal["light", "dark"]
) -> None:
    """Each control of a check and of the timeline has an outline when a key brings one there."""
    page = browser.new_page(forced_colors="active", color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{site}gpu-training/when-a-gpu-helps/")
    for part, state in (("lesson-check", "asking"), ("training-timeline", None)):
        element = page.locator(part).first
        element.scroll_into_view_if_needed()
        if state:
            expect(element).to_have_attribute("data-state", state)
        control = element.locator("button, input").first
        control.focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")

        expect(control).to_be_focused()
        width, style = control.evaluate(
            "(e) => [getComputedStyle(e).outlineWidth, getComputedStyle(e).outlineStyle]"
        )
        assert "none" != style
        assert 1 <= float(width.removesuffix("px"))
    page.close()
