"""The first minute: from home to a guess and its answer."""

import json

from playwright.sync_api import Browser, Page, expect

from lesson_site.who_first import TRAININGS
from results.reader_card import FIRST
from results.store import open_store
from tests.browser.conftest import QuietServer
from tests.browser.states import expect_accessible

GUESS = "GPU, more than 10 times as fast"


def home(browser: Browser, server: QuietServer, **options: object) -> Page:
    """The home page in a fresh profile."""
    page = browser.new_context(**options).new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    if options.get("java_script_enabled", True):
        expect(page.locator("who-first")).to_have_attribute("data-state", "asking")
    return page


def test_a_guess_is_answered_for_every_training(
    browser: Browser, server: QuietServer, built_site: object
) -> None:
    """By keyboard, with less motion; each state is clean and fits the page."""
    page = home(browser, server, reduced_motion="reduce")
    first = page.locator("who-first")
    trainings = first.get_by_role("group", name="The training").get_by_role("radio")
    verdicts = []

    for index in range(trainings.count()):
        trainings.nth(index).check()
        expect(first).to_have_attribute("data-state", "asking")
        first.get_by_label(GUESS).press("Space")
        first.get_by_role("button", name="Start").press("Enter")
        expect(first).to_have_attribute("data-state", "ended")
        verdicts.append(first.get_by_role("status").locator("strong").inner_text())
        expect_accessible(page, "who-first", "ended, for each training")

    wide, store = TRAININGS[-1], open_store()
    seconds = [store.figure(name.format(card=FIRST)).value or 0 for name in (wide.cpu, wide.gpu)]
    assert [verdict.split(":")[0].split(",")[0] for verdict in verdicts] == [
        "Not this time",
        "Too close to call",
        "Right" if seconds[0] > 10 * seconds[1] else "The GPU",
    ]


def test_a_look_at_the_benchmarks_leaves_the_way_on_where_it_was(
    browser: Browser, server: QuietServer, built_site: object
) -> None:
    """The button leads to the section that was open before, and the way counts its pages."""
    section = "gpu-training/device-fundamentals/"
    opened = {
        section: {"title": "Device fundamentals", "at": "2026-11-28T10:00:00.000Z"},
        "benchmarks/compare/": {"title": "Compare", "at": "2026-11-28T11:00:00.000Z"},
    }
    page = home(browser, server)
    page.evaluate(f"localStorage.setItem('gpu-training.progress.v1', '{json.dumps(opened)}')")
    page.reload()

    button = page.locator("continue-reading a")
    expect(button).to_have_text("Go on with Device fundamentals")
    assert str(button.get_attribute("href")).endswith(section)
    counted = page.locator(".map [data-track='gpu-training']")
    note = counted.locator("xpath=..").locator("strong")
    expect(note).to_contain_text(f"1 of {counted.get_attribute('data-pages')}")
    expect(page.locator(".map small strong")).to_have_count(1)


def test_nothing_starts_without_a_guess(
    browser: Browser, server: QuietServer, built_site: object
) -> None:
    """The browser asks for it, and no lane is drawn."""
    page = home(browser, server)

    page.get_by_role("button", name="Start").click()

    expect(page.locator("who-first .lane")).to_have_count(0)
    expect_accessible(page, "who-first", "asking")


def test_the_lanes_run_before_the_answer(
    browser: Browser, server: QuietServer, built_site: object
) -> None:
    """The answer comes when the slower lane has ended, within seconds."""
    page = home(browser, server)

    page.get_by_label(GUESS).check()
    page.get_by_role("button", name="Start").click()

    expect(page.locator("who-first")).to_have_attribute("data-state", "running")
    expect(page.locator("who-first")).to_have_attribute("data-state", "ended")


def test_without_javascript_the_results_open(
    browser: Browser, server: QuietServer, built_site: object
) -> None:
    """They are closed at first, as a guess comes before them."""
    page = home(browser, server, java_script_enabled=False)
    expect(page.locator("who-first table")).to_be_hidden()

    page.get_by_text("The results, without a guess").click()

    expect(page.locator("who-first table")).to_be_visible()
