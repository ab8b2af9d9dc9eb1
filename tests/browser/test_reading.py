"""What a reader does: without scripts, with a slow machine, with the search, from page to page."""

from playwright.sync_api import Browser, Page

from lesson_site.postbuild.sizes import WITHOUT_BUDGET
from tests.browser.conftest import LOOKS, Visits, addresses, new_context, visit

BUDGET_BLOCKING_MS = 150
TRIES = 3


def test_the_page_reads_without_javascript(
    page_without_javascript: Page, site: str, address: str
) -> None:
    """Title and text are visible, nothing waits for a script, and every answer opens by a click."""
    page = page_without_javascript
    page.goto(site + address)
    article = page.locator("article").first

    assert article.locator("h1").first.is_visible()
    assert "" != article.inner_text().strip()
    for details in article.locator("details").all():
        details.locator("summary").first.click()
        assert details.get_attribute("open") is not None
        assert "" != details.inner_text().strip()


def test_checks_show_their_answers_without_javascript(
    page_without_javascript: Page, site: str
) -> None:
    """Each of the lesson's checks keeps its answer behind something that opens without a script."""
    page = page_without_javascript
    counts = []
    for address in [a for a in addresses() if "-check-" in a]:
        page.goto(site + address)
        counts.append(page.locator("article details").count())

    assert 3 == len(counts)
    assert all(counts), counts


def test_code_and_formulas_need_no_javascript(page_without_javascript: Page, site: str) -> None:
    """The two loops stand side by side, and formulas are MathML."""
    page = page_without_javascript
    page.goto(site + "gpu-training/05-device-aware-loop/")

    assert page.locator(".compare pre").first.is_visible()
    assert 0 == page.locator(".arithmatex:not(:has(math))").count()


def test_the_search_costs_nothing_until_it_is_asked(page: Page, site: str) -> None:
    """The search index and its worker are fetched when the reader opens the search, not before."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(site)))
    page.goto(site, wait_until="networkidle")

    assert [] == [url for url in asked if "search" in url]

    with page.expect_response("**/search_index.json"):
        page.keyboard.press("/")


def test_the_search_finds_names_in_code(page: Page, site: str) -> None:
    """`zero_grad` and `autocast` lead to pages."""
    page.goto(site)
    query = page.locator(".md-search__input")
    for word in ("zero_grad", "autocast"):
        query.click()
        query.fill("")
        query.press_sequentially(word)
        found = page.locator(".md-search-result__item", has_text=word)
        found.first.wait_for(timeout=20_000)

        assert 0 < found.count()


def test_the_next_page_comes_without_a_new_document(page: Page, site: str) -> None:
    """Instant navigation keeps the document, and the policy of the first page allows the second."""
    stopped: list[str] = []
    page.on("console", lambda said: stopped.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: stopped.append(str(error)))
    page.goto(site + "gpu-training/04-device-mismatch/")
    page.evaluate("window.__same_document = true")
    page.locator(".md-footer__link--next").click()
    page.wait_for_url("**/05-device-aware-loop/")
    page.locator("h1#device-aware-loop").wait_for()

    assert page.evaluate("window.__same_document")
    assert [] == page.evaluate("window.__violations")
    assert [] == stopped


def test_the_heaviest_page_does_not_keep_the_reader_waiting(
    browser: Browser, site: str, visits: Visits
) -> None:
    """Long tasks add up to less than the budget; the best of three visits, as machines are busy."""
    read = [a for a in addresses() if not a.strip("/").endswith(WITHOUT_BUDGET)]
    heaviest = max(read, key=lambda address: visits(address)[LOOKS[0]].elements)
    waits_ms = []
    for _ in range(TRIES):
        context = new_context(browser, LOOKS[0])
        waits_ms.append(visit(context, site, heaviest).blocking_ms)
        context.close()

    assert min(waits_ms) < BUDGET_BLOCKING_MS, f"{heaviest}: {waits_ms} ms"
