"""The loop with three switches, as a learner uses it."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import QuietServer, barriers
from tests.browser.states import expect_accessible


@pytest.fixture
def page(browser: Browser, server: QuietServer, built_site: object) -> Page:
    """The section that has it, on a phone."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"http://127.0.0.1:{server.server_port}/gpu-training/device-mismatch/")
    expect(page.locator("loop-switches")).to_have_attribute("data-on", "000")
    return page


def test_switching_by_keyboard_says_what_happens_and_where(page: Page) -> None:
    """The sentence is live, and the line that stops is marked."""
    switches = page.locator("loop-switches")
    expect(switches.get_by_role("status")).to_contain_text("trains on the CPU")

    switches.get_by_role("checkbox").nth(0).press("Space")
    switches.get_by_role("checkbox").nth(1).press("Space")

    expect(switches).to_have_attribute("data-on", "110")
    expect(switches.get_by_role("status")).to_contain_text("stops with a RuntimeError")
    expect(switches.locator(".switch-stops")).to_have_text("outputs = model(images)")
    expect_accessible(page, "loop-switches", "a line that stops")


def test_every_combination_is_accessible(page: Page) -> None:
    """Axe finds nothing, and nothing sticks out of a narrow page."""
    boxes = page.locator("loop-switches").get_by_role("checkbox")

    for state in range(8):
        for bit in range(3):
            boxes.nth(bit).set_checked(bool(state >> bit & 1))
        assert [] == barriers(page, "loop-switches")

    expect_accessible(page, "loop-switches", "all on")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
