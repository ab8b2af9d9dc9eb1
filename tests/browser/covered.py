"""What a page shows of its checks to a reader who has predicted nothing."""

from typing import Any

from playwright.sync_api import Page

from tests.building import REPOSITORY

DOCS = REPOSITORY / "docs"
# A sentence of an answer is one of five words or more, so that "No." and "Eight:" are none.
SHOWN = """() => [...document.querySelectorAll("lesson-check")].map((check) => {
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


def asks(address: str) -> bool:
    """Whether the page has a check of its own."""
    pages = (DOCS / f"{address.strip('/')}.md", DOCS / address / "index.md")
    return any("\n//// check |" in p.read_text(encoding="utf-8") for p in pages if p.is_file())


def shown_of_checks(page: Page) -> list[dict[str, Any]]:
    """For each check of the page: what is open of it, said elsewhere, and shown around it."""
    checks = page.locator("lesson-check")
    if not checks.count():
        return []
    checks.first.scroll_into_view_if_needed()  # they wake when a reader comes near the first one
    page.locator("lesson-check:not([data-state])").first.wait_for(state="detached")
    return list(page.evaluate(SHOWN))
