"""The race in the page: every state, with an engine that is played; and once with the real one."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from results import result_file
from tests.browser.conftest import LOOKS, OVERFLOWS, barriers, new_context, settled
from tests.browser.states import expect_accessible

PAGE = "benchmarks/race/"
COMPARE = "benchmarks/compare/"
PATIENCE_MS = 300_000  # the real engine takes seconds on a quiet machine
# An engine that computes nothing. `window.__race` says what it is like, and where it waits for
# `__race.go`; `window.__closed` counts how many were ended.
ENGINE = """
const options = window.__race ?? {};
window.__closed = 0;
const gate = new Promise((resolve) => { options.go = resolve; });
const problem = (kind, text) => Object.assign(new Error(text), { kind });
const NAMES = {
  browser_cpu: `CPU in the browser (WebAssembly, ${options.threads ?? "one"} thread)`,
  browser_gpu: options.software
    ? "software WebGPU adapter (google swiftshader), not a GPU" : "GPU made-up graphics (WebGPU)",
};
const Clock = Date;
let playedMs = 0; // what is played takes no time, so the clock moves on by itself
globalThis.Date = class extends Clock {
  constructor(...given) { super(...(given.length ? given : [Clock.now() + playedMs])); }
};
export class EngineError extends Error {}
export class Engine {
  constructor(racer) { this.racer = racer; }
  async load({ onProgress }) {
    onProgress(1, 2);
    if (options.hold === "load") await gate;
    if (options.failing === "load") throw problem("download", "The engine did not come.");
    const gpu = this.racer === "browser_gpu";
    if (gpu && options.alone) throw problem("no-adapter", "No GPU was found here.");
    return { racer: this.racer, name: NAMES[this.racer], adapter: gpu ? "made-up graphics" : null,
      software: gpu && Boolean(options.software), threads: options.threads ?? 1, build: "jspi",
      engine: "onnxruntime-web 1.30.0" };
  }
  async prepare(task) {
    this.task = task;
    const size = task.batch ?? task.n;
    if (size === options.hold) await gate;
    if (size === options.lost) throw problem("lost", "The GPU was taken away while it ran.");
    const off = size === options.disagree && this.racer === "browser_gpu" ? 0.1 : 0;
    return { check: [2.3, 2.2, 2.1 + off], warmupMs: 150 };
  }
  async block(k, { read }) {
    const { batch = this.task.n } = this.task;
    const gpu = this.racer === "browser_gpu";
    const one = gpu ? 2 + batch * 0.002 + (read ? 1 : 0) : 0.5 + batch * 0.03;
    playedMs += 5 + k * one;
    return { ms: 5 + k * one, value: 1.5 };
  }
  close() { if (!this.closed) { this.closed = true; window.__closed += 1; } }
}
"""
RECORDED = {
    "curves": [
        {
            "racer": "cuda",
            "label": "PyTorch on a made-up GPU (recorded 2026-11-21)",
            "steps": {"256": {"16": 20_000, "64": 80_000, "4096": 4_000_000}},
            "products": {},
        }
    ]
}
# Whether the page is seen is the browser's to say, so the test says it in its place.
HIDE = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def element(page: Page) -> Locator:
    """The race."""
    return page.locator("race-gpu")


def status(page: Page) -> Locator:
    """Where the race says what happens."""
    return element(page).get_by_role("status")


def button(page: Page, name: str | re.Pattern[str]) -> Locator:
    """One of its buttons."""
    return element(page).get_by_role("button", name=name)


def rows(page: Page) -> Locator:
    """The rows of its table of points."""
    return element(page).locator(".race-table tbody tr")


def reached(page: Page, state: str, timeout: float = 60_000) -> None:
    """Wait for a state of the race."""
    expect(element(page)).to_have_attribute("data-state", state, timeout=timeout)


def play(page: Page, site: str, **options: object) -> None:
    """Open the page with a played engine."""
    page.add_init_script(f"window.__race = {json.dumps(options)};")
    page.route(
        "**/elements/race/engine.js",
        lambda route: route.fulfill(body=ENGINE, content_type="text/javascript"),
    )
    page.goto(site + PAGE)
    button(page, re.compile("^Start the race")).wait_for()
    show_recorded(page, {"curves": []})  # as if nobody had measured anything yet


def show_recorded(page: Page, recorded: object) -> None:
    """Let the page have other recorded curves than the result files of today."""
    element(page).evaluate(
        "(race, text) => { race.dataset.recorded = text; }", json.dumps(recorded)
    )


def press(page: Page) -> None:
    """Start a race."""
    button(page, re.compile("^(Start the race|Race again)")).click()


def race(page: Page, site: str, **options: object) -> None:
    """A race from its start to its end."""
    play(page, site, **options)
    press(page)
    reached(page, "finished")


def violations(page: Page) -> list[str]:
    """What the page's policy stopped."""
    found: list[str] = page.evaluate("window.__violations")
    return found


def test_nothing_is_loaded_before_the_press_and_nothing_from_elsewhere(
    page: Page, site: str
) -> None:
    """The engine, its files and what draws come with the press, all from this site."""
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    play(page, site)
    settled(page)
    early = [r.url for r in asked if re.search(r"/race/|onnxruntime", r.url.removeprefix(site))]

    press(page)
    reached(page, "finished")

    assert [site + PAGE] == early
    assert any(request.url.endswith("/race/engine.js") for request in asked)
    assert all(request.url.startswith((site, "blob:", "data:")) for request in asked)
    assert [] == violations(page)


def test_before_the_press_the_page_says_what_will_happen(page: Page, site: str) -> None:
    """A guess, three ways, a button with what it loads, and why one thread is used."""
    play(page, site)

    ways = element(page).get_by_role("radiogroup", name="What races").get_by_role("radio")
    expect(ways).to_have_count(3)
    expect(element(page).get_by_role("radio", checked=True)).to_have_count(1)
    guesses = element(page).get_by_role("group", name=re.compile("^From which batch size"))
    expect(guesses.get_by_role("radio")).to_have_count(6)
    expect(element(page)).to_contain_text("never on both at once")
    expect(element(page)).to_contain_text("so the CPU races with one thread. make live serves")
    expect(button(page, re.compile(r"^Start the race \(\d+\.\d MB\)$"))).to_be_visible()
    expect_accessible(page, "race-gpu", "idle")


def test_a_race_loads_runs_and_ends(page: Page, site: str) -> None:
    """What is said, shown and marked on the way; axe finds no barrier while it runs or after."""
    play(page, site, hold=256)
    start = button(page, re.compile("^Start"))
    start.focus()
    page.keyboard.press("Enter")

    expect(status(page)).to_have_text(
        "At batch 64: CPU, browser 26,400 per second; GPU, browser 30,100 per second."
    )
    reached(page, "running")
    expect(button(page, "Stop")).to_be_focused()
    expect(element(page).locator(".race-now")).to_have_text(
        "3 of 5: batch 256. CPU in the browser (WebAssembly, one thread): getting ready"
    )
    expect(rows(page)).to_have_count(4)
    expect(element(page).get_by_text("GPU ahead from 64 on")).to_be_visible()
    expect(element(page).locator("interactive-chart .strong.middle")).to_have_text("256")
    expect(element(page).get_by_role("radio", disabled=False)).to_have_count(0)
    expect_accessible(page, "race-gpu", "running")
    page.evaluate("window.__race.go()")
    reached(page, "finished")

    verdict = "From batch 64 on, the GPU is faster than the browser’s CPU. At batch 4,096 the GPU"
    expect(element(page).locator(".race-verdict")).to_contain_text(verdict)
    expect(status(page)).to_contain_text(f"Finished: every size is raced. {verdict}")
    expect(rows(page)).to_have_count(10)
    expect(button(page, "Race again")).to_be_focused()
    names = element(page).locator(".race-legend")
    expect(names).to_contain_text("CPU in the browser (WebAssembly, one thread)")
    expect(names).to_contain_text("GPU made-up graphics (WebGPU)")
    expect(element(page).locator("figcaption")).to_contain_text("WebAssembly, here with 1 thread.")
    expect(element(page).locator("figcaption")).to_contain_text("is not PyTorch’s")
    page.locator("race-gpu summary").click()
    expect_accessible(page, "race-gpu", "finished")
    assert 2 == page.evaluate("window.__closed")
    assert [] == violations(page)


def test_a_race_joins_the_charts_without_a_file(page: Page, site: str) -> None:
    """Its times are drawn where the lesson first asks who is faster, and where scale begins."""
    race(page, site)
    expect(status(page)).to_contain_text("the charts of this site show it beside theirs")

    page.goto(f"{site}gpu-training/a-timing-challenge/")

    hook = page.locator("figure.chart-hook")
    page.locator("details.check-after > summary").click()
    expect(hook.locator("text", has_text="raced in your browser")).to_have_count(1)
    expect(hook.locator("text", has_text="CPU, your machine")).to_have_count(1)
    expect(hook.locator("text", has_text="GPU, your machine")).to_have_count(1)
    page.goto(f"{site}gpu-training/when-a-gpu-helps/#where-the-crossing-lies")
    curves = page.locator("figure.chart-race text", has_text=", your machine")
    curves.first.scroll_into_view_if_needed()
    expect(curves).to_have_count(2)


def test_a_race_stands_in_the_tables_of_browsers_beside_a_file(page: Page, site: str) -> None:
    """A file of the job is for PyTorch's tables, and takes nothing from the race."""
    race(page, site)
    page.evaluate(
        """() => {
          const kept = JSON.parse(localStorage.getItem("gpu-training.machine.v1"));
          const one = { value: 1, spread: 0, noisy: false, text: "one" };
          const figures = { "race.width_256.batch_64.cpu": one };
          const provenance = { processor: "A laptop", cores: 4, threads: 4, torch: "2.15.0" };
          const named = { at: new Date().toISOString(), file: "mine.json", label: "A laptop" };
          kept.mine = { ...named, provenance, figures };
          localStorage.setItem("gpu-training.machine.v1", JSON.stringify(kept));
        }"""
    )

    page.goto(f"{site}benchmarks/results/race/")

    figure = "race.width_256.batch_64"
    own = page.locator(".results-table td.own")
    expect(own.and_(page.locator(f"[data-figure='{figure}.cpu']"))).to_have_text("one")
    raced = own.and_(page.locator(f"[data-figure='{figure}.browser_gpu']"))
    expect(raced).to_have_text(re.compile(r"^[\d,]+$"))  # the caption has the unit


def test_a_race_stands_only_in_the_tables_that_it_has_figures_for(page: Page, site: str) -> None:
    """The reader has saved no file, so none is missed; a size may be without a result."""
    race(page, site, disagree=64)

    page.goto(f"{site}benchmarks/results/race/")

    own = page.locator(".results-table .own").filter(has=page.locator("td"))
    expect(own).to_have_count(2)
    expect(own).to_contain_text([re.compile(r"\d,\d"), re.compile(r"\d,\d")])
    empty = page.locator(".results-table .own .not-measured")
    expect(empty).to_have_text(["no result", "no result"])
    expect(page.locator(".results-table thead .own")).to_have_count(0)
    assert [] == barriers(page, "article")


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ("16", "It takes more"),
        ("64", "and so it is"),
        ("1,024", "It takes less: batch 64"),
        ("never", "It takes less: batch 64"),
    ],
)
def test_a_guess_is_drawn_and_answered(page: Page, site: str, guess: str, said: str) -> None:
    """It is made before there are points, kept, marked in the chart, and has its own reply."""
    play(page, site)
    choice = element(page).get_by_role("radio", name=guess, exact=True)
    choice.check()
    press(page)
    reached(page, "finished")

    expect(element(page).locator(".race-guess")).to_contain_text(said)
    expect(choice).to_be_disabled()
    mark = element(page).locator("interactive-chart text", has_text="your guess")
    expect(mark).to_have_count(0 if guess == "never" else 1)
    assert [] == barriers(page, "race-gpu")
    page.reload()
    expect(choice).to_be_checked()
    expect(element(page).locator(".race-guess")).to_contain_text(said)


def test_who_races_without_a_guess_is_told_how_to_guess_afresh(page: Page, site: str) -> None:
    """After the race and on the next visit, beside the choices that can't be chosen now."""
    race(page, site)
    guesses = element(page).get_by_role("group", name=re.compile("^From which batch size"))
    told = guesses.get_by_text("You raced without a guess")

    expect(told).to_be_visible()
    page.reload()
    expect(told).to_be_visible()
    assert [] == barriers(page, "race-gpu")
    button(page, "Forget these points").click()

    expect(told).to_be_hidden()
    choice = guesses.get_by_role("radio", name="256")
    choice.check()
    press(page)
    reached(page, "finished")
    expect(told).to_be_hidden()
    expect(choice).to_be_disabled()


def test_points_outlast_a_reload_until_they_are_forgotten(page: Page, site: str) -> None:
    """They come back with their day and browser, without a press, and can be raced on."""
    race(page, site)
    raced = rows(page).filter(has_text=", browser")
    texts = raced.all_text_contents()
    verdict = element(page).locator(".race-verdict").inner_text()

    page.reload()

    reached(page, "kept")
    expect(status(page)).to_contain_text(re.compile(r"Raced on \d+ \w+ 20\d\d in .+\."))
    expect(element(page).locator(".race-verdict")).to_have_text(verdict)
    assert 10 == len(texts)
    assert texts == raced.all_text_contents()
    expect_accessible(page, "race-gpu", "kept")
    button(page, "Race again").click()
    reached(page, "finished")
    button(page, "Forget these points").click()
    page.reload()
    reached(page, "idle")
    expect(element(page).locator("figure")).to_have_count(0)


def test_points_of_another_browser_are_shown_and_not_mixed(page: Page, site: str) -> None:
    """A newer version of the browser is another one: what it measures stands alone."""
    race(page, site)
    page.evaluate(
        """() => {
          const kept = JSON.parse(localStorage.getItem("gpu-training.machine.v1"));
          kept.race.provenance.system = "Netscape 4, Linux";
          kept.race.points.push({ ...kept.race.points[0], task: { kind: "product", n: 128 } });
          localStorage.setItem("gpu-training.machine.v1", JSON.stringify(kept));
        }"""
    )
    page.reload()
    reached(page, "kept")
    expect(status(page)).to_contain_text("in Netscape 4, Linux")
    expect(element(page).get_by_label("Shown").get_by_role("option")).to_have_count(2)

    button(page, "Race again").click()

    reached(page, "finished")
    expect(element(page).get_by_label("Shown")).to_have_count(0)


def test_beside_a_cpu_alone_a_card_is_forecast(page: Page, site: str) -> None:
    """The reader's, hatched and called a forecast, in chart, table and verdict; or none."""
    play(page, site, alone=True)
    [curve] = RECORDED["curves"]
    show_recorded(page, {"curves": [{**curve, "card": "H100 (SXM)"}]})
    press(page)
    reached(page, "finished")
    cards = element(page).get_by_label("Beside it, by forecast")
    expect(cards.get_by_role("option", selected=True)).to_have_text("T4")
    expect(element(page).locator("figcaption")).to_contain_text("the card hardly matters")

    cards.focus()
    cards.select_option(label="H100 (SXM)")

    expect(cards).to_be_focused()
    legend = element(page).locator(".race-legend")
    expect(legend).to_contain_text("PyTorch on the H100 (SXM), by forecast")
    expect(element(page).locator("interactive-chart path.hatch")).to_have_count(1)
    verdict = element(page).locator(".race-verdict")
    expect(verdict).to_contain_text("By forecast PyTorch on the H100 (SXM) is")
    expect(element(page).locator("figcaption")).to_contain_text("forecast for PyTorch")
    expect(element(page).locator("figcaption")).to_contain_text(
        "Outside its band is what the H100 (SXM) did at batch 4,096."
    )
    page.locator("race-gpu summary").click()
    expect(rows(page).filter(has_text="H100 (SXM), forecast")).to_have_count(5)
    expect_accessible(page, "race-gpu", "beside a card by forecast")
    cards.select_option(label="no GPU")
    expect(element(page).locator("interactive-chart path.hatch")).to_have_count(0)
    expect(verdict).to_be_empty()


@pytest.mark.parametrize("moment", ["load", "256"])
def test_stop_ends_a_race_at_once(page: Page, site: str, moment: str) -> None:
    """While something loads or is timed; the workers end, and what was measured stays."""
    play(page, site, hold=int(moment) if moment.isdigit() else moment)
    press(page)
    if moment.isdigit():
        expect(rows(page)).to_have_count(4)

    button(page, "Stop").click()

    reached(page, "stopped")
    expect(status(page)).to_have_text("Stopped. What was measured so far stays.")
    expect(rows(page)).to_have_count(4 if moment.isdigit() else 0)
    assert 2 == page.evaluate("window.__closed")
    if moment == "256":
        expect_accessible(page, "race-gpu", "stopped")


def test_a_page_out_of_sight_ends_the_race(page: Page, site: str) -> None:
    """A browser slows such a page down, so its times would not be true."""
    play(page, site, hold=256)
    press(page)
    expect(rows(page)).to_have_count(4)

    page.evaluate(HIDE)

    reached(page, "stopped")
    expect(status(page)).to_contain_text("Stopped, since this page was out of sight")
    expect(rows(page)).to_have_count(4)


def test_a_failure_is_told_and_points_before_it_stay(page: Page, site: str) -> None:
    """A lost device ends the race in its sentence; what was measured can be saved."""
    play(page, site, lost=1024)
    press(page)

    reached(page, "failed")
    said = "The GPU was taken away while it ran. What was measured so far stays."
    expect(status(page)).to_have_text(said)
    expect(rows(page)).to_have_count(6)
    expect(button(page, "Save the result file")).to_be_visible()
    expect_accessible(page, "race-gpu", "failed")


def test_an_engine_that_does_not_load_is_told(page: Page, site: str) -> None:
    """Nothing is drawn, and the button is there for another try."""
    play(page, site, failing="load")
    press(page)

    reached(page, "failed")
    expect(status(page)).to_have_text("The engine did not come.")
    expect(element(page).locator("figure")).to_be_hidden()
    expect(button(page, "Start the race")).to_be_visible()
    expect_accessible(page, "race-gpu", "not loaded")


def test_a_part_of_the_page_that_does_not_come_is_told(page: Page, site: str) -> None:
    """The reader is asked to load the page again."""
    play(page, site)
    page.route("**/race/chart.js", lambda route: route.abort())
    press(page)

    reached(page, "failed")
    expect(status(page)).to_have_text(
        "A part of the race did not come; reload the page and try again."
    )


def test_without_a_gpu_the_cpu_races_alone_beside_what_was_recorded(page: Page, site: str) -> None:
    """Why is said; the recorded line is dotted, named, and never the reader's own."""
    play(page, site, alone=True)
    show_recorded(page, RECORDED)
    press(page)
    reached(page, "finished")

    expect(element(page)).to_contain_text("No GPU was found here.")
    expect(element(page).locator(".race-legend")).to_contain_text(
        "PyTorch on a made-up GPU (recorded 2026-11-21)"
    )
    expect(element(page).locator("path.curve.c1")).to_have_count(1)
    expect(element(page).locator("path.curve.c2[stroke-dasharray='2 4']")).to_have_count(1)
    expect(element(page).locator("figcaption")).to_contain_text("Dotted lines were recorded")
    page.locator("race-gpu summary").click()
    expect(rows(page).nth(0)).to_contain_text("not compared")
    expect_accessible(page, "race-gpu", "without a GPU")


def test_a_software_adapter_is_never_called_a_gpu(page: Page, site: str, tmp_path: Path) -> None:
    """It races only when asked, under its own name, and stays out of the file."""
    race(page, site, software=True)
    alone = element(page).locator(".race-legend").inner_text()
    button(page, "Race the software adapter too").click()
    reached(page, "finished")
    expect(rows(page).filter(has_not_text="forecast")).to_have_count(10)

    legend = element(page).locator(".race-legend")
    expect(legend).to_contain_text("software WebGPU adapter (google swiftshader), not a GPU")
    expect(element(page).locator(".race-verdict")).to_contain_text("By forecast")
    expect(element(page).locator("interactive-chart .lead")).to_have_count(0)
    expect(element(page)).to_contain_text("says nothing about any GPU")
    assert "software" not in alone
    expect_accessible(page, "race-gpu", "with a software adapter")
    saved = save(page, tmp_path)
    assert saved["provenance"]["gpu"] is None
    assert "swiftshader" not in json.dumps(saved)
    assert 5 == len(saved["figures"])
    expect(status(page)).to_contain_text("without the software adapter")


def test_a_point_of_the_race_can_be_pointed_at(page: Page, site: str) -> None:
    """By keyboard too: whose it is, at which size, how fast, and how it was found."""
    race(page, site)
    chart = element(page).get_by_role("slider")
    chart.focus()
    page.keyboard.press("End")

    readout = element(page).locator(".chart-readout")
    expect(readout).to_contain_text(
        "CPU in the browser (WebAssembly, one thread), Batch size: 4,096"
    )
    expect(readout).to_contain_text("Measured: in this browser")


def test_where_the_racers_disagree_nothing_is_drawn(page: Page, site: str) -> None:
    """The table says why."""
    race(page, site, disagree=64)

    page.locator("race-gpu summary").click()
    expect(rows(page)).to_have_count(10)
    expect(rows(page).nth(2)).to_contain_text("did not come to the same result")
    expect(element(page).locator("interactive-chart .point.c2")).to_have_count(4)


def save(page: Page, folder: Path) -> dict[str, Any]:
    """The file that the race saves, checked by the job's own reader."""
    with page.expect_download() as download:
        button(page, "Save the result file").click()
    assert re.fullmatch(r"race-20\d\d-\d\d-\d\d\.json", download.value.suggested_filename)
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    found: dict[str, Any] = result_file.read(path)
    return found


def test_the_result_file_is_taken_where_machines_are_compared(
    page: Page, site: str, tmp_path: Path
) -> None:
    """Saved here, read by Python, brought there: the same texts are in the table."""
    race(page, site, threads=4)
    made = save(page, tmp_path)
    expect(status(page)).to_contain_text("Saved as race-")
    assert result_file.with_figures(made)["figures"].keys() == made["figures"].keys()
    assert ("made-up graphics", 4) == (made["provenance"]["gpu"], made["provenance"]["threads"])
    [file] = tmp_path.glob("*.json")

    status(page).get_by_role("link", name="Put it beside other machines").click()
    page.wait_for_url(site + COMPARE)
    page.locator("compare-machine input[type=file]").set_input_files(file)

    expect(page.locator("compare-machine [role=status]")).to_have_text(
        f"{file.name} is taken in: 10 figures."
    )
    expect(page.locator("compare-machine")).to_contain_text("onnxruntime-web 1.30.0 in ")
    text = made["figures"]["race.width_256.batch_64.browser_gpu"]["text"]
    expect(page.locator(".results-main .own", has_text=text)).not_to_have_count(0)
    assert [] == violations(page)


def test_points_of_several_races_add_up_until_they_are_forgotten(page: Page, site: str) -> None:
    """Models can be looked at one by one, and products beside them."""
    play(page, site)
    element(page).get_by_role("radio", name="Four models").check()
    press(page)
    reached(page, "finished")
    element(page).get_by_role("radio", name="Matrix products").focus()
    page.keyboard.press("Space")
    press(page)
    reached(page, "finished")

    shown = element(page).get_by_label("Shown")
    expect(shown.get_by_role("option")).to_have_count(5)
    expect(element(page).locator(".race-leads tbody tr")).to_have_count(5)
    shown.select_option(label="A model of 784, 2,048, 1,024 and 10 units")
    expect(shown).to_be_focused()
    expect(element(page).locator(".race-table caption")).to_have_text(
        "A model of 784, 2,048, 1,024 and 10 units"
    )
    read = element(page).get_by_label("Also show it with the loss read at every step")
    curves = element(page).locator("path.curve")
    expect(curves).to_have_count(2)
    read.check()
    expect(curves).to_have_count(4)
    expect(read).to_be_focused()
    expect_accessible(page, "race-gpu", "several models, the loss read")
    button(page, "Forget these points").click()

    reached(page, "idle")
    expect(status(page)).to_have_text("Forgotten.")
    assert "{}" == page.evaluate("localStorage.getItem('gpu-training.machine.v1')")
    expect(element(page).locator("figure")).to_be_hidden()
    expect(button(page, "Start the race")).to_be_focused()
    expect(button(page, "Save the result file")).to_be_hidden()


def test_leaving_the_page_ends_the_workers(page: Page, site: str) -> None:
    """Instant navigation keeps the document, so nothing else would."""
    play(page, site, hold=64)
    page.evaluate("window.__same_document = true")
    press(page)
    expect(rows(page)).to_have_count(2)

    page.locator('.md-nav a[href$="how-we-measure/"]').locator("visible=true").first.click()
    page.wait_for_url("**/how-we-measure/")

    page.wait_for_function("() => window.__closed === 2")
    assert page.evaluate("window.__same_document")


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_narrow_screen_nothing_is_cut_off(page: Page, site: str, width: int) -> None:
    """With the longest way raced and everything open, and every word of the chart within it."""
    page.set_viewport_size({"width": width, "height": 900})
    play(page, site)
    element(page).get_by_role("radio", name="Four models").check()
    press(page)
    reached(page, "finished")
    page.locator("race-gpu summary").click()
    chart = element(page).locator("interactive-chart .chart-drawing").bounding_box()
    words = element(page).get_by_text(re.compile(r"GPU ahead from [\d,]+ on")).bounding_box()

    assert chart
    assert words
    assert words["x"] + words["width"] <= chart["x"] + chart["width"]
    assert [] == page.evaluate(OVERFLOWS)
    assert width >= page.evaluate("document.documentElement.scrollWidth")


def test_paper_and_forced_colours_keep_the_chart(page: Page, site: str) -> None:
    """What can be pressed is not printed; lines differ where colours are the reader's."""
    race(page, site)
    curves = element(page).locator("path.curve")
    expect(curves).to_have_count(2)
    dashes = curves.evaluate_all("all => all.map((each) => each.getAttribute('stroke-dasharray'))")
    page.emulate_media(media="print")
    expect(button(page, "Race again")).to_be_hidden()
    expect(element(page).locator("interactive-chart .chart-drawing")).to_be_visible()
    expect(element(page).locator("figcaption")).to_be_visible()

    page.emulate_media(media="screen", forced_colors="active")

    assert 2 == len(set(dashes))
    assert [] == barriers(page, "race-gpu")


@pytest.fixture(scope="module")
def raced(browser: Browser, site: str) -> Iterator[Page]:
    """A window in which the real engine raced at the two smallest batches."""
    context = new_context(browser, LOOKS[0])
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(site + PAGE)
    element(page).evaluate("(race) => { race.dataset.mostBatch = '64'; }")
    press(page)
    expect(element(page)).to_have_attribute(
        "data-state", re.compile("finished|failed"), timeout=PATIENCE_MS
    )
    assert [] == problems
    yield page
    context.close()


def test_the_real_engine_trains_in_the_page(raced: Page) -> None:
    """Every size has a point or a reason; noise may be one on a busy machine, failure is none."""
    expect(element(raced)).to_have_attribute("data-state", "finished")
    expect(rows(raced).filter(has_text="CPU, browser")).to_have_count(2)
    raced.locator("race-gpu summary").click()
    said = rows(raced).filter(has_text="CPU, browser").all_inner_texts()

    assert all("per second" in row or "too noisy" in row for row in said), said
    expect(element(raced)).to_contain_text("CPU in the browser (WebAssembly, 1 thread)")
    assert [] == violations(raced)
    assert [] == barriers(raced, "race-gpu")
