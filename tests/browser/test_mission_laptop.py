"""The laptop challenge: what each move comes to, what is written down, and what is asked."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_code.mission.architecture import GPT2_XL, gpt_param_count
from lesson_code.mission.decisions import laptop_outcome
from lesson_code.mission.fit import device_budget_bytes, verdict
from lesson_code.mission.memory import ledger_total_bytes, static_bytes, step_peak_bytes, to_gb
from lesson_code.mission.worked import fused_step_memory
from lesson_site.mission.numbers import fine_gb
from lesson_site.mission.rows import laptop_rows
from tests.browser.missions import kept_state, open_mission, target_reached
from tests.browser.states import expect_accessible

SMALLEST = ("optimizer=sgd", "recompute=full", "batch=1")
N_PARAMS = gpt_param_count(GPT2_XL)
FLOOR = f"{to_gb(static_bytes('fp32', 'sgd', N_PARAMS)):.2f}"
# Counts what the polite live region is given to say.
HEAR = """
window.heard = [];
new MutationObserver(() => {
  const says = document.querySelector("mission-guide .mission-live")?.textContent;
  if (says && says !== window.heard.at(-1)) window.heard.push(says);
}).observe(document.body, {childList: true, subtree: true, characterData: true});
"""

# Changes without a rest between them, however slow the machine is.
AT_ONCE = """
changes => changes.forEach((change) => {
  const [control, value] = change.split("=");
  document.querySelector(`[name=laptop-${control}][value='${value}']`).click();
})
"""


def open_laptop(browser: Browser, site: str, state: dict[str, Any] | None = None) -> Page:
    """The page at the challenge."""
    page = open_mission(browser, site, state or target_reached())
    laptop(page).scroll_into_view_if_needed()
    expect(laptop(page).locator("svg")).to_be_visible()
    return page


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """The page at the challenge, where everybody begins."""
    page = open_laptop(browser, site)
    yield page
    page.context.close()


def laptop(page: Page) -> Locator:
    """The element."""
    return page.locator("laptop-challenge")


def move(page: Page, *changes: str) -> None:
    """Change controls, one after the other: ``optimizer=sgd``."""
    for change in changes:
        control, value = change.split("=")
        if control == "bookkeeping":
            page.select_option("#laptop-bookkeeping", value)
        else:
            page.locator(f"[name=laptop-{control}][value='{value}']").check()


def test_every_change_is_one_move_with_totals_before_and_after(page: Page) -> None:
    """A move that makes things worse is written down like any other, and there is no undo."""
    begins, mixed, worse = (
        fine_gb(ledger_total_bytes(regime, "adam", "none", 4))
        for regime in ("fp32", "zero_mixed", "autocast")
    )
    expect(page.locator(".laptop-total")).to_contain_text(f"{begins} GB of 8.0 GB")

    move(page, "precision=mixed", "bookkeeping=zero", "bookkeeping=autocast")

    moves = page.locator(".laptop-moves li")
    expect(moves).to_have_text(
        [
            f"Precision, FP32 → Mixed: {begins} → {worse} GB",
            f"Bookkeeping, PyTorch autocast → 16-bit weights + FP32 master: {worse} → {mixed} GB",
            f"Bookkeeping, 16-bit weights + FP32 master → PyTorch autocast: {mixed} → {worse} GB",
        ]
    )
    expect(page.locator(".laptop-count")).to_have_text("Moves: 3")
    page.reload()
    laptop(page).scroll_into_view_if_needed()
    expect(moves).to_have_count(3)
    expect(page.locator(".laptop-total")).to_contain_text(f"{worse} GB")
    kept = kept_state(page)["laptop"]
    assert kept["moves"][1] == {
        "n": 2,
        "control": "bookkeeping",
        "from": "autocast",
        "to": "zero",
        "before_gb": worse,
        "after_gb": mixed,
        "total_gb": round(to_gb(ledger_total_bytes("zero_mixed", "adam", "none", 4)), 2),
    }
    assert kept["smallest"] == "zero_mixed/adam/none/4"
    assert kept["outcomes_seen"] == ["searching"]


def test_restart_asks_first_and_cancel_is_the_default(page: Page) -> None:
    """Enter in the dialog keeps the moves; confirmed, the list is empty and the bar is back."""
    move(page, "optimizer=sgd")
    restart = page.get_by_role("button", name="Restart challenge")

    restart.click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    expect_accessible(page, "laptop-challenge", "asks before it restarts")
    page.keyboard.press("Enter")

    expect(page.locator(".laptop-moves li")).to_have_count(1)
    expect(restart).to_be_focused()
    restart.click()
    page.get_by_role("button", name="Restart", exact=True).click()
    expect(page.locator(".laptop-moves li")).to_have_count(0)
    expect(page.locator(".laptop-total")).to_contain_text("91.9 GB")
    expect(page.locator("#laptop")).to_be_focused()
    expect(page.locator("[name=laptop-optimizer][value=adam]")).to_be_checked()


def test_the_last_move_with_float32_weights_reaches_the_limit(page: Page) -> None:
    """In FP32 one move is left; with mixed precision, either way, none is, and it may be worse."""
    outcome = page.locator(".laptop-outcome")

    move(page, *SMALLEST)

    expect(page.locator(".laptop-total")).to_contain_text("13.34 GB")
    expect(outcome).to_contain_text("mixed precision")
    expect(outcome).not_to_contain_text("Limit reached")
    move(page, "precision=mixed")
    expect(page.locator(".laptop-total")).to_contain_text("16.45 GB")
    expect(outcome).to_contain_text("Limit reached: these moves cannot fit it")
    expect(outcome).to_contain_text("4.46 GB over")
    expect(outcome).to_have_class("laptop-outcome mission-banner red")
    move(page, "bookkeeping=zero")
    expect(page.locator(".laptop-total")).to_contain_text("13.02 GB")
    expect(outcome).to_contain_text("Limit reached: these moves cannot fit it")


def test_the_limit_says_what_it_is_made_of_once_that_was_answered(page: Page) -> None:
    """Before, neither answer can be copied from it; after, and on a second visit, it has both."""
    outcome, form = page.locator(".laptop-outcome"), page.locator(".laptop-quantify")
    move(page, *SMALLEST, "precision=mixed")
    expect(outcome).to_contain_text("Limit reached")
    expect(outcome).not_to_contain_text(re.compile(rf"bytes ×|{FLOOR} GB"))

    form.get_by_role("textbox").fill("11")
    form.locator("[value=power]").check()
    form.get_by_role("button", name="Check").click()

    made_of = f"8 bytes × {N_PARAMS:,} = {FLOOR} GB, 4.46 GB more than"
    expect(outcome).to_contain_text(made_of)
    page.reload()
    laptop(page).scroll_into_view_if_needed()
    expect(outcome).to_contain_text(made_of)


def test_whoever_met_the_limit_gets_no_hint_at_it(page: Page) -> None:
    """Mixed precision came before FP32: then it is no move that is left."""
    outcome = page.locator(".laptop-outcome")
    move(page, "precision=mixed", *SMALLEST)
    expect(outcome).to_contain_text("Limit reached")

    move(page, "precision=fp32")

    expect(outcome).to_contain_text("No new move is left")
    expect(outcome).to_contain_text("13.34 GB, over by 5.34 GB")
    expect(outcome).not_to_contain_text("Which way will the bar go?")
    expect(page.locator(".mission-live")).to_contain_text("No new move is left.")


def test_the_limit_is_never_declared_where_something_fits() -> None:
    """Over the whole grid, the limit needs the verdict over."""
    limits = [row for row in laptop_rows().values() if row["outcome"] == "limit_reached"]

    assert ["over"] * 2 == [row["verdict"] for row in limits]


@pytest.mark.parametrize(("batch", "total"), [(1, "6.69"), (2, "7.14"), (4, "8.05")])
def test_what_fits_in_sixteen_bits_carries_its_warning(page: Page, batch: int, total: str) -> None:
    """Batch 1 and 2 fit, batch 4 only if gradients are freed; small updates vanish in all three."""
    fits = laptop_outcome("pure16", "sgd", "full", batch) == "fits_unsafe"

    move(page, "optimizer=sgd", "recompute=full", "precision=fp16")
    page.locator(f"[name=laptop-batch][value='{batch}']").check()

    outcome = page.locator(".laptop-outcome")
    expect(page.locator(".laptop-total")).to_contain_text(f"{total} GB")
    expect(outcome).to_contain_text("updates smaller than the spacing of 16-bit numbers vanish")
    expect(outcome).to_have_class(f"laptop-outcome mission-banner {'green' if fits else 'amber'}")
    if batch == 1:
        expect_accessible(page, "laptop-challenge", "fits in 16 bits")
    assert page.locator("svg [fill*=warning]").count() == int(fits)
    assert kept_state(page)["laptop"]["fit"] is fits


def test_the_bar_its_description_and_its_table_say_the_same(page: Page) -> None:
    """Changes without a rest are announced once; name, segments and table agree with the model."""
    page.evaluate(HEAR)

    page.evaluate(AT_ONCE, ["precision=mixed", "recompute=full", "optimizer=sgd"])

    total, before, peak = (
        fine_gb(ledger_total_bytes("autocast", "sgd", "full", 4)),
        fine_gb(ledger_total_bytes("autocast", "adam", "full", 4)),
        fine_gb(step_peak_bytes("autocast", "sgd", "full", 4)),
    )
    over = fine_gb(ledger_total_bytes("autocast", "sgd", "full", 4) - device_budget_bytes("laptop"))
    chart = laptop(page).get_by_role("img")
    expect(chart).to_have_accessible_name(
        f"Training memory on the laptop GPU, {total} GB of 8.0 GB, over by {over} GB"
    )
    rest = fine_gb(
        ledger_total_bytes("autocast", "sgd", "full", 4) - static_bytes("fp32", "sgd", N_PARAMS)
    )
    described = chart.locator("desc").text_content() or ""
    assert f"Static part {FLOOR} GB, Activations, copies {rest} GB" in described
    laptop(page).get_by_text("Show as table").click()
    expect(laptop(page).locator("td")).to_have_text([FLOOR, rest, total, "8.0", over, peak])
    page.wait_for_function("() => window.heard.some((says) => says.startsWith('Move'))")
    assert page.evaluate("window.heard.filter((says) => says.startsWith('Move'))") == [
        f"Move 3: Adam to SGD. {before} to {total} gigabytes. Over by {over}. The axis now ends at "
        f"{laptop_rows()['autocast/sgd/full/4']['axis']} GB."
    ]


def test_the_list_of_moves_can_be_full(browser: Browser, site: str) -> None:
    """After 200 moves a change is refused, the control goes back, and the page says so."""
    state = target_reached()
    change = {"control": "batch", "before_gb": "91.9", "after_gb": "91.9", "total_gb": 91.88}
    state["laptop"]["moves"] = [{"n": n, "from": "4", "to": "2", **change} for n in range(1, 201)]
    page = open_laptop(browser, site, state)

    page.locator("[name=laptop-optimizer][value=sgd]").click()

    expect(page.locator("[name=laptop-optimizer][value=adam]")).to_be_checked()
    expect(page.locator(".laptop-count")).to_contain_text("no more than 200 moves")
    expect(page.locator(".laptop-moves li")).to_have_count(200)
    expect_accessible(page, "laptop-challenge", "no more moves")
    page.context.close()


def test_the_floor_is_asked_for_once_it_was_met(page: Page) -> None:
    """12.0 to 12.5 GB and the one reason are right; what was checked is there after a reload."""
    form = page.locator(".laptop-quantify")
    check, field = form.get_by_role("button", name="Check"), form.get_by_role("textbox")
    expect(form).to_be_hidden()
    move(page, *SMALLEST)

    field.fill("much")
    check.click()

    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect_accessible(page, "laptop-challenge", "a floor that is no number")
    verdicts = form.locator(".mission-mark")
    form.locator("[value=activations]").check()
    for answer, right in (("11.9", False), ("12.0", True), ("12,5", True), ("12.51", False)):
        field.fill(answer)
        check.click()
        expect(verdicts).to_have_count(2)
        expect(verdicts.first).to_have_class(f"mission-mark {'right' if right else 'wrong'}")
        expect(verdicts.last).to_have_class("mission-mark wrong")
    for answer, says in (
        *(("13.34", "A total on the bar"), ("17.9", "A total on the bar")),
        *(("18.7", "18.69 GB is momentum"), ("11.6", "the question asks for GB")),
        *(("6.2 gb", "6.23 GB is pure 16-bit"), ("12.46 GB", "Right: 8 bytes")),
    ):
        field.fill(answer)
        check.click()
        expect(form).to_contain_text(says)
    field.fill(FLOOR)
    form.locator("[value=floor]").check()
    expect(verdicts).to_have_count(0)
    check.click()
    expect(form).to_contain_text(f"= {FLOOR} GB")
    expect(form.locator(".mission-mark.right")).to_have_count(2)
    page.reload()
    laptop(page).scroll_into_view_if_needed()
    expect(form.locator(".mission-mark.right")).to_have_count(2)
    assert kept_state(page)["laptop"]["quantify"] == {"gb": FLOOR, "why": "floor", "checked": True}


def test_other_exits_do_not_need_other_machines(page: Page) -> None:
    """The exits name the fused step with its sum, and sharding inside one machine."""
    fused = f"{to_gb(fused_step_memory()):.2f}"
    exits = page.locator(".laptop-exits")
    expect(exits).to_be_hidden()

    move(page, *SMALLEST)
    exits.locator("summary").click()

    expect(exits.locator("li")).to_have_count(5)
    expect(exits).to_contain_text(f"{fused} GB in FP32 at batch 1")
    expect(exits).to_contain_text("in one machine or in many")
    expect_accessible(page, "laptop-challenge", "one move is left, exits opened")
    budget = device_budget_bytes("laptop")
    total = ledger_total_bytes("pure16", "sgd", "full", 1) + 2 * N_PARAMS
    assert "over" == verdict(total, total, budget)  # as the exit of a compensated sum says


def test_nothing_scrolls_sideways_on_a_narrow_screen(browser: Browser, site: str) -> None:
    """At 320 pixels the bar, its labels and the list of moves stay within the page."""
    page = open_mission(browser, site, target_reached(), viewport={"width": 320, "height": 800})
    laptop(page).scroll_into_view_if_needed()

    move(page, "precision=mixed", "recompute=full")

    expect(page.locator(".laptop-moves li")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    edges = page.locator(".laptop-chart text").evaluate_all(
        "(all) => all.map((text) => text.getBoundingClientRect()).map((at) => [at.left, at.right])"
    )
    assert all(left >= 0 and right <= 320 for left, right in edges)
    page.context.close()
