"""Every page, light and wide, dark and narrow: sound, quiet, reachable for everybody, and small.

And none gives away what it asks: answers, and what shows them, wait for a prediction.
"""

from pathlib import PurePosixPath

import pytest
from playwright.sync_api import Page

from lesson_site.postbuild.sizes import (
    BUDGET_ELEMENTS,
    BUDGET_KB,
    BUDGET_REQUESTS,
    HEAVIER_KB,
    READING_KB,
    READING_REQUESTS,
    WITHOUT_BUDGET,
)
from tests.browser.conftest import AXE, OF_COLORS, RUN_AXE, Visits, addresses
from tests.browser.covered import asks

# Text, tables and formulas of theirs are 14 to 21 kB, where the frame of every page is 60, and they
# have the sheets of what can be run.
MUCH_TO_READ_KB = {"benchmarks/how-a-step-is-counted/": 83.0, "mission/the-model/": 90.0}
ASKING = [address for address in addresses() if asks(address)]
# The first output or chart below these checks is about something else, and stays in the open.
ABOUT = {
    "foundations-best-guesser": "real models, which do not flip coins",
    "foundations-compile-gain": "the names in a compiled model's checkpoint",
    "foundations-ignored-labels": "a label out of range on a GPU",
    "foundations-missing-reset": "the learning rates at which a loss stays finite",
    "foundations-resume-first-step": "the size of a checkpoint",
    "foundations-split-by-writer": "the files that change sides when others come",
    "lab-checkpoint-reentrant": "batch norm under a checkpoint",
    "lab-where-things-are": "an optimizer that was made too early",
}


def test_the_page_is_there(visits: Visits, address: str) -> None:
    """And the server says nothing else of it."""
    assert 200 == visits(address).status


def test_nothing_goes_wrong_on_the_console(visits: Visits, address: str) -> None:
    """No error and no warning is logged, and no script fails."""
    assert [] == visits(address).console


def test_nothing_is_asked_of_another_host(visits: Visits, address: str) -> None:
    """Whatever a page loads comes from the site itself, and is there."""
    assert [] == visits(address).foreign + visits(address).failed


def test_the_policy_stops_nothing(visits: Visits, address: str) -> None:
    """The Content-Security-Policy allows all that the page needs."""
    assert [] == visits(address).stopped


def test_axe_finds_no_barrier(visits: Visits, address: str) -> None:
    """With all tabs and details open, axe has nothing to say."""
    barriers = visits(address).axe

    assert {} == {look: found for look, found in barriers.items() if found}


ALIKE = """<!doctype html><html lang="en"><title>Words</title><style>p { color: #111; }
.faint { color: #ccc; } .on { background: #222; }</style><body><main>%s</main>"""


@pytest.mark.parametrize(
    "faint",
    [
        "<p style='color: #ccc'>weak</p>",
        "<p class='faint'>weak</p>",
        "<p class='on'>weak</p>",
        "<div class='on'><p>weak</p></div>",
        "<p>strong <b class='faint'></b></p><p>strong <b class='faint'>weak</b></p>",
    ],
    ids=["its own", "its class", "what it lies on", "what its parent lies on", "one without words"],
)
def test_one_weak_word_among_many_others_is_found(page: Page, faint: str) -> None:
    """Axe is asked about one of those that look alike, and a weak one looks like no other."""
    page.set_content(ALIKE % ("<p>strong</p>" * 20 + faint + "<p>strong</p>" * 20))
    page.evaluate(AXE.read_text(encoding="utf-8"))

    [found] = page.evaluate(RUN_AXE, OF_COLORS)

    assert 0 == page.locator("[data-alike]").count()  # which the next call would leave out
    assert found.startswith("color-contrast")
    assert "weak</" in found


def test_a_link_in_a_text_is_found_after_one_that_stands_alone(page: Page) -> None:
    """Both look alike, and only in a text a link can be taken for the words around it."""
    plain = "<style>a { color: #222; text-decoration: none; }</style>"
    alone, among = "<p><a href='#x'>alone</a></p>", "<p>Words, <a href='#x'>a link</a>, words.</p>"
    page.set_content(ALIKE % (plain + alone + among))
    page.evaluate(AXE.read_text(encoding="utf-8"))

    [found] = page.evaluate(RUN_AXE, OF_COLORS)

    assert found.startswith("link-in-text-block")


def test_nothing_runs_out_of_the_screen(visits: Visits, address: str) -> None:
    """Wide things scroll inside themselves; the text never has to be moved sideways."""
    wide = visits(address).overflows

    assert {} == {look: found for look, found in wide.items() if found}


def test_a_block_ends_with_the_text_or_with_the_column(visits: Visits, address: str) -> None:
    """On a wide screen there is no third edge, and none inside of figures."""
    assert [] == visits(address).off_grid


@pytest.mark.parametrize(
    "address", [a for a in addresses() if not a.strip("/").endswith(WITHOUT_BUDGET)]
)
def test_a_first_visit_stays_within_the_budget(visits: Visits, address: str) -> None:
    """Bytes, requests and elements of a visit with an empty cache."""
    cold = visits(address)

    limit_kb, limit_requests = BUDGET_KB, BUDGET_REQUESTS
    if cold.is_read:
        limit_kb, limit_requests = MUCH_TO_READ_KB.get(address, READING_KB), READING_REQUESTS
    limit_kb = HEAVIER_KB.get(PurePosixPath(address).name, limit_kb)
    assert limit_kb >= cold.gz_bytes / 1000, cold.requests
    assert limit_requests >= len(cold.requests), cold.requests
    assert BUDGET_ELEMENTS >= cold.elements


@pytest.mark.parametrize("address", ASKING)
def test_answers_are_closed_at_first(visits: Visits, address: str) -> None:
    """So is whatever else waits for the check."""
    open_ones = [check["id"] for check in visits(address).checks if check["open"]]

    assert visits(address).checks
    assert [] == open_ones


@pytest.mark.parametrize("address", ASKING)
def test_no_sentence_of_an_answer_is_in_the_open(visits: Visits, address: str) -> None:
    """The text around a check does not repeat its answer."""
    said = {check["id"]: check["said"] for check in visits(address).checks if check["said"]}

    assert {} == said


@pytest.mark.parametrize("address", ASKING)
def test_no_figure_of_an_answer_is_above_its_check(visits: Visits, address: str) -> None:
    """What an answer says in numbers was not to be read before the question."""
    above = {check["id"]: check["above"] for check in visits(address).checks if check["above"]}

    assert {} == above


@pytest.mark.parametrize("address", ASKING)
def test_what_is_shown_below_a_check_waits_for_it(visits: Visits, address: str) -> None:
    """The first output or chart before the next heading is covered, or about something else."""
    first = {check["id"]: check["first"] for check in visits(address).checks if check["first"]}

    assert {} == {name: shown for name, shown in first.items() if name not in ABOUT}
