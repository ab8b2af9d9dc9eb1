"""Act 1's instrument: the ledger's bar, its words, the reveal over it, and the trade-off."""

import math
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_code.mission.choices import Component, Optimizer, Recompute, Regime
from lesson_code.mission.constants import LEDGER_BATCHES, PREDICTED_EXTRA_GB
from lesson_code.mission.memory import (
    ledger,
    ledger_total_bytes,
    static_bytes,
    step_peak_bytes,
    to_gb,
)
from lesson_site.mission.drawn import terms
from lesson_site.mission.numbers import gb
from lesson_site.mission.rows import PARAMETERS
from tests.browser.missions import FIRST, act_one_open, fresh_state, kept_state, open_mission
from tests.browser.states import expect_accessible

COMPONENTS: tuple[Component, ...] = get_args(Component)
OUT_OF_MEMORY = "Out of memory: "
# The boxes of the words in the chart that overlap; halves of a pixel are rounding.
OVERLAPS = """(chart) => {
  const kinds = [".ledger-label", ".ledger-budget", ".ledger-total", ".ledger-ghost-words"];
  const words = [...chart.querySelectorAll(kinds.join())];
  const boxes = words.map((word) => [word.textContent, word.getBoundingClientRect()]);
  const width = document.documentElement.clientWidth;
  return boxes.flatMap(([text, box], index) => [
    ...(box.right > width || box.left < 0 ? [`${text} leaves the page`] : []),
    ...boxes.slice(index + 1).filter(([, other]) =>
      box.left < other.right - 1 && other.left < box.right - 1 &&
      box.top < other.bottom - 3 && other.top < box.bottom - 3)
      .map(([other]) => `${text} on ${other}`)]);
}"""


# As if the learner had predicted something else.
PREDICT = """async (option) => {
  const { mission } = await import(new URL("../assets/elements/mission/state.js", location.href));
  mission.change((state) => { state.act1.prediction = option; });
}"""


class Ledger:
    """The ledger on a page, worked as a learner works it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.box = page.locator("memory-ledger")
        self.box.scroll_into_view_if_needed()
        self.chart = self.box.get_by_role("img")
        self.banner = self.box.locator(".mission-banner")
        self.reading = self.box.locator(".mission-line")
        expect(self.chart).to_be_visible()

    def choose(self, group: str, label: str) -> None:
        """Choose a radio button of a group by the beginning of its label."""
        radios = self.box.get_by_role("group", name=group, exact=True)
        radios.get_by_label(re.compile(f"^{re.escape(label)}")).check()

    def batch(self, batch: int) -> None:
        """Move the slider to a batch by keyboard."""
        slider = self.box.get_by_role("slider")
        slider.press("Home")
        for _ in range(LEDGER_BATCHES.index(batch)):
            slider.press("ArrowRight")

    def sizes(self) -> list[str]:
        """The numbers of the chart's table, part by part, and then the sums."""
        cells = self.box.locator(".mission-table table").first.locator("td")
        return [str(cell) for cell in cells.all_text_contents()]

    def drawn(self) -> list[str]:
        """The parts that the bar has, from the bottom up."""
        parts = self.chart.locator(".ledger-part:not(.away)")
        classes = [str(each.get_attribute("class")) for each in parts.all()]
        return [name for each in classes for name in each.split() if name in COMPONENTS]


def sizes(regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int) -> list[str]:
    """What the table shows of a configuration: its parts, the total, the peak."""
    parts = ledger(regime, optimizer, recompute, batch).values()
    total = ledger_total_bytes(regime, optimizer, recompute, batch)
    peak = step_peak_bytes(regime, optimizer, recompute, batch)
    return [f"{gb(size)} GB" for size in (*parts, total, peak)]


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """The mission with the first prediction, B, locked in."""
    page = open_mission(browser, site, act_one_open())
    yield page
    page.context.close()


@pytest.fixture
def instrument(page: Page) -> Ledger:
    """The open ledger."""
    return Ledger(page)


def opened(browser: Browser, site: str, option: str, **controls: str) -> Page:
    """The mission after the reveal, with what was predicted, and the ledger's controls."""
    state = act_one_open()
    state["act1"] |= {"prediction": option, "seen": ["sgd", "adam"], "revealed": True}
    state["act1"]["controls"] |= controls
    return open_mission(browser, site, state)


def test_nothing_is_drawn_before_the_prediction(browser: Browser, site: str) -> None:
    """The locked region is inert, and no bar or number is in it."""
    page = open_mission(browser, site, fresh_state())
    page.locator(FIRST).scroll_into_view_if_needed()
    part = page.locator("[data-mission-part]").filter(has=page.locator("memory-ledger"))

    expect(part).to_have_attribute("inert", "")
    expect(page.locator("memory-ledger svg")).to_have_count(0)
    assert " GB" not in (page.locator("memory-ledger").text_content() or "")
    page.context.close()


def test_optimizer_adds_one_state_after_the_other(instrument: Ledger) -> None:
    """None, one, two states, each of them as large as the parameters in FP32."""
    states = []
    for optimizer in ("SGD", "Momentum", "Adam"):
        instrument.choose("Optimizer", optimizer)
        states.append([part for part in instrument.drawn() if part.startswith("state")])

    assert states == [[], ["state1"], ["state1", "state2"]]
    shown = instrument.sizes()
    assert shown[3] == shown[4] == shown[0] == f"{gb(4 * PARAMETERS)} GB"


def test_precision_changes_what_its_regime_changes(instrument: Ledger) -> None:
    """Autocast adds the copies alone, ZeRO a master copy, and FP16 halves."""
    instrument.choose("Optimizer", "Adam")
    assert instrument.sizes()[:9] == sizes("fp32", "adam", "none", 1)
    expect(instrument.box.get_by_label("Bookkeeping")).to_be_hidden()

    instrument.choose("Precision", "Mixed")
    assert instrument.sizes()[:9] == sizes("autocast", "adam", "none", 1)
    assert "copies" in instrument.drawn()
    expect(instrument.page.locator(":focus")).to_have_attribute("value", "mixed")

    instrument.box.get_by_label("Bookkeeping").select_option("zero")
    assert instrument.sizes()[:9] == sizes("zero_mixed", "adam", "none", 1)
    expect(instrument.page.locator(".mission-live")).to_contain_text("ZeRO-style.")

    instrument.choose("Precision", "FP16")
    assert instrument.sizes()[:9] == sizes("pure16", "adam", "none", 1)


def test_each_way_to_recompute_says_what_it_keeps(instrument: Ledger) -> None:
    """Act 2 calls full recomputation checkpointing, so that the ledger names it too."""
    group = instrument.box.get_by_role("group", name="Activations", exact=True)
    expect(group).to_contain_text("Everything that the backward pass needs is stored")

    instrument.choose("Activations", "Selective")
    expect(group).to_contain_text("No attention scores are stored")
    instrument.choose("Activations", "Full recomputation")
    expect(group).to_contain_text("Gradient checkpointing: only each layer’s input is stored")


def test_batch_moves_the_activations_alone_and_steps_the_axis(instrument: Ledger) -> None:
    """Every other part stays; the axis steps up, written and said."""
    instrument.choose("Optimizer", "Adam")
    before = instrument.sizes()
    axis = instrument.box.locator("figure .mission-note")
    expect(axis).to_be_empty()

    instrument.batch(8)
    expect(axis).to_have_text("The axis now ends at 200 GB.")
    live = instrument.page.locator(".mission-live")
    total = gb(ledger_total_bytes("fp32", "adam", "none", 8))
    expect(live).to_have_text(
        f"{total} of 80.0 gigabytes, over budget. Largest part: activations. "
        "The axis now ends at 200 GB."
    )
    expect(instrument.box.get_by_role("slider")).to_have_attribute("aria-valuetext", "batch 8")

    instrument.batch(64)
    after = instrument.sizes()
    assert [i for i, size in enumerate(before[:7]) if size != after[i]] == [6]
    assert instrument.chart.locator(".muted").all_text_contents()[-2] == "1,200"


def test_over_budget_is_red_and_still_told_apart(instrument: Ledger) -> None:
    """Batch 1 fits with 41.7 GB; batch 4 is over with 91.9, in one colour."""
    instrument.choose("Optimizer", "Adam")
    expect(instrument.reading).to_have_text(
        "41.7 GB (38.8 GiB) of 80.0 GB with all parts at once; step peak 35.8 GB if gradients are "
        "freed each step; fits with 38.3 GB to spare; largest part: activations, 16.7 GB."
    )
    expect(instrument.chart).to_have_accessible_name("Training memory, 41.7 GB of 80.0 GB, fits")

    instrument.batch(4)
    expect(instrument.reading).to_contain_text("Over budget: 91.9 GB")
    expect(instrument.banner).to_have_role("alert")
    expect(instrument.banner).to_contain_text(f"{OUT_OF_MEMORY}the static part (24.9 GB) fits")
    bar = instrument.chart.locator(".ledger-part:not(.away)")
    colours = bar.evaluate_all("(all) => all.map((part) => getComputedStyle(part).stroke)")
    assert set(colours) == {"rgb(203, 32, 45)"}
    fills = bar.evaluate_all("(all) => all.map((part) => part.getAttribute('fill'))")
    assert len(set(fills)) == 5
    assert len(instrument.chart.locator(".ledger-label").all()) == 5

    # What is over already, and changes, is no alarm any more.
    instrument.batch(8)
    expect(instrument.banner).not_to_have_attribute("role", "alert")


def test_threshold_stands_at_the_budget(instrument: Ledger) -> None:
    """The line lies where the axis has 80.0 GB, and 8.0 GB on the laptop."""

    def share() -> float:
        base, top, line = (
            float(instrument.chart.locator(selector).first.get_attribute("y1") or "")
            for selector in (".ledger-base", ".ledger-grid >> nth=-1", ".ledger-threshold")
        )
        return (base - line) / (base - top)

    assert share() == pytest.approx(0.8)
    expect(instrument.chart).to_contain_text("H100 budget 80.0 GB")

    instrument.choose("Device", "Laptop")

    assert share() == pytest.approx(0.08)
    expect(instrument.chart).to_contain_text("RTX 4060 budget 8.0 GB")


def test_laptop_says_why_it_is_over(instrument: Ledger) -> None:
    """Adam's state alone, momentum's static part; pure 16-bit SGD fits."""
    instrument.choose("Optimizer", "Adam")
    instrument.choose("Device", "Laptop")
    expect(instrument.banner).to_contain_text("optimizer state alone exceeds device memory")

    instrument.choose("Optimizer", "Momentum")
    expect(instrument.banner).to_contain_text("before the first activation")

    for group, label in (("Optimizer", "SGD"), ("Precision", "FP16"), ("Activations", "Full")):
        instrument.choose(group, label)
    expect(instrument.banner).to_have_text("Fits. 6.7 of 8.0 GB, 1.3 GB to spare.")

    instrument.batch(4)
    expect(instrument.banner).to_contain_text("fits at its peak (6.2 GB)")
    expect(instrument.chart.locator(".ledger-caution")).to_have_count(1)
    expect(instrument.banner).not_to_have_attribute("role", "alert")


def test_hidden_parts_still_count(instrument: Ledger) -> None:
    """Neither the total nor the verdict changes; the caption counts."""
    before = (instrument.reading.text_content(), instrument.banner.text_content())
    boxes = instrument.box.get_by_role("group", name="Parts shown")
    expect(boxes.get_by_label("Adam state v 0 GB here")).to_be_disabled()

    boxes.get_by_label("Gradients").uncheck()

    assert (instrument.reading.text_content(), instrument.banner.text_content()) == before
    expect(boxes).to_contain_text("2 of 3 components shown; the total counts all.")
    expect_accessible(instrument.page, "memory-ledger", "a part hidden")
    assert instrument.drawn() == ["params", "activations"]
    expect(instrument.page.locator(".mission-live")).to_have_text(
        "Gradients hidden. Total unchanged, 29.2 gigabytes."
    )


def test_chart_and_table_hold_the_same_numbers(instrument: Ledger) -> None:
    """The description lists the parts from the bottom up; a table comes next."""
    instrument.choose("Optimizer", "Adam")
    instrument.choose("Precision", "Mixed")
    parts = ledger("autocast", "adam", "none", 1)
    listed = [f"{gb(size)} GB" for size in parts.values() if size]

    described = instrument.chart.locator("desc").text_content() or ""

    assert re.findall(r"[\d.,]+ GB", described) == listed
    labels = instrument.chart.locator(".ledger-label .strong").all_text_contents()
    assert sorted(labels) == sorted(listed)
    following = instrument.box.locator("figure + details summary")
    assert following.text_content() == "Show as table"


@pytest.mark.parametrize(
    ("regime", "optimizer", "recompute", "batch"),
    [
        ("fp32", "adam", "none", 64),
        ("autocast", "momentum", "full", 4),
        ("zero_mixed", "adam", "selective", 8),
    ],
)
def test_worked_numbers_come_to_the_row(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int
) -> None:
    """Each term, worked out as it is there, is the part's bytes."""
    sizes = ledger(regime, optimizer, recompute, batch)
    written = terms()[regime]
    counted = {part: written[part] for part, size in sizes.items() if size}
    counted["activations"] = counted["activations"][recompute].format(batch=batch)

    found = {part: worked(term) for part, term in counted.items()}

    assert found == {part: size for part, size in sizes.items() if size}


def worked(term: str) -> int:
    """What a term comes to, read as it is written: ``batch 2 × (48 layers × 10 B + 5 B)``."""
    batch, _, inner = term.removeprefix("batch ").partition(" × (")
    if not inner:
        batch, inner = "1", term
    sums = 0
    for summand in inner.split(" + "):
        numbers = re.findall(r"\d[\d,]*\d|\d", summand)
        sums += math.prod(int(number.replace(",", "")) for number in numbers)
    return int(batch) * sums


def test_worked_numbers_are_closed_at_first(instrument: Ledger) -> None:
    """The worked numbers are those of the bar, behind a closed disclosure."""
    peek = instrument.box.locator(".ledger-peek")
    expect(peek).not_to_have_attribute("open", "")
    peek.locator("summary").click()
    instrument.choose("Optimizer", "Momentum")

    numbers = peek.locator("td:last-child").all_text_contents()

    parts = ledger("fp32", "momentum", "none", 1)
    assert numbers[:-1] == [f"{gb(size)} GB" for size in parts.values() if size]
    assert numbers[-1] == f"{gb(sum(parts.values()))} GB"


def test_reveal_opens_once_both_optimizers_were_shown(instrument: Ledger) -> None:
    """It says what is missing, sets the ledger, moves the focus, and draws."""
    page = instrument.page
    instrument.choose("Device", "Laptop")
    reveal = page.locator("mission-reveal")
    reveal.scroll_into_view_if_needed()
    button = reveal.get_by_role("button")
    expect(reveal).to_contain_text("Show Adam at FP32 once, then the reveal opens.")
    expect_accessible(page, "mission-reveal", "closed")
    expect(button).to_have_attribute("aria-disabled", "true")
    button.click(force=True)
    expect(page.locator(".ledger-bracket")).to_have_count(0)
    instrument.choose("Optimizer", "Adam")
    expect(button).to_have_attribute("aria-disabled", "false")

    button.click()

    expect(page.locator("#reveal")).to_be_focused()
    expect(reveal).to_contain_text("You predicted 3 GB, and Adam adds 12.0 GB.")
    expect(page.locator("[data-check='adam-extra-memory'] li").first).to_be_visible()
    expect(instrument.chart).to_contain_text("12 GB gap (12.46 GB exact)")
    expect(instrument.reading).to_contain_text("41.7 GB (38.8 GiB) of 80.0 GB")
    expect_accessible(page, "memory-ledger", "with the prediction's ghost")
    page.wait_for_function(
        "() => localStorage.getItem('gpu-training.mission.v1').includes('revealed\":true')"
    )
    assert kept_state(page)["act1"]["controls"]["device"] == "node"

    instrument.choose("Optimizer", "Momentum")
    expect(page.locator(".ledger-bracket")).to_have_count(0)

    reveal.get_by_role("button", name="Show it in the ledger").click()
    expect(page.locator(".ledger-bracket")).to_be_in_viewport()


def test_ghost_bar_is_as_tall_as_the_prediction(browser: Browser, site: str) -> None:
    """It starts where SGD's stack ends; a prediction of nothing draws nothing."""
    page = opened(browser, site, "A", optimizer="adam")
    instrument = Ledger(page)
    ghost = instrument.chart.locator(".ledger-ghost")
    expect(ghost).to_have_count(0)
    page.locator("mission-reveal").scroll_into_view_if_needed()
    expect(page.locator(".reveal-says")).to_contain_text("You predicted nothing extra")
    assert not re.search(r"×|times", page.locator(".reveal-says").text_content() or "")

    base, top = (
        float(instrument.chart.locator(line).last.get_attribute("y1") or "")
        for line in (".ledger-base", ".ledger-grid")
    )
    per_gb = (base - top) / 100
    sgd_gb = to_gb(static_bytes("fp32", "sgd", PARAMETERS))
    for option in ("B", "C", "D"):
        page.evaluate(PREDICT, option)
        box = box_of(ghost)
        assert box["height"] == pytest.approx(PREDICTED_EXTRA_GB[option] * per_gb)
        assert box["y"] + box["height"] == pytest.approx(base - sgd_gb * per_gb)
    expect(instrument.chart).to_contain_text("yourprediction")
    page.context.close()


def box_of(rect: Locator) -> dict[str, float]:
    """Where a rectangle of the chart lies, in its own pixels."""
    return {name: float(rect.get_attribute(name) or "") for name in ("x", "y", "width", "height")}


def test_words_never_overlap(browser: Browser, site: str) -> None:
    """Every label has its own place at every width, with the overlay, and far over budget."""
    page = opened(browser, site, "D")
    instrument = Ledger(page)
    found: dict[str, Any] = {}
    for width in (320, 390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        instrument.choose("Device", "Training")
        instrument.choose("Precision", "FP32")
        instrument.batch(1)
        steps = [("Optimizer", "Adam"), ("Precision", "Mixed"), ("Device", "Laptop")]
        for group, label in [*steps, ("Precision", "FP16")]:
            instrument.choose(group, label)
            found[f"{label} {width}"] = instrument.chart.evaluate(OVERLAPS)
        instrument.choose("Precision", "Mixed")
        instrument.batch(64)
        found[f"batch 64 {width}"] = instrument.chart.evaluate(OVERLAPS)
        box = instrument.box.bounding_box() or {"width": 0}
        assert box["width"] >= instrument.box.evaluate("(element) => element.scrollWidth")

    assert {step: overlaps for step, overlaps in found.items() if overlaps} == {}
    expect_accessible(page, "memory-ledger", "far over the budget of the laptop")
    page.context.close()


def test_trade_off_states_consequences_and_keeps_the_reason(browser: Browser, site: str) -> None:
    """Both decisions are answered with what follows, and come back after a reload."""
    page = opened(browser, site, "C")
    decision = page.locator("mission-tradeoff")
    decision.scroll_into_view_if_needed()
    decision.get_by_role("group", name="training node").get_by_label(
        "worth it on", exact=False
    ).first.check()
    decision.get_by_role("group", name="laptop").get_by_label("not worth it").check()
    decision.get_by_label("Your reason").fill("<b>fits</b>")

    expect(decision).to_contain_text("12.46 of 80.0 GB (15.6 %)")
    expect(decision).to_contain_text("exceeds the card’s 8.0 GB")
    expect_accessible(page, "mission-tradeoff", "decided")
    page.wait_for_function(
        "() => localStorage.getItem('gpu-training.mission.v1').includes('<b>fits')"
    )
    kept = kept_state(page)["act1"]["tradeoff"]
    assert kept == {"node": "worth", "laptop": "not", "reason": "<b>fits</b>"}

    page.reload()
    decision.scroll_into_view_if_needed()

    expect(decision.get_by_label("Your reason")).to_have_value("<b>fits</b>")
    expect(decision.get_by_label("not worth it on this device").last).to_be_checked()
    page.context.close()


def test_reload_brings_the_ledger_back(page: Page) -> None:
    """Controls, hidden parts and dismissed prompts are as they were left."""
    instrument = Ledger(page)
    expect(instrument.box.locator(".ledger-prompts")).to_be_hidden()
    instrument.choose("Optimizer", "Momentum")
    instrument.box.get_by_role("checkbox", name="Activations").uncheck()
    instrument.box.get_by_role("button", name="Dismiss: The batch slider").click()
    expect(instrument.box.locator(".ledger-prompt:visible")).to_have_count(2)
    expect(instrument.box.locator(".ledger-moved")).to_have_text(
        "The last change: Momentum buffer 0.0 → 6.2 GB."
    )
    page.wait_for_function(
        "() => localStorage.getItem('gpu-training.mission.v1').includes('batch\"]')"
    )

    page.reload()

    again = Ledger(page)
    assert again.drawn() == ["params", "grads", "state1"]
    expect(again.box.locator(".ledger-prompt:visible")).to_have_count(2)
    assert kept_state(page)["act1"]["seen"] == ["sgd", "momentum"]
    assert to_gb(ledger_total_bytes("fp32", "momentum", "none", 1)) < 80
    expect(again.banner).not_to_have_attribute("role", "alert")
