"""Charts as a reader meets them: drawn without JavaScript, pointed at with it, whole on paper.

They run on a small site with charts of made-up values, so that they hold whatever was measured.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from lesson_code.forecast.cards import read_cards
from lesson_site.charts import CHARTS, described, to_html
from lesson_site.charts.contributed import with_contributed
from lesson_site.charts.hook import CHECK
from results.contributed import Contribution
from tests.browser.conftest import LOOKS, new_context, small_site
from tests.browser.states import expect_accessible
from tests.lesson_site import made_up
from tests.lesson_site.test_contributed import given

NAMES = [name for name in CHARTS if name != "memory_snapshot"]  # needs a GPU's recording
FORECAST = ("ladder", "amp", "race", "sweep")
READERS = [
    given("Ada"),
    given("Maximiliane Featherstone", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"),
]
MEASURED = {
    "mnist_epoch.cpu": (5.0, "5.00 s"),
    "step_sweep.width_64.batch_16.speedup": (2.0, "2 x"),
    "matmul.n_64.cpu_rate": (1e9, "1.00 GFLOP/s"),
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
AT = "2026-11-21T10:00:00.000Z"
KEPT = {
    "machine": MACHINE,
    "card": {"mine": {"at": AT, "card": "h100"}},
    "checks": {CHECK: {"kind": "match", "value": "1 2 2 1", "text": "", "at": AT}},
    "card without": {"mine": {"at": AT, "card": "v100"}},
}
CHANGED = {"machine": "own-machine-changed", "card": "card-changed"}
H100, V100 = (read_cards()[card].name for card in ("h100", "v100"))
HINT = "Point at a mark"
UNCOVER = "chart => chart.closest('details')?.setAttribute('open', '')"
CENTRE = """(element) => {
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}"""


def keep(what: str) -> str:
    """A script that puts something of the reader's into the browser's record."""
    kept = json.dumps(json.dumps(KEPT[what]))
    return f"localStorage.setItem('gpu-training.{what.split()[0]}.v1', {kept});"


def forget(what: str) -> str:
    """A script that takes it out again, and says so."""
    gone = f"localStorage.removeItem('gpu-training.{what}.v1');"
    return f"{gone} dispatchEvent(new Event('{CHANGED[what]}'))"


def charts(*names: str, kind: str = "gpu", readers: Sequence[Contribution] = ()) -> str:
    """The charts of these names, one below the other, as a page's Markdown holds them."""
    store = made_up.store(kind)
    drawn = [with_contributed(described(name, store), readers, store.definitions) for name in names]
    return "\n\n".join(
        to_html(name, chart, number)
        for number, (name, chart) in enumerate(zip(names, drawn, strict=True))
    )


@pytest.fixture(scope="module")
def charted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The small site, served below a sub-path."""
    with pytest.MonkeyPatch.context() as patch:
        made_up.forecasts(patch, 3.0)
        pages = {
            "index": "[One](one.md)",
            "all": charts(*NAMES),
            "one": charts("hook"),
            "guessed": charts("hook", kind="cpu"),
            "forecast": charts(*FORECAST, kind="cpu"),
            "nothing": charts("pipeline_shares", kind="nothing"),
            "readers": charts("hook", *FORECAST, kind="cpu", readers=READERS),
            "benchmarks/forecast": "Where the list of cards leads.",
        }
    files = {f"{name}.md": f"# {name.title()}\n\n{text}\n" for name, text in pages.items()}
    with small_site(tmp_path_factory.mktemp("charts"), files, below="course") as address:
        yield address


Opener = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, charted: str) -> Iterator[Opener]:
    """Open a page of the small site in a fresh profile; nothing may go wrong in any of them."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def opener(path: str = "one/", script: str = "") -> Page:
        context = new_context(browser, LOOKS[0])
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


def readout(page: Page) -> Locator:
    """What the page's first chart says about the mark that is pointed at."""
    return page.locator(".chart-readout").first


def frame(page: Page) -> Locator:
    """The page's first chart, as the control that moves along its marks."""
    return page.get_by_role("slider").first


def labels(page: Page) -> list[str]:
    """The labels that the page's first chart has drawn."""
    return page.locator(".chart-drawing").first.locator("text").all_text_contents()


def test_what_draws_comes_when_somebody_points(open_page: Opener) -> None:
    """The drawing is in the page; its module is asked for with the first pointing, and once."""
    page = open_page("")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("link", name="One", exact=True).first.click()
    expect(readout(page)).to_contain_text(HINT)
    expect(page.locator(".chart-drawing")).to_be_visible()
    assert [] == [url for url in asked if "/chart" in url]

    page.locator(".chart-drawing .point").first.hover()

    expect(readout(page)).to_contain_text("Tiny model, 100 samples, CPU: 2.00")
    assert 1 == sum("/chart/drawing.js" in url for url in asked)
    assert 1 == sum("/course/assets/data/" in url for url in asked)


def test_charts_answer_while_their_author_writes(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the pass over the built site their data is in the page itself."""
    made_up.forecasts(monkeypatch, 3.0)
    pages = {
        "index.md": f"# Start\n\n{charts('ladder', kind='cpu')}\n",
        "benchmarks/forecast.md": "# Where the list of cards leads\n",
    }
    with small_site(tmp_path, pages, "draft", finished=False) as address:
        context = new_context(browser, LOOKS[0])
        context.add_init_script(keep("card"))
        page = context.new_page()
        page.goto(address)

        expect(page.locator("figure.chart-ladder text", has_text=H100)).to_have_count(1)
        frame(page).focus()
        page.keyboard.press("ArrowRight")
        expect(frame(page)).to_have_attribute("aria-valuenow", "1")
        context.close()


@pytest.mark.parametrize("lost", ["**/chart/drawing.js", "**/assets/data/*.json"])
def test_without_its_module_or_data_a_chart_says_so(
    browser: Browser, charted: str, lost: str
) -> None:
    """The picture and the table stay as they were; once both are there, it answers."""
    page = new_context(browser, LOOKS[0]).new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.route(lost, lambda route: route.abort())
    page.goto(f"{charted}forecast/")
    drawing = "document.querySelector('.chart-drawing').innerHTML"
    before = page.evaluate(drawing)

    frame(page).focus()
    expect(readout(page)).to_contain_text("The rest of this chart did not load")
    if lost.endswith("json"):
        expect_accessible(page, "interactive-chart", "not loaded")
    page.evaluate(keep("card") + "dispatchEvent(new Event('card-changed'))")
    page.keyboard.press("ArrowRight")

    expect(page.locator(".chart-readout[role=status]").first).to_be_visible()
    expect(page.locator(".chart-table td[data-kind='forecast']").first).to_have_text(
        "forecast 3 s, 1.5 to 6 s"
    )
    assert before == page.evaluate(drawing)
    page.unroute(lost)
    page.reload()
    frame(page).focus()
    page.keyboard.press("ArrowRight")
    expect(frame(page)).to_have_attribute("aria-valuenow", "1")
    assert [] == wrong
    page.context.close()


def test_pointing_at_a_readers_mark_says_whose_it_is(open_page: Opener) -> None:
    """Name, card, versions and day; the reader's own machine is beside ours and not beside it."""
    page = open_page("readers/")
    expect(frame(page)).to_be_visible()  # the script has come
    page.locator(".chart-drawing .point.contributed").first.hover()
    expect(readout(page)).to_contain_text("Measured by Ada: Tesla T4, PyTorch 2.15.0, 2026-11-21.")

    page.evaluate(keep("machine") + "dispatchEvent(new Event('own-machine-changed'))")

    expect(page.locator(".chart-hook .point.own").first).to_be_attached()
    assert 1 == page.locator(".chart-hook svg.own").count()
    columns = page.locator(".chart-hook th").all_text_contents()
    assert ["Time", "Your machine", "Time, T4, measured by Ada"] == columns[2:5]


def test_pointing_at_a_mark_says_what_it_is(open_page: Opener) -> None:
    """Its value with the unit, its kind, and how it was found; a ring shows which one."""
    page = open_page()
    expect(frame(page)).to_be_visible()  # the script has come: from now on it answers to pointing

    page.locator(".chart-drawing .point").last.hover()

    expect(readout(page)).to_contain_text("Residual network, steps of an epoch, GPU: 938")
    expect(readout(page)).to_contain_text("Measured: computed from medians of one run")
    ring, mark = (page.locator(f".chart-drawing .{name}").last for name in ("cursor", "point"))
    centres = [element.evaluate(CENTRE) for element in (ring, mark)]
    assert centres[0] == pytest.approx(centres[1], abs=0.5)


def test_every_mark_is_reached_by_keyboard(open_page: Opener) -> None:
    """One stop of the tab key, arrows from mark to mark, and what is read aloud follows."""
    page = open_page("forecast/")
    control = frame(page)
    control.focus()
    heard = []
    for _ in range(30):
        page.keyboard.press("ArrowRight")
        expect(control).not_to_have_attribute("aria-valuenow", "0")
        heard.append(control.get_attribute("aria-valuetext") or "")

    marks = page.locator("figure.chart-ladder .chart-drawing :is(.point, .limit):not(.c0)").count()
    assert marks == len(set(heard))
    assert str(marks) == control.get_attribute("aria-valuemax")
    page.keyboard.press("Home")
    expect(control).to_have_attribute("aria-valuenow", "1")
    page.keyboard.press("End")
    expect(control).to_have_attribute("aria-valuenow", str(marks))
    expect(control).to_have_attribute("aria-valuetext", re.compile("Forecast, 1.5 to 6 s: from 27"))
    page.keyboard.press("Escape")
    expect(readout(page)).to_contain_text(HINT)
    expect(page.locator(".cursor")).to_have_count(0)


@pytest.mark.parametrize("path", ["all/", "forecast/", "guessed/", "readers/"])
def test_a_chart_is_for_everybody(open_page: Opener, path: str) -> None:
    """No barrier for axe and nothing too wide, with a machine and a card of one's own."""
    page = open_page(path, keep("machine") + keep("card") + keep("checks"))
    expect(page.locator(".chart-table .own").first).to_be_attached()
    frame(page).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".cursor").first).to_be_attached()

    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    expect_accessible(page, "interactive-chart", "of every kind, with the reader's", "article")


def test_every_chart_leaves_the_page_light(open_page: Opener) -> None:
    """All charts of the site on one page are within the elements that a page may have."""
    page = open_page("all/", script=keep("machine"))
    expect(page.locator(".chart-drawing .own").first).to_be_attached()

    assert page.evaluate("document.querySelectorAll('.chart-drawing *').length") < 1000


def test_colours_follow_the_palette(open_page: Opener) -> None:
    """Switching to the dark palette recolours what is drawn."""
    page = open_page()
    point = page.locator(".chart-drawing .point").first
    expect(point).to_have_css("fill", "rgb(61, 90, 128)")

    page.evaluate("document.body.dataset.mdColorScheme = 'slate'")

    expect(point).to_have_css("fill", "rgb(157, 184, 220)")


def test_paper_shows_the_chart_alone(open_page: Opener) -> None:
    """In print the drawing is there, and what answers to pointing is gone."""
    page = open_page()
    expect(frame(page)).to_be_visible()
    page.locator(".chart-drawing .point").first.hover()
    expect(page.locator(".cursor")).to_be_visible()

    page.emulate_media(media="print")

    expect(page.locator(".chart-drawing")).to_be_visible()
    expect(readout(page)).to_be_hidden()
    expect(page.locator(".cursor")).to_be_hidden()


def test_without_javascript_the_drawing_and_the_table_are_there(
    page_without_javascript: Page, charted: str
) -> None:
    """No hint at something that would do nothing."""
    page = page_without_javascript
    page.goto(f"{charted}one/")

    expect(page.locator(".chart-drawing")).to_be_visible()
    expect(page.locator(".chart-readout")).to_be_hidden()
    page.locator(".chart-table summary").click()
    expect(page.locator(".chart-table td").first).to_be_visible()


def test_a_chart_without_values_waits_for_the_reader(open_page: Opener) -> None:
    """Nothing measured means nothing drawn, until the reader brings a machine."""
    page = open_page("nothing/")
    expect(page.locator("figcaption")).to_be_visible()
    expect(page.locator(".chart-frame")).to_be_hidden()

    other = open_page("nothing/", script=keep("machine"))

    expect(other.locator(".chart-frame")).to_be_visible()
    assert "The whole epoch, your machine: 5.00 s" in labels(other)


def test_the_reader_s_machine_joins_the_others(open_page: Opener) -> None:
    """A mark and a column more, as the file has them; all is as before when it is removed."""
    drawing = "document.querySelector('.chart-drawing').innerHTML"
    before = open_page().evaluate(drawing)
    page = open_page(script=keep("machine"))
    own = page.locator(".chart-table .own")
    page.locator(".chart-table summary").click()
    expect(own).to_have_text(["Your machine", "–", "–", "5.00 s", *["–"] * 5])
    expect(page.locator(".chart-drawing .point.own")).to_have_count(1)
    assert "CPU, your machine: 5.00 s" in labels(page)

    page.locator(".chart-drawing .point.own").hover()

    expect(readout(page)).to_contain_text("Measured: Your machine (A laptop)")
    page.evaluate(forget("machine"))
    expect(own).to_have_count(0)
    assert before == page.evaluate(drawing)


def test_the_reader_s_race_joins_as_an_epoch(open_page: Opener) -> None:
    """Its rate becomes the time of an epoch's steps, in drawing, readout and table."""
    figure = {"value": 20_000, "spread": 0, "noisy": False, "text": "20,000 samples/s"}
    raced = {**MACHINE["mine"], "figures": {"race.width_256.batch_64.browser_cpu": figure}}
    kept = json.dumps(json.dumps({"race": {**raced, "label": "Your browser"}}))
    page = open_page(script=f"localStorage.setItem('gpu-training.machine.v1', {kept});")

    expect(page.locator(".chart-drawing .point.own")).to_have_count(1)
    assert [label for label in labels(page) if "your machine: 3" in label]
    assert [label for label in labels(page) if label.startswith("60,000 images, raced in your")]
    page.locator(".chart-drawing .point.own").hover()
    expect(readout(page)).to_contain_text("Measured: Your browser")
    expect(page.locator("td.own", has_text="3.0")).to_have_count(1)


def test_a_prediction_is_marked_in_drawing_table_and_words(open_page: Opener) -> None:
    """A pennant at the chosen row of each pair, and nothing of it once it is taken back."""
    drawing = "document.querySelector('.chart-drawing').innerHTML"
    before = open_page("guessed/").evaluate(drawing)
    page = open_page("guessed/", script=keep("checks"))
    pennants = page.locator(".chart-drawing .guess")
    expect(pennants).to_have_text(["your guess"] * 4)
    page.locator(".chart-table summary").click()
    expect(page.locator("td:has(.own)")).to_have_text(
        [f"{device}, your guess" for device in ("CPU", "GPU", "GPU", "CPU")]
    )
    told = page.get_by_role("status").filter(has_text="your guess")
    expect(told).to_contain_text("CPU, GPU, GPU, CPU")

    frame(page).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")

    expect(frame(page)).to_have_attribute("aria-valuetext", re.compile("CPU, your guess: "))
    page.evaluate(
        "localStorage.removeItem('gpu-training.checks.v1');"
        "document.dispatchEvent(new Event('record-changed'))"
    )
    expect(pennants).to_have_count(0)
    expect(page.locator(".chart-table .own")).to_have_count(0)
    expect(told).to_have_count(0)
    assert before == page.evaluate(drawing)


def test_tiles_and_curves_take_the_reader_s_values_too(open_page: Opener) -> None:
    """A line more in a tile, and a curve with diamonds."""
    page = open_page("all/", script=keep("machine"))

    sweep = page.locator("figure.chart-sweep .chart-drawing")
    expect(sweep.locator("text", has_text="yours: 2 x")).to_have_count(1)
    matmul = page.locator("figure.chart-matmul .chart-drawing")
    expect(matmul.locator("text", has_text="CPU, float32, your machine")).to_have_count(1)


def test_a_chart_without_a_figure_of_the_readers_stays_as_it_is(open_page: Opener) -> None:
    """A file that measured other things changes neither the drawing nor the table."""
    page = open_page(script=keep("machine"))
    expect(page.locator(".chart-table .own").first).to_be_attached()
    figure = {"value": 1.0, "spread": 0, "noisy": False, "text": "1 s"}
    raced = {"race.width_256.batch_64.browser": figure}
    other = json.dumps({"mine": {**MACHINE["mine"], "figures": raced}})

    page.evaluate(
        "record => { localStorage.setItem('gpu-training.machine.v1', record);"
        " dispatchEvent(new Event('own-machine-changed')); }",
        other,
    )

    expect(page.locator(".chart-table .own")).to_have_count(0)
    expect(page.locator(".chart-drawing .own")).to_have_count(0)


def test_forecasts_are_those_of_the_chosen_card(open_page: Opener) -> None:
    """In drawing, table and readout; bfloat16 is there on a card that has it; and back again."""
    page = open_page("forecast/")
    ladder = page.locator("figure.chart-ladder")
    cell = ladder.locator("td[data-kind='forecast']")
    texts = ladder.locator(".chart-drawing text")
    first = ["forecast 3 s, 1.5 to 6 s"] * 2
    expect(cell).to_have_text([*first, "–"])

    page.evaluate(keep("card") + "dispatchEvent(new Event('card-changed'))")

    expect(cell).to_have_text([f"{H100}: forecast 0.75 s, 0.375 to 1.5 s"] * 3)
    expect(texts.filter(has_text="forecast 0.75 s")).to_have_count(3)
    expect(texts.filter(has_text=f"One epoch, {H100}")).to_have_count(1)
    expect(ladder.locator(".chart-readout")).to_contain_text(f"Forecasts for {H100}")
    said = ladder.locator("figcaption")
    expect(said).to_contain_text(f"Forecast for the {H100}: 0.75 s an epoch")
    expect(ladder.locator("desc")).to_contain_text(f"Forecast for the {H100}")
    heads = page.locator("figure.chart-sweep th")
    expect(heads.nth(3)).to_have_text(H100)
    page.evaluate(keep("card without") + "dispatchEvent(new Event('card-changed'))")
    expect(cell).to_have_text([f"{V100}: {words}" for words in first] + ["–"])
    page.evaluate(forget("card"))
    expect(cell).to_have_text([*first, "–"])
    expect(texts.filter(has_text="One epoch, T4")).to_have_count(1)
    expect(said).to_contain_text("Forecast for the T4: 3 s an epoch")
    expect(heads.nth(3)).to_have_text("T4")


def test_a_reader_s_gpu_joins_where_a_forecast_stood(open_page: Opener) -> None:
    """What their file measured is beside the forecast of it, in drawing and table."""
    figure = {"value": 0.9, "spread": 0, "noisy": False, "text": "900 ms"}
    machine = {"mine": {**MACHINE["mine"], "figures": {"ladder.cuda_resident": figure}}}
    kept = json.dumps(json.dumps(machine))
    page = open_page("forecast/", script=f"localStorage.setItem('gpu-training.machine.v1', {kept})")

    ladder = page.locator("figure.chart-ladder")
    own = ladder.locator("text", has_text="Images prepared beforehand, your machine: 900 ms")
    expect(own).to_have_count(1)
    expect(ladder.locator("td.own", has_text="900 ms")).to_have_count(1)


def test_the_site_s_own_charts_answer(browser: Browser, site: str, built_site: Path) -> None:
    """On every page of the real site a chart says what its first mark is, with nothing stopped."""
    pages = [
        path.parent.relative_to(built_site).as_posix() + "/"
        for path in sorted(built_site.rglob("index.html"))
        if '<div class="chart-frame">' in path.read_text(encoding="utf-8")
    ]
    page = new_context(browser, LOOKS[0]).new_page()

    for address in pages:
        page.goto(site + address)
        for chart in page.locator("interactive-chart:has(.chart-frame:not([hidden]))").all():
            chart.evaluate(UNCOVER)
            chart.scroll_into_view_if_needed()
            control = chart.get_by_role("slider")
            control.focus()
            page.keyboard.press("ArrowRight")
            expect(control).to_have_attribute("aria-valuenow", "1")
        assert [] == page.evaluate("window.__violations")
    page.context.close()
    assert pages
