"""Charts as a reader meets them: static until asked, then interactive, and always whole on paper.

They run on a small site with charts of made-up values, so that they hold whatever was measured.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from lesson_site import vendor
from lesson_site.charts import CHARTS, to_html
from tests.browser.conftest import (
    AXE,
    LOOKS,
    OVERFLOWS,
    RUN_AXE,
    Look,
    new_context,
    small_site,
)
from tests.building import REPOSITORY
from tests.lesson_site import made_up

NAV = """\
  - Start: index.md
  - All: all.md
  - One: one.md
  - Far down: far.md
  - Nothing: nothing.md
"""
FAR = "\n\n".join(f"Paragraph {number}." for number in range(80))
UNMEASURED = {"float16_losses", "memory_snapshot"}  # they have nothing to draw without a GPU
NAMES = [name for name in CHARTS if name not in UNMEASURED]
MEASURED = {
    "mnist_epoch.cpu": (5.0, "5.00 s"),
    "step_sweep.width_64.batch_16.speedup": (2.0, "2 x"),
}
MACHINE = {
    "mine": {
        "at": "2026-11-21T10:00:00.000Z",
        "file": "mine.json",
        "label": "Your machine (A laptop)",
        "provenance": {"processor": "A laptop", "cores": 4},
        "figures": {
            name: {"value": value, "spread": 0, "noisy": False, "text": text}
            for name, (value, text) in MEASURED.items()
        },
    }
}
KEEP_MACHINE = f"localStorage.setItem('gpu-training.machine.v1', {json.dumps(json.dumps(MACHINE))})"


def charts(*names: str, kind: str = "gpu") -> str:
    """The charts of these names, one below the other, as a page's Markdown holds them."""
    store = made_up.store(kind)
    return "\n\n".join(
        to_html(name, CHARTS[name](store), number) for number, name in enumerate(names)
    )


@pytest.fixture(scope="module")
def charted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The small site, served below a sub-path."""
    assert vendor.compressed_kb(vendor.PLOTLY, REPOSITORY), "run `python -m lesson_site.vendor`"
    root = tmp_path_factory.mktemp("charts")
    docs = root / "docs"
    docs.mkdir()
    pages = {
        "index": "[One](one.md) [Far](far.md)",
        "all": charts(*NAMES),
        "one": f"[Far](far.md)\n\n{charts('hook')}",
        "far": f"{FAR}\n\n{charts('sweep')}",
        "nothing": charts("hook", kind="nothing"),
    }
    for name, text in pages.items():
        (docs / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n", encoding="utf-8")
    with small_site(root, NAV, below="course") as address:
        yield address


Opener = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, charted: str) -> Iterator[Opener]:
    """Open a page of the small site in a fresh profile; nothing may go wrong in any of them."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def opener(path: str = "one/", look: Look = LOOKS[0], script: str = "") -> Page:
        context = new_context(browser, look)
        contexts.append(context)
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: _note_foreign(asked.url, charted, wrong))
        page.goto(charted + path)
        return page

    yield opener
    for context in contexts:
        for page in context.pages:
            wrong += page.evaluate("window.__violations")
        context.close()
    assert [] == wrong


def _note_foreign(url: str, charted: str, wrong: list[str]) -> None:
    if not url.startswith((charted, "data:", "blob:")):
        wrong.append(url)


def switch(page: Page) -> Locator:
    """The button of the page's first chart."""
    return page.locator(".chart-switch").first


def interact(page: Page) -> None:
    """Press the first chart's button, and wait until it is drawn."""
    switch(page).click()
    expect(page.locator("interactive-chart").first).to_have_attribute("data-state", "interactive")
    expect(page.locator(".main-svg").first).to_be_visible()


def see_all(page: Page) -> None:
    """Scroll to every chart of the page, so that each is drawn."""
    for chart in page.locator("interactive-chart").all():
        chart.scroll_into_view_if_needed()
        expect(chart).to_have_attribute("data-state", "interactive")
        expect(chart.locator(".main-svg").first).to_be_visible()


def test_nothing_is_loaded_until_it_is_asked_for(open_page: Opener) -> None:
    """The static drawing stands there, and the button says what pressing it costs."""
    page = open_page("index.md".removesuffix("index.md"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("link", name="One", exact=True).first.click()
    expect(switch(page)).to_be_visible()

    size_kb = vendor.compressed_kb(vendor.PLOTLY, REPOSITORY)
    expect(switch(page)).to_have_text(f"Interactive chart ({size_kb} kB)")
    expect(page.locator(".chart-drawing")).to_be_visible()
    assert [] == [url for url in asked if "vendor" in url or "plot.js" in url]


def test_a_press_draws_every_chart_under_our_policy(open_page: Opener) -> None:
    """The library comes once, no policy is asked for an exception, no other host is asked."""
    page = open_page("all/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    interact(page)
    see_all(page)

    assert 1 == sum(vendor.PLOTLY in url for url in asked)
    assert 0 == page.locator(".chart-drawing:visible").count()


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[-1]], ids=str)
def test_an_interactive_chart_is_for_everybody(open_page: Opener, look: Look) -> None:
    """No barrier for axe and nothing too wide, with a machine of one's own beside the others."""
    page = open_page("all/", look, KEEP_MACHINE)
    interact(page)
    see_all(page)

    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    page.evaluate(AXE.read_text(encoding="utf-8"))

    assert [] == page.evaluate(RUN_AXE, [])
    assert [] == page.evaluate(OVERFLOWS)


def test_a_drawn_chart_keeps_the_page_light(open_page: Opener) -> None:
    """One interactive chart leaves a page within the elements that a page may have."""
    page = open_page("far/")
    page.locator("interactive-chart").scroll_into_view_if_needed()
    interact(page)

    assert page.evaluate("document.querySelectorAll('*').length") < 1500


def test_the_answer_holds_for_the_visit_and_waits_for_the_reader(open_page: Opener) -> None:
    """On the next page a chart draws itself once it comes into view, and not before."""
    page = open_page()
    interact(page)
    page.get_by_role("link", name="Far", exact=True).click()
    chart = page.locator("interactive-chart")
    expect(page.locator("h1")).to_contain_text("Far")
    expect(chart).to_have_attribute("data-state", "static")

    chart.scroll_into_view_if_needed()

    expect(chart).to_have_attribute("data-state", "interactive")
    page.reload()
    page.locator("interactive-chart").scroll_into_view_if_needed()
    expect(page.locator("interactive-chart")).to_have_attribute("data-state", "interactive")


def test_back_to_the_static_chart_by_keyboard(open_page: Opener) -> None:
    """The same button leads back, keeps the focus, and the next page stays static."""
    page = open_page()
    switch(page).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".main-svg").first).to_be_visible()
    expect(switch(page)).to_have_text("Back to the static chart")

    page.keyboard.press("Enter")

    expect(switch(page)).to_be_focused()
    expect(page.locator(".chart-drawing")).to_be_visible()
    expect(page.locator(".chart-plot")).to_be_hidden()
    page.goto(page.url.replace("/one/", "/far/"))
    page.locator("interactive-chart").scroll_into_view_if_needed()
    expect(page.locator("interactive-chart")).to_have_attribute("data-state", "static")


def test_a_library_that_does_not_come_is_one_sentence(browser: Browser, charted: str) -> None:
    """The static chart stays, a live region says so, and another press tries again."""
    context = new_context(browser, LOOKS[0])
    page = context.new_page()
    page.route(f"**/{vendor.PLOTLY}", lambda route: route.abort())
    page.goto(f"{charted}one/")

    switch(page).click()

    expect(page.locator(".chart-status")).to_have_text(
        "The interactive chart could not be loaded, so the static one stays; press the button to "
        "try again."
    )
    expect(page.locator(".chart-drawing")).to_be_visible()
    page.unroute(f"**/{vendor.PLOTLY}")
    interact(page)
    expect(page.locator(".chart-status")).to_have_text("")
    context.close()


def test_colours_follow_the_palette(open_page: Opener) -> None:
    """Switching to the dark palette recolours a chart that is drawn already."""
    page = open_page()
    interact(page)
    bar = page.locator(".chart-plot .bars .point path").first
    expect(bar).to_have_css("fill", "rgb(61, 90, 128)")

    page.evaluate("document.body.dataset.mdColorScheme = 'slate'")

    expect(bar).to_have_css("fill", "rgb(157, 184, 220)")


def test_paper_shows_the_static_chart(open_page: Opener) -> None:
    """In print the drawing is there and everything interactive is gone."""
    page = open_page()
    interact(page)

    page.emulate_media(media="print")

    expect(page.locator(".chart-drawing")).to_be_visible()
    expect(page.locator(".chart-plot")).to_be_hidden()
    expect(switch(page)).to_be_hidden()


def test_without_javascript_the_drawing_and_the_table_are_there(
    page_without_javascript: Page, charted: str
) -> None:
    """No button that would do nothing."""
    page = page_without_javascript
    page.goto(f"{charted}one/")

    expect(page.locator(".chart-drawing")).to_be_visible()
    expect(page.locator(".chart-switch")).to_have_count(0)
    page.locator(".chart-table summary").click()
    expect(page.locator(".chart-table td").first).to_be_visible()


def test_a_chart_without_values_has_no_button(open_page: Opener) -> None:
    """Nothing measured means nothing to point at, until the reader brings a machine."""
    page = open_page("nothing/")
    expect(page.locator("interactive-chart")).to_have_attribute("data-state", "static")
    expect(switch(page)).to_be_hidden()

    other = open_page("nothing/", script=KEEP_MACHINE)

    expect(switch(other)).to_be_visible()
    interact(other)


def test_the_reader_s_machine_stands_beside_the_others(open_page: Opener) -> None:
    """One more trace and one more column, its texts as the file has them; gone when removed."""
    page = open_page(script=KEEP_MACHINE)
    expect(switch(page)).to_contain_text("Interactive chart with your machine (")
    interact(page)
    page.locator(".chart-table summary").click()
    own = page.locator(".chart-table .own")

    assert [
        "Your machine",
        *["not measured"] * 2,
        "5.00 s",
        "not measured",
    ] == own.all_inner_texts()
    legend = page.locator(".chart-plot .legendtext")
    expect(legend).to_have_text(["CPU", "GPU", "CPU, Your machine (A laptop)"])

    page.evaluate("localStorage.clear(); dispatchEvent(new Event('own-machine-changed'))")

    expect(own).to_have_count(0)
    expect(legend).to_have_count(2)


def test_a_chart_without_a_figure_of_the_readers_says_nothing_of_their_machine(
    open_page: Opener,
) -> None:
    """A file that measured other things changes neither the button nor the table."""
    figure = {"value": 1.0, "spread": 0, "noisy": False, "text": "1 s"}
    raced = {"race.width_256.batch_64.browser": figure}
    other = json.dumps({"mine": {**MACHINE["mine"], "figures": raced}})
    page = open_page(script=KEEP_MACHINE)
    expect(switch(page)).to_contain_text("with your machine")

    page.evaluate(
        "record => { localStorage.setItem('gpu-training.machine.v1', record);"
        " dispatchEvent(new Event('own-machine-changed')); }",
        other,
    )

    expect(switch(page)).not_to_contain_text("with your machine")
    expect(page.locator(".chart-table .own")).to_have_count(0)


def test_hover_shows_what_python_wrote(open_page: Opener) -> None:
    """Pointing at a bar shows the value with its unit and how it was found."""
    page = open_page()
    interact(page)

    box = page.locator(".chart-plot .bars .point").nth(1).bounding_box()
    assert box is not None
    # On a logarithmic axis a bar begins far out of the picture
    for inwards in (20, 10):
        page.mouse.move(box["x"] + box["width"] - inwards, box["y"] + box["height"] / 2)

    expect(page.locator(".chart-plot .hoverlayer")).to_contain_text("median of 5 runs")


def test_the_site_s_own_charts_are_drawn(browser: Browser, site: str, built_site: Path) -> None:
    """Every page of the real site that has a chart draws it, with nothing stopped."""
    pages = [
        path.parent.relative_to(built_site).as_posix() + "/"
        for path in sorted(built_site.rglob("index.html"))
        if "<interactive-chart data-bundle" in path.read_text(encoding="utf-8")
        and "data-empty" not in path.read_text(encoding="utf-8")
        and path.parent.name != "whole-lesson"
    ]
    context = new_context(browser, LOOKS[0])
    page = context.new_page()

    for address in pages:
        page.goto(site + address)
        chart = page.locator("interactive-chart").first
        chart.scroll_into_view_if_needed()
        if address == pages[0]:
            chart.locator(".chart-switch").click()
        expect(chart.locator(".main-svg").first).to_be_visible()
        assert [] == page.evaluate("window.__violations")
    context.close()
    assert pages
