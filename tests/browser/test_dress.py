"""A page that needs the joined sheets has them: at once, after a move, and later."""

from pathlib import Path

from playwright.sync_api import Page, expect

from lesson_site.postbuild.dress import JOINED, asked_by
from lesson_site.postbuild.minify import minify_css
from lesson_site.postbuild.rules import Rule, rules_of, selectors_of
from tests.browser.conftest import OPEN_ALL, addresses
from tests.building import REPOSITORY

SHEETS = {path.stem: path for path in (REPOSITORY / "docs/assets/sheets").glob("*.css")}
READ = "lab/resources/"  # has none of them
DRESSED = f"link[href$='{JOINED.as_posix()}']"
TITLE = "(one) => ['color', 'font', 'margin'].map((name) => getComputedStyle(one)[name])"
# What is before or after an element is where the element is.
MATCHED = """(selectors) => selectors.filter((one) =>
  document.querySelector(one.replace(/::?(?:before|after|placeholder)|::details-content/g, "")))"""
GO_THROUGH = """async () => {
  for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
    scrollTo(0, y);
    await new Promise(requestAnimationFrame);
  }
}"""
# These wait for somebody who uses them.
AWAKE = """() => [...document.querySelectorAll("article :not(:defined)")]
  .every((one) => one.closest("forecast-gpu, reader-card, run-cell") || !one.checkVisibility())"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
ARRIVED = """performance.getEntriesByType("resource")
  .filter(({ name }) => name.endsWith(".css")).map(({ responseEnd }) => responseEnd)"""


def selectors(rules: list[Rule]) -> list[str]:
    """Every selector in rules, however deep."""
    found: list[str] = []
    for rule in rules:
        if isinstance(rule.body, list):
            found += selectors(rule.body)
        elif not rule.head.startswith("@"):
            found += selectors_of(rule)
    return found


def test_no_script_makes_what_its_page_has_no_style_for(
    page: Page, site: str, built_site: Path
) -> None:
    """On a page without the sheets, once a reader has been everywhere on it."""
    css = {name: path.read_text(encoding="utf-8") for name, path in SHEETS.items()}
    asks = [asked_by(name, text) for name, text in css.items()]
    unstyled = [one for text in css.values() for one in selectors(rules_of(minify_css(text)))]
    bare = []
    for address in addresses():
        file = address if address.endswith(".html") else f"{address}index.html"
        html = (built_site / file).read_text(encoding="utf-8")
        if not any(asked(html) for asked in asks):
            bare.append(address)
    assert len(bare) >= 10

    for address in bare:
        page.goto(site + address)
        page.evaluate(OPEN_ALL)
        page.evaluate(GO_THROUGH)
        page.wait_for_function(AWAKE)

        assert [] == page.evaluate(MATCHED, unstyled), address


def test_a_sheet_comes_and_goes_with_the_page(page: Page, site: str) -> None:
    """Material changes the page and not the window, and takes over what the next page loads."""
    page.goto(site + READ)
    page.evaluate("window.stayed = true")
    of_title = page.locator("h1").evaluate(TITLE)
    assert 0 == page.locator(DRESSED).count()

    page.get_by_label("Tabs").get_by_role("link", name="Mission").click()
    expect(page.locator(".mission-steps > li").first).to_have_css("border-top-width", "3px")
    expect(page.locator(".check").first).to_have_css("display", "block")
    assert 1 == page.locator(DRESSED).count()

    page.go_back()
    expect(page.locator("h1")).to_contain_text("Resources")
    expect(page.locator(DRESSED)).to_have_count(0)
    assert of_title == page.locator("h1").evaluate(TITLE)

    page.go_forward()
    expect(page.locator(".mission-steps > li").first).to_have_css("border-top-width", "3px")
    assert page.evaluate("window.stayed")


def test_nothing_is_painted_without_its_style(page: Page, site: str) -> None:
    """Every sheet is named in the head, so that browsers wait for it."""
    for address in ("mission/", "gpu-training/when-a-gpu-helps/", "benchmarks/forecast/"):
        page.goto(site + address)
        painted = page.wait_for_function(PAINTED).json_value()
        arrived = page.evaluate(ARRIVED)

        assert 2 == len(arrived)
        assert max(arrived) <= painted, address
