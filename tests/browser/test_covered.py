"""No page gives away what it asks: answers, and what shows them, wait for a prediction.

Each page with a check is visited once, with JavaScript, in one window, by a reader who has
predicted nothing.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import LOOKS, addresses, new_context
from tests.building import REPOSITORY

DOCS = REPOSITORY / "docs"
# The first output or chart below these checks is about something else, and stays in the open.
ABOUT = {
    "foundations-best-guesser": "real models, which do not flip coins",
    "foundations-compile-gain": "the names in a compiled model's checkpoint",
    "foundations-ignored-labels": "a label out of range on a GPU",
    "foundations-missing-reset": "the learning rates at which a loss stays finite",
    "foundations-resume-first-step": "the size of a checkpoint",
    "lab-checkpoint-reentrant": "batch norm under a checkpoint",
    "lab-where-things-are": "an optimizer that was made too early",
}
# A sentence of an answer is one of five words or more, so that "No." and "Eight:" are none.
ASK = """() => [...document.querySelectorAll("lesson-check")].map((check) => {
  const answer = check.querySelector(".check-answer");
  const plain = (text) => text.replace(/\\s+/g, " ").trim();
  const parts = (root) => [...root.querySelectorAll("p, li, td")];
  const sentences = parts(answer)
    .filter((part) => !part.closest("figure"))
    .flatMap((part) => plain(part.textContent).split(/(?<=[.:?]) /))
    .filter((sentence) => sentence.split(" ").length > 4);
  const open = parts(document.querySelector("article"))
    .filter((part) => part.checkVisibility() && !check.contains(part))
    .map((part) => plain(part.textContent));
  const shows = "figure:not(.code, .not-measured), interactive-chart, memory-table";
  const visible = (element) => element.checkVisibility();
  let first;
  for (let at = check.nextElementSibling; at && !first && !at.matches("h2, h3"); ) {
    first = [at, ...at.querySelectorAll("*")].filter((e) => e.matches(shows)).find(visible);
    at = at.nextElementSibling;
  }
  const told = new Set([...answer.querySelectorAll("[data-figure]")].map((e) => e.dataset.figure));
  const isAbove = (element) => element.compareDocumentPosition(check) & 4;
  // A chart shows all the figures of its table, which may be folded.
  const above = [...document.querySelectorAll("article [data-figure]")].filter(
    (e) => visible(e) || e.closest(shows)?.checkVisibility());
  return {
    id: check.id,
    open: [answer, ...document.querySelectorAll(`details[data-check="${check.id}"]`)]
      .filter((details) => details.open).length,
    said: sentences.filter((sentence) => open.some((text) => text.includes(sentence))),
    first: first ? plain(first.textContent).slice(0, 80) : "",
    above: above.filter(isAbove).map((e) => e.dataset.figure).filter((name) => told.has(name)),
  };
})"""

Asked = Callable[[str], list[dict[str, Any]]]


def asks(address: str) -> bool:
    """Whether the page has a check of its own."""
    pages = (DOCS / f"{address.strip('/')}.md", DOCS / address / "index.md")
    return any("\n//// check |" in p.read_text(encoding="utf-8") for p in pages if p.is_file())


PAGES = [address for address in addresses() if asks(address)]


@pytest.fixture(scope="module")
def asked(browser: Browser, site: str) -> Iterator[Asked]:
    """What a page shows of each of its checks at first; each page is visited once."""
    with new_context(browser, LOOKS[0]) as context:
        window = context.new_page()

        @cache
        def asked_on(address: str) -> list[dict[str, Any]]:
            window.goto(site + address)
            # Checks wake when a reader comes near the first one.
            window.locator("lesson-check").first.scroll_into_view_if_needed()
            window.locator("lesson-check:not([data-state])").first.wait_for(state="detached")
            return list(window.evaluate(ASK))

        yield asked_on


@pytest.mark.parametrize("address", PAGES)
def test_answers_are_closed_at_first(asked: Asked, address: str) -> None:
    """So is whatever else waits for the check."""
    open_ones = [check["id"] for check in asked(address) if check["open"]]

    assert asked(address)
    assert [] == open_ones


@pytest.mark.parametrize("address", PAGES)
def test_no_sentence_of_an_answer_is_in_the_open(asked: Asked, address: str) -> None:
    """The text around a check does not repeat its answer."""
    said = {check["id"]: check["said"] for check in asked(address) if check["said"]}

    assert {} == said


@pytest.mark.parametrize("address", PAGES)
def test_no_figure_of_an_answer_is_above_its_check(asked: Asked, address: str) -> None:
    """What an answer says in numbers was not to be read before the question."""
    above = {check["id"]: check["above"] for check in asked(address) if check["above"]}

    assert {} == above


@pytest.mark.parametrize("address", PAGES)
def test_what_is_shown_below_a_check_waits_for_it(asked: Asked, address: str) -> None:
    """The first output or chart before the next heading is covered, or about something else."""
    first = {check["id"]: check["first"] for check in asked(address) if check["first"]}

    assert {} == {name: shown for name, shown in first.items() if name not in ABOUT}
