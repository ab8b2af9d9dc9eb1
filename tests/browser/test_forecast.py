"""The page that forecasts: choosing, a file of one's own, the card that is kept, and no script."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_code.forecast.cards import read_cards
from lesson_code.forecast.formula import Host
from lesson_site.forecast.instrument import FIRST_CHOICE, SIX_CARDS
from lesson_site.forecast.told import Choice, crossing, tell
from results.reader_card import on_card
from results.store import open_store
from tests.browser.conftest import LOOKS, Visits, new_context
from tests.browser.states import expect_accessible

PAGE = "benchmarks/forecast/"
LESSON = "gpu-training/when-a-gpu-helps/"
RECORD = "gpu-training/summary/"
KEY = "gpu-training.card.v1"
MOST_KB, MOST_REQUESTS = 96, 12
STEP = {
    **{"batch": 32, "format": "float32", "channels_last": False, "flop": {"float32": 10**11}},
    **{"bytes": 10**9, "convolution_bytes": 10**8, "launches": 300, "operations": 280},
    **{"weight_bytes": 10**7, "peak_bytes": 2 * 10**10},
}
OWN = {
    **{"format": "gpu-training.forecast", "version": 1, "model": "mine:net", "torch": "2.15.0"},
    "steps": [STEP, STEP | {"batch": 64, "format": "bfloat16", "flop": {"bfloat16": 10**11}}],
    "measured": {"machine": "My laptop", "batch": 32, "format": "float32", "seconds": 2.5},
}
BAD = {
    "empty.json": (b"", "The file is empty"),
    "table.json": (b"card  a step  band", "is not JSON"),
    "cut.json": (json.dumps(OWN).encode()[:90], "is damaged or cut off"),
    "result.json": (b'{"version": 2, "cases": {}}', "is not a forecast"),
    "later.json": (json.dumps(OWN | {"version": 2}).encode(), "has version 2"),
    "batch.json": (json.dumps(OWN | {"steps": [STEP | {"batch": 0}]}).encode(), "batch is 0"),
    "photograph.json": (b"\x89PNG\r\n\x1a\n\x00\x00", "is not JSON"),
}


@pytest.fixture
def forecast(page: Page, site: str) -> Page:
    """The page, as it is before anybody chooses."""
    page.goto(site + PAGE)
    page.locator("forecast-gpu fieldset").wait_for()
    return page


def choose(page: Page, **choices: str) -> None:
    """Choose from the lists, one after the other."""
    for name, value in choices.items():
        page.locator(f"forecast-gpu select[name={name}]").select_option(value)


def says(page: Page) -> Locator:
    """The sentences."""
    return page.locator(".forecast-says p")


def rows(page: Page) -> list[list[str]]:
    """The table of all cards, as text."""
    found = page.locator("forecast-gpu tbody tr").all()
    return [row.locator("th, td").all_text_contents() for row in found]


def expect_told(page: Page, choice: Choice) -> None:
    """The page says of a choice what Python says, and draws and lists it."""
    told = tell(choice)
    assert told.drawing
    expect(says(page)).to_have_text(list(told.sentences))
    assert [list(row) for row in told.cards] == rows(page)
    drawn = page.locator("forecast-gpu .chart-drawing text").all_text_contents()
    labels = [row.label for group in told.drawing.groups for row in group.rows]
    assert labels == [label for label in labels if any(text.startswith(label) for text in drawn)]


def give(page: Page, content: bytes, name: str) -> None:
    """Choose a file."""
    file = {"name": name, "mimeType": "application/json", "buffer": content}
    page.locator("forecast-gpu input[type=file]").set_input_files([file])


def test_nothing_is_loaded_before_somebody_chooses(visits: Visits) -> None:
    """A first visit stays within the budget of a page with an instrument."""
    cold = visits(PAGE)

    assert MOST_KB >= cold.gz_bytes / 1000, cold.requests
    assert MOST_REQUESTS >= len(cold.requests), cold.requests
    assert not [each for each in cold.requests if "forecast-gpu" in each]


def test_choices_change_what_is_said_drawn_and_listed(forecast: Page) -> None:
    """For each choice the page says what Python says."""
    expect_told(forecast, FIRST_CHOICE)

    choose(forecast, card="h100", model="mnist")

    expect_told(forecast, Choice("h100", "mnist", 64, "float32"))
    choose(forecast, batch="4096", host="10")
    host = Host(10e-6, 10e-6, 10e-6)
    expect_told(forecast, Choice("h100", "mnist", 4096, "float32", host=host))
    expect_accessible(forecast, "forecast-gpu", "chosen")


def test_without_its_data_the_page_says_so_and_tries_again(browser: Browser, site: str) -> None:
    """What is written stays for the first choice; the next one follows once the data comes."""
    page = new_context(browser, LOOKS[0]).new_page()
    page.route("**/assets/data/*.json", lambda route: route.abort())
    page.goto(site + PAGE)
    message = page.locator("forecast-gpu [role=status].drop-message")

    choose(page, model="mnist")

    expect(message).to_contain_text("did not load")
    expect_accessible(page, "forecast-gpu", "not loaded")
    page.unroute("**/assets/data/*.json")
    choose(page, host="10")
    expect_told(page, Choice("t4", "mnist", 64, "float32", host=Host(10e-6, 10e-6, 10e-6)))
    expect(message).to_have_text("")
    page.context.close()


def test_the_layout_is_asked_for_where_there_are_convolutions(forecast: Page) -> None:
    """A model without any leaves nothing to choose."""
    layout = forecast.locator("select[name=layout]")
    choose(forecast, format="float16", layout="1")
    expect_told(forecast, Choice("t4", "resnet50", 64, "float16", channels_last=True))

    choose(forecast, model="gpt2", format="float32")

    expect(layout).to_be_disabled()


def test_a_format_that_the_card_lacks_is_said(forecast: Page) -> None:
    """No bar is drawn for it, and the other cards keep their rows."""
    choose(forecast, format="bfloat16")

    expect(says(forecast)).to_have_text([re.compile("^The T4 has no units")])
    assert not forecast.locator("forecast-gpu .chart-drawing > *").count()
    assert len(read_cards()) == len(rows(forecast))
    expect_accessible(forecast, "forecast-gpu", "a format that the card lacks")


def test_the_keyboard_reaches_every_choice(forecast: Page) -> None:
    """Tab goes from list to list, and arrows choose."""
    forecast.locator("select[name=card]").focus()
    names = []
    for _ in range(6):
        names.append(forecast.evaluate("document.activeElement.name"))
        forecast.keyboard.press("Tab")
    assert ["card", "model", "batch", "format", "layout", "host"] == names
    assert "file" == forecast.evaluate("document.activeElement.type")

    forecast.locator("select[name=batch]").focus()
    forecast.keyboard.press("ArrowDown")

    expect_told(forecast, Choice("t4", "resnet50", 128, "float32"))


def test_a_file_of_ones_own_becomes_a_model(forecast: Page) -> None:
    """With its batches, and with what its own CPU measured beside the bars."""
    give(forecast, json.dumps(OWN).encode(), "mine.json")

    expect(forecast.locator(".drop-message")).to_contain_text("mine.json is taken in: mine:net, 2")
    expect(says(forecast).first).to_contain_text("samples a second")
    expect(says(forecast).last).to_contain_text("20.0")
    expect(says(forecast).last).to_contain_text("does not fit")
    expect(forecast.locator(".chart-drawing")).to_contain_text("My laptop")
    assert ["32", "64"] == forecast.locator("select[name=batch] option").all_inner_texts()
    expect_accessible(forecast, "forecast-gpu", "own file", "article")
    assert [] == forecast.evaluate("window.__violations")
    choose(forecast, batch="64")
    expect(says(forecast)).to_have_text([re.compile("^Nobody counted this")])
    expect_accessible(forecast, "forecast-gpu", "not counted")


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_a_sentence(forecast: Page, name: str) -> None:
    """It says what is wrong and what to do, and nothing changes."""
    content, sentence = BAD[name]

    give(forecast, content, name)

    message = forecast.locator(".drop-message")
    expect(message).to_have_text(
        re.compile(rf"^{name}: .*{sentence}.*; .+\. Nothing was changed\.$")
    )
    expect_told(forecast, FIRST_CHOICE)
    if name == "cut.json":
        expect_accessible(forecast, "forecast-gpu", "a file refused")


def test_the_chosen_card_is_kept_and_travels_with_the_record(
    forecast: Page, site: str, tmp_path: Path
) -> None:
    """It is there on the next visit, in an exported file, and gone once everything is forgotten."""
    choose(forecast, card="rtx-4090")
    expect(says(forecast).first).to_contain_text("RTX 4090")
    forecast.goto(site + PAGE)
    expect(says(forecast).first).to_contain_text("RTX 4090")
    expect(forecast.locator("select[name=card]")).to_have_value("rtx-4090")

    forecast.goto(site + RECORD)
    expect(forecast.locator(".learner-record-count")).to_contain_text("the GPU that you chose")
    with forecast.expect_download() as download:
        forecast.get_by_role("button", name="Export").click()
    kept = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["kept"]

    assert "rtx-4090" == kept[KEY]["mine"]["card"]


def test_sentences_and_charts_of_other_pages_follow_the_card(
    page: Page, site_without_a_gpu: str
) -> None:
    """Numbers, bands, sources and the card's name; chosen there or here, and read out."""
    name = "forecast.sweep_4096_1024.float32.card.time"
    store = open_store()
    page.goto(site_without_a_gpu + LESSON)
    number = page.locator(f'[data-figure="{name}"]')
    first, other = store.figure(name), store.figure(on_card(name, "h100"))
    expect(number).to_have_text(f"{first.text} (forecast, {first.band})")

    page.locator("reader-card select").select_option("h100")

    expect(number).to_have_text(f"{other.text} (forecast, {other.band})")
    expect(number.locator("a")).to_have_attribute("title", re.compile(r"H100 \(SXM\): forecast"))
    expect(page.locator('[data-figure="forecast.card"]').first).to_have_text("H100 (SXM)")
    expect(page.locator(f'[id="from-{name}"]')).to_contain_text(other.text)
    said = page.locator("reader-card [role=status]")
    expect(said).to_have_text("Forecasts are now for the H100 (SXM).")
    expect_accessible(page, "reader-card", "chosen")
    page.locator(".chart-sweep").scroll_into_view_if_needed()
    expect(page.locator(".chart-sweep svg.chart-drawing")).to_contain_text("H100 (SXM)")
    page.goto(site_without_a_gpu + PAGE)
    expect(says(page).first).to_contain_text("H100 (SXM)")


@pytest.mark.parametrize("address", ["benchmarks/race/", "benchmarks/compare/"])
def test_a_page_whose_charts_alone_forecast_follows_the_card(
    page: Page, site_without_a_gpu: str, address: str
) -> None:
    """The list is there too; drawing and caption follow it, and the next page does."""
    page.goto(site_without_a_gpu + address)

    page.locator("reader-card select").select_option("h100")

    chart = page.locator("figure.chart-race")
    chart.scroll_into_view_if_needed()
    expect(chart.locator("svg.chart-drawing")).to_contain_text("H100 (SXM)")
    expect(chart.locator("figcaption")).to_contain_text("H100 (SXM)")
    page.goto(site_without_a_gpu + LESSON)
    expect(page.locator("figure.chart-sweep figcaption")).to_contain_text("H100 (SXM)")


def test_a_page_that_shows_forecasts_loads_nothing_for_the_card(visits: Visits) -> None:
    """Its list is there without a script, which comes with the first choice."""
    assert not [each for each in visits(LESSON).requests if "reader-card" in each]


def test_the_crossing_follows_card_and_host(forecast: Page) -> None:
    """Who wins against our CPU, by width and batch, as Python says it."""
    cells = forecast.locator(".forecast-crossing td")
    cards = read_cards()
    expect(cells).to_have_text([text for _, row in crossing(cards["t4"]) for _, text in row])

    choose(forecast, card="b200", host="10")

    told = crossing(cards["b200"], Host(10e-6, 10e-6, 10e-6))
    expect(cells).to_have_text([text for _, row in told for _, text in row])
    expect(forecast.locator(".forecast-crossing caption")).to_contain_text(cards["b200"].name)


def test_a_race_of_ones_own_is_a_measured_bar(forecast: Page, site: str) -> None:
    """What the reader's browser raced is beside the forecast of the same step."""
    figure = {"value": 6400.0, "spread": 1.0, "noisy": False, "text": "6,400 per second"}
    machine = {
        **{"at": "2026-11-23T10:00:00.000Z", "label": "Your browser", "file": "race.json"},
        **{"provenance": {}, "figures": {"race.width_256.batch_64.browser_gpu": figure}},
    }
    kept = json.dumps({"mine": machine})
    forecast.evaluate("kept => localStorage.setItem('gpu-training.machine.v1', kept)", kept)
    forecast.goto(site + PAGE)

    choose(forecast, model="mnist")

    said = "your browser’s GPU, with the batch’s trip: 10.0"
    expect(forecast.locator(".chart-drawing")).to_contain_text(said)
    expect_accessible(forecast, "forecast-gpu", "raced")


def test_without_javascript_there_are_six_cards(page_without_javascript: Page, site: str) -> None:
    """The choices are hidden, and two tables hold the numbers."""
    page_without_javascript.goto(site + PAGE)

    expect(page_without_javascript.locator("forecast-gpu fieldset")).to_be_hidden()
    table = page_without_javascript.get_by_role("table", name="A training step in float32")
    names = [read_cards()[card].name for card in SIX_CARDS]
    assert names == table.locator("tbody th").all_inner_texts()
    expect(page_without_javascript.locator(".forecast-says p")).to_have_text(
        list(tell(FIRST_CHOICE).sentences)
    )
