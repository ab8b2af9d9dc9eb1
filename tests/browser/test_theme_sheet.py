"""The theme's style sheet, without what nothing matches, has all that a reader can see.

Whatever the theme's script makes is looked at in a browser: each selector of the whole sheet that
matches something there has to be in the one that the site hands out, unless it costs too much.
"""

from pathlib import Path

import material
from playwright.sync_api import Page

from lesson_site.postbuild.minify import minify_css
from lesson_site.postbuild.rules import COSTLY, narrowed
from tests.browser.conftest import PALETTE, PALETTES, SETTLED, settled
from tests.building import REPOSITORY

OURS = REPOSITORY / "docs/assets/style.css"
WHOLE = Path(material.__file__).parent / "templates/assets/stylesheets"
# A state comes and goes, and what is before or after an element is where the element is.
MATCHING = """([whole, known]) => {
  const stateless = (selector) => selector
    .replace(/:not\\((?:[^()]|\\([^()]*\\))*\\)/g, "")
    .replace(/::?(?:before|after|marker|placeholder|selection|backdrop)/g, "")
    .replace(/::?-(?:webkit|moz|ms)-[\\w-]+/g, "")
    .replace(/:(?:hover|focus(?:-visible|-within)?|active|checked|indeterminate|target)/g, "")
    .replace(/^\\s*(?=[>+~]|$)/, "*").replace(/([>+~])\\s*(?=[>+~]|$)/g, "$1 *");
  const onlyNames = (rule) => [...rule.style].every((name) => name.startsWith("--"));
  const all = (rules, around) => [...rules].flatMap((rule) => {
    if (rule.selectorText && onlyNames(rule)) return []; // names that nothing asks for go
    if (rule.selectorText)
      return rule.selectorText.split(/,(?![^(]*\\))/).map((one) => [around, one.trim()]);
    return rule.cssRules ? all(rule.cssRules, around + (rule.conditionText ?? rule.name)) : [];
  });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(whole);
  return all(sheet.cssRules, "").filter(([around, one]) =>
    !known.includes(around + one) && document.querySelector(stateless(one))
  ).map(([around, one]) => around + one);
}"""
# Of our own sheet alone, or of the one that the site hands out, in which it follows the theme's.
SELECTORS = """(ours) => {
  const all = (rules, around) => [...rules].flatMap((rule) => {
    if (rule.selectorText)
      return rule.selectorText.split(/,(?![^(]*\\))/).map((one) => around + one.trim());
    return rule.cssRules ? all(rule.cssRules, around + (rule.conditionText ?? rule.name)) : [];
  });
  const sheet = new CSSStyleSheet();
  if (ours) sheet.replaceSync(ours);
  const joined = [...document.styleSheets].filter(({ href }) => href.endsWith("/assets/style.css"));
  return (ours ? [sheet] : joined).flatMap(({ cssRules }) => all(cssRules, ""));
}"""
# Of each class of Pygments', whether it leaves code the colour that it has.
SAME_COLOUR = """(classes) => classes.map((name) => {
  const code = document.querySelector(".highlight code");
  const span = document.createElement("span");
  span.className = name;
  code.append(span);
  const same = getComputedStyle(span).color === getComputedStyle(code).color;
  span.remove();
  return same;
})"""


class Sheet:
    """The whole sheet beside the one that the site hands out."""

    def __init__(self, page: Page) -> None:
        self.page = page
        names = ("main.*.min.css", "palette.*.min.css")
        sheets = [next(WHOLE.glob(name)).read_text(encoding="utf-8") for name in names]
        self.whole = narrowed("".join(sheets))
        self.handed_out: list[str] = page.evaluate(SELECTORS)
        for one in page.evaluate(SELECTORS, minify_css(OURS.read_text(encoding="utf-8"))):
            self.handed_out.remove(one)

    def lacks(self) -> list[str]:
        """What matches something now, and is not handed out."""
        found: list[str] = self.page.evaluate(MATCHING, [self.whole, self.handed_out])
        return [selector for selector in found if not COSTLY.search(selector)]


def test_nothing_is_lost_while_a_reader_uses_a_page(page: Page, site: str) -> None:
    """The search with its results, code that is copied, a menu, other colours, the way up."""
    page.goto(f"{site}gpu-training/device-aware-loop/")
    sheet = Sheet(page)
    assert len(sheet.handed_out) > 800
    assert [] == sheet.lacks()

    page.locator(".md-code__button:visible").first.click()
    page.wait_for_selector(".md-dialog--active")
    assert [] == sheet.lacks()

    page.evaluate("scrollTo(0, 2000)")
    page.evaluate("scrollTo(0, 1500)")
    page.wait_for_selector(".md-top:not([hidden])")
    assert [] == sheet.lacks()

    page.keyboard.press("s")
    page.keyboard.type("gpu memory")
    page.wait_for_selector(".md-search-result__item mark")
    assert [] == sheet.lacks()
    page.keyboard.press("Escape")

    page.locator("label[for=__palette_1]").click()
    page.wait_for_selector("[data-md-color-scheme=slate]")
    assert [] == sheet.lacks()

    page.set_viewport_size({"width": 390, "height": 800})
    page.locator(".md-header label[for=__drawer]").click()
    page.wait_for_selector("[data-md-toggle=drawer]:checked", state="attached")
    assert [] == sheet.lacks()


def test_nothing_is_lost_on_pages_of_each_kind(page: Page, site: str) -> None:
    """What scripts make on them while they load."""
    page.goto(site)
    sheet = Sheet(page)
    for address in ("", "lab/exercise-1/", "mission/", "benchmarks/compare/", "404.html"):
        page.goto(site + address)
        settled(page)
        assert [] == sheet.lacks(), address


def test_spans_that_pages_lose_have_the_colour_of_the_code(
    page: Page, site_without_a_gpu: str
) -> None:
    """The theme's whole sheet colours them as ours says; a keyword, which stays, is another."""
    page.goto(f"{site_without_a_gpu}gpu-training/device-aware-loop/")
    for palette in PALETTES.values():
        page.evaluate(f"(palette) => {{ {PALETTE} = palette; }}", palette)
        page.evaluate(SETTLED)

        same = page.evaluate(SAME_COLOUR, ["n", "nn", "o", "ow", "p", "w", "k"])

        assert [True] * 6 + [False] == same, palette


def test_a_rule_that_is_lost_is_named(page: Page, site: str) -> None:
    """A header without its own rule is noticed."""
    page.goto(site)
    sheet = Sheet(page)
    sheet.handed_out.remove(".md-header")

    assert [".md-header"] == sheet.lacks()
