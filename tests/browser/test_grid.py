"""One grid: on a wide screen a block ends where the text ends, or where the column does."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import LOOKS, new_context

# Of each block of the article that ends at neither edge, where it ends; a table has to fill what
# holds it, and a caption is as wide as its figure.
OFF_THE_GRID = """() => {
  const article = document.querySelector("article");
  const right = (element) => Math.round(element.getBoundingClientRect().right);
  const probe = document.createElement("p");
  probe.textContent = "word ".repeat(200);
  article.append(probe);
  const text = right(probe);
  probe.remove();
  const column = right(article) - parseFloat(getComputedStyle(article).paddingRight);
  const found = [];
  const off = (element, ...edges) => {
    if (edges.some((edge) => Math.abs(right(element) - edge) <= 2)) return;
    found.push(`${element.outerHTML.slice(0, 90)} ends at ${right(element)}, not at ${edges}`);
  };
  const seen = (element) => element.checkVisibility() && element.offsetWidth > 1;
  const ask = (block) => {
    const { display, position } = getComputedStyle(block);
    if (display === "contents") return [...block.children].forEach(ask);
    if (!seen(block) || position === "absolute" || position === "fixed") return;
    off(block, text, column);
    if (block.matches(".check-after")) [...block.children].forEach(ask);
    for (const table of block.querySelectorAll("table"))
      if (seen(table) && table.offsetWidth < table.parentElement.clientWidth)
        off(table, right(table.parentElement));
    for (const caption of block.querySelectorAll("figcaption"))
      if (seen(caption)) off(caption, right(caption.closest("figure")));
  };
  [...article.children].forEach(ask);
  return found;
}"""


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """A wide window for all pages, since a new one costs as much as a visit."""
    with new_context(browser, LOOKS[0]) as context:
        yield context.new_page()


def test_a_block_ends_with_the_text_or_with_the_column(
    window: Page, site: str, address: str
) -> None:
    """There is no third edge, and none inside of figures."""
    window.goto(site + address)
    window.locator(".check-after").evaluate_all("(all) => all.forEach((each) => each.open = true)")

    assert [] == window.evaluate(OFF_THE_GRID)
