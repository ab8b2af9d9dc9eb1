"""The results pages: machines can be chosen, and without scripts all of them are shown."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.states import expect_accessible

PAGE = "benchmarks/results/training/"
FILTER = "gpu-training.machine-filter.v1"
FIGURE = {"value": 4.0, "spread": 0.1, "noisy": True, "text": "4.0 s"}
OWN = {
    "at": "2026-11-21T10:00:00.000Z",
    "file": "mine.json",
    "label": "Your machine (<b>mine</b>)",
    "provenance": {},
    "figures": {"mnist_epoch.cpu": FIGURE, "step_sweep.width_64.batch_64.cpu": FIGURE},
}


@pytest.fixture
def results(page: Page, site: str) -> Page:
    """A results page in a browser that keeps the reader's own machine."""
    keep = (
        f"localStorage.setItem('gpu-training.machine.v1', {json.dumps(json.dumps({'mine': OWN}))})"
    )
    page.goto(site)
    page.evaluate(keep)
    page.goto(site + PAGE)
    page.locator("tbody.own").first.wait_for(state="attached")
    return page


def box(page: Page, name: str = "mine") -> Locator:
    """The checkbox of a machine."""
    return page.locator("machine-filter label", has_text=name).locator("input")


def test_every_recorded_machine_is_shown_without_javascript(
    page_without_javascript: Page, site: str
) -> None:
    """The tables are HTML, and nothing in them waits for a script."""
    page = page_without_javascript
    page.goto(site + PAGE)

    assert 0 < page.locator(".results-table td[data-figure]").count()
    expect(page.locator(".results-table [hidden]")).to_have_count(0)


def test_the_own_machine_is_in_every_table(results: Page) -> None:
    """A column in one kind of table, a group of rows in the other, and noise in words."""
    cell = results.locator('td.own[data-figure="mnist_epoch.cpu"]')
    expect(cell).to_have_text("4.0 s (noisy)")
    group = results.locator("tbody.own", has=results.locator("td[data-figure]"))
    expect(group.locator("th[scope=rowgroup]")).to_have_text("Your machine (<b>mine</b>)")
    expect(group.locator("th[scope=row]")).to_have_text(["64"])
    named = 'td[data-figure="step_sweep.width_64.batch_64.cpu"]'
    expect(group.locator(named)).to_have_text("4.0 s (noisy)")
    expect_accessible(results, "machine-filter", "the reader's machine", "article")


def test_a_machine_that_is_not_chosen_is_hidden(results: Page) -> None:
    """Its columns, its groups of rows and its sources go, and come back."""
    box(results).uncheck()
    expect(results.locator(".results-table .own:visible")).to_have_count(0)
    expect(results.locator('td[data-figure="mnist_epoch.cpu"]:visible')).to_have_count(1)

    box(results).check()

    expect(results.locator('td.own[data-figure="mnist_epoch.cpu"]')).to_be_visible()


def test_hiding_a_recorded_machine_leaves_the_own_one(results: Page) -> None:
    """The right column goes, one machine after the other."""
    for recorded in results.locator("machine-filter input").all()[1:]:
        slug = recorded.get_attribute("value")
        recorded.uncheck()
        expect(results.locator(f'[data-machine="{slug}"]:visible')).to_have_count(0)

    expect(results.locator('td.own[data-figure="mnist_epoch.cpu"]')).to_be_visible()
    expect(results.locator("td:not(.own)[data-figure]:visible")).to_have_count(0)


def test_the_choice_is_kept(results: Page, site: str) -> None:
    """After a reload and on another results page."""
    box(results).uncheck()

    results.reload()
    expect(box(results)).not_to_be_checked()
    results.goto(site + "benchmarks/results/data-and-pipeline/")

    expect(box(results)).not_to_be_checked()
    expect(results.locator(".results-table .own:visible")).to_have_count(0)


def test_no_machine_at_all_is_said(results: Page) -> None:
    """Empty tables are not there without a word."""
    for one in results.locator("machine-filter input").all():
        one.uncheck()

    expect(results.locator("machine-filter [role=status]")).to_contain_text("No machine is chosen")
    expect_accessible(results, "machine-filter", "no machine", "article")


def test_the_keyboard_is_enough(results: Page) -> None:
    """A space on a box does what a click does."""
    box(results).focus()
    results.keyboard.press(" ")

    expect(box(results)).not_to_be_checked()
    expect(results.locator(".results-table .own:visible")).to_have_count(0)


def test_a_choice_that_is_not_kept_says_so(results: Page) -> None:
    """It holds on this page all the same."""
    results.evaluate("void (Storage.prototype.setItem = () => { throw new Error('full') })")
    box(results).uncheck()

    expect(results.locator("machine-filter")).to_contain_text("does not keep this choice")
    expect_accessible(results, "machine-filter", "not kept")
    expect(results.locator(".results-table .own:visible")).to_have_count(0)


def test_it_works_on_the_next_page_too(results: Page) -> None:
    """Instant navigation wakes the filter of the next page."""
    results.evaluate("window.__same_document = true")
    results.locator("article .next-step").click()
    results.wait_for_url("**/results/race/")

    expect(box(results)).to_be_checked()
    assert results.evaluate("window.__same_document")


def test_the_overview_leads_to_every_case(page: Page, site: str) -> None:
    """A link of the overview ends at the heading above the tables of its case."""
    page.goto(site + "benchmarks/results/")
    page.get_by_role("link", name="Matrix products").click()
    page.wait_for_url("**/products-and-convolutions/#matmul")

    expect(page.locator("h2#matmul")).to_be_in_viewport()
