"""What is written in a drawing lies inside of it, and no word lies on another."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from lesson_site.drawings import DRAWINGS
from tests.building import REPOSITORY

NAMES = sorted(path.stem for path in (REPOSITORY / DRAWINGS).glob("*.svg"))
STYLES = [Path("docs/assets/style.css"), Path("docs/assets/sheets/drawing.css")]
# Letters have room above and below them that may meet the next line's.
FLAWS = """() => [...document.querySelectorAll("svg")].map((svg) => {
  const { width, height } = svg.viewBox.baseVal;
  const boxes = [...svg.querySelectorAll("text")].map((text) => {
    const { x, y, width, height } = text.getBBox();
    const [top, bottom] = [y + 2, y + height - 3];
    return { said: text.textContent, left: x, right: x + width, top, bottom };
  });
  const outside = boxes.filter((b) =>
    b.left < 0 || b.right > width || b.top < 0 || b.bottom > height);
  const pairs = boxes.flatMap((a, i) => boxes.slice(i + 1)
    .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
    .map((b) => `${a.said} and ${b.said}`));
  return [...outside.map(({ said }) => `${said} runs out`), ...pairs];
})"""

COLOURS = """() => {
  const of = (what, name) =>
    [...document.querySelectorAll(`svg :is(${what})`)].map((e) => getComputedStyle(e)[name]);
  const text = of("text:not(.count), tspan", "fill");
  return { text, fills: of("rect, path, circle", "fill").filter((fill) => fill !== "none") };
}"""


@pytest.fixture(scope="module")
def flaws(browser: Browser) -> dict[str, Any]:
    """By drawing, the words that run out of it or lie on another."""
    drawings = "".join((REPOSITORY / DRAWINGS / f"{name}.svg").read_text() for name in NAMES)
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.set_content(f'<figure class="drawing">{drawings}</figure>')
    for style in STYLES:
        page.add_style_tag(path=REPOSITORY / style)

    found = dict(zip(NAMES, page.evaluate(FLAWS), strict=True))

    page.close()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_words_keep_apart_and_inside(flaws: dict[str, Any], name: str) -> None:
    """Each text is whole, with the fonts of this machine."""
    assert [] == flaws[name], f"docs/drawings/{name}.svg: these overlap, or leave the frame"


def test_forced_colours_take_the_drawings_along(browser: Browser) -> None:
    """Where the system chooses the colours, lines, words and boxes have its own, on any palette."""
    page = browser.new_page(color_scheme="dark", forced_colors="active")
    drawings = "".join((REPOSITORY / DRAWINGS / f"{name}.svg").read_text() for name in NAMES)
    page.set_content(
        '<body data-md-color-scheme="default"><p style="color: CanvasText; background: Canvas">'
        f'<figure class="drawing">{drawings}</figure>'
    )
    for style in STYLES:
        page.add_style_tag(path=REPOSITORY / style)
    of = "(element) => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]"
    words, ground = page.locator("p").evaluate(of)

    drawn = page.evaluate(COLOURS)

    assert set() == set(drawn["text"]) - {words}
    assert set() == set(drawn["fills"]) - {words, ground}
    page.close()
