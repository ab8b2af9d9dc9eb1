"""Act 2's instrument: bars, gauge, readouts, memory, target, and the learner's column."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_code.mission.constants import KERNEL_EFFICIENCY
from lesson_code.mission.pipeline import pipeline
from lesson_site.mission.sentences import messages
from tests.browser.conftest import OVERFLOWS
from tests.browser.missions import act_two_open, kept_state, open_mission, target_reached
from tests.browser.states import expect_accessible

Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, site: str) -> Iterator[Opener]:
    """Open the mission's page at the instrument, and close it after the test."""
    pages: list[Page] = []

    def open_at(state: dict[str, Any], **options: Any) -> Page:
        page = open_mission(browser, site, state, **options)
        pages.append(page)
        page.locator("pipeline-analyzer").scroll_into_view_if_needed()
        expect(page.locator("pipeline-analyzer dl")).to_be_visible()
        return page

    yield open_at
    for page in pages:
        page.context.close()


def chart(page: Page, name: str) -> Locator:
    """The drawing whose name matches."""
    return page.locator("pipeline-analyzer").get_by_role("img", name=re.compile(name))


def readouts(page: Page) -> dict[str, str]:
    """What the instrument says in numbers, by name."""
    names = page.locator("pipeline-analyzer dt").all_text_contents()
    return dict(
        zip(names, page.locator("pipeline-analyzer dd > span").all_text_contents(), strict=True)
    )


def expect_shares(page: Page, data: str, transfer: str, compute: str) -> None:
    """The bar of one iteration has these shares, which add up to 100.0."""
    name = f"data loading {data} %, memory transfers {transfer} %, compute {compute} %"
    expect(chart(page, name)).to_be_visible()
    assert sum(round(10 * float(share)) for share in (data, transfer, compute)) == 1000


def banner(page: Page) -> Locator:
    """Where the target is, in words."""
    return page.locator("pipeline-analyzer .mission-banner")


def test_baseline_shows_the_prediction_beside_the_answer(opened: Opener) -> None:
    """At the baseline the learner's number is on its time, and leaves with another setting."""
    page = opened(act_two_open())
    said = page.locator("pipeline-analyzer [data-said]")

    expect_shares(page, "40.0", "25.0", "35.0")
    expect(said).to_have_text("you said 75 %")
    expect(said).to_have_attribute("x", "75%")
    expect(page.locator("pipeline-analyzer svg")).to_contain_text(["compute 35.0 %", "", ""])
    assert {"Accelerator utilisation": "45.0 %", "MFU": "24.5 %"}.items() <= readouts(page).items()
    page.get_by_role("switch", name="Prefetching").click()
    expect(said).to_have_count(0)
    page.get_by_role("button", name="Reset to baseline").click()
    expect(said).to_have_count(1)


def test_three_optimisations_reach_the_target(opened: Opener) -> None:
    """Each switch gives the row of the table; the near miss and the price are said in words."""
    page = opened(act_two_open())
    column = page.locator("walkthrough-column .own-configuration")

    page.get_by_role("switch", name="Prefetching").click()
    expect_shares(page, "5.0", "39.6", "55.4")
    expect(page.locator(".mission-live")).to_have_text(
        "Prefetching on. Accelerator utilisation 74.4 percent, MFU 38.8 percent, data loading 5.0 "
        "percent. Memory over budget, 560.5 of 80.0 gigabytes."
    )
    page.get_by_label("Mixed", exact=True).check()
    expect_shares(page, "5.0", "25.0", "70.0")
    expect(banner(page)).to_contain_text("Near miss: utilisation 82.0 % would pass, but 415.8 GB")
    assert not kept_state(page).get("act2", {}).get("target_reached")
    page.get_by_role("switch", name="Checkpointing").click()
    expect_shares(page, "5.0", "20.1", "74.9")
    expect(banner(page)).to_have_text(
        "Target reached: accelerator utilisation 84.6 %, MFU 39.3 %, 56.2 GB."
    )
    assert list(readouts(page).values()) == [
        "84.6 %",
        "74.9 %",
        "39.3 %",
        "52.5 %",
        "70 %",
        "×1.61",
    ]
    expect(page.locator(".pipeline-remark").first).to_contain_text("82.0 % and MFU 49.0 %; with it")
    view = page.locator("pipeline-analyzer .mission-view")
    expect(view).to_contain_text("387.7 GB before checkpointing, 28.2 GB with it")
    page.locator("walkthrough-column").scroll_into_view_if_needed()
    expect(column).to_have_text(
        [
            "Your configuration",
            "56.2 GB (autocast + full, Adam, batch 32)",
            *("84.6 %", "39.3 %", "×1.61", "5.0 %", "20.1 / 74.9 %"),
        ]
    )
    names = page.locator("walkthrough-column tbody th").all_text_contents()
    assert "Accelerator utilisation" in names
    expect_accessible(page, "walkthrough-column", "with the learner's own")
    assert kept_state(page)["act2"]["target_reached"]


def test_the_status_line_says_when_the_settings_leave_the_target(opened: Opener) -> None:
    """Reached stays reached, but not for a configuration that does not fit."""
    page = opened(target_reached())
    status = page.locator(".mission-status")
    expect(status).to_contain_text("Target reached")
    expect(status).not_to_contain_text("not with these settings")

    page.get_by_role("switch", name="Checkpointing").click()

    expect(banner(page)).to_contain_text("does not fit")
    expect(status).to_contain_text("not with these settings")
    assert kept_state(page)["act2"]["target_reached"]


def test_recomputation_is_the_hatched_quarter_of_compute(opened: Opener) -> None:
    """Recomputation has a pattern of its own, at the right end of compute, and takes a quarter."""
    page = opened(target_reached())
    found = pipeline(prefetch=True, mixed=True, checkpoint=True, batch=32)

    parts = (
        chart(page, "One iteration")
        .locator("rect.part")
        .evaluate_all(
            "parts => parts.map((p) => [p.getAttribute('class'), "
            "parseFloat(p.getAttribute('width'))])"
        )
    )
    shares = {name.split()[1]: end for name, end in parts[:4]}
    again = shares["recompute"] - shares["compute"]
    assert 100 == shares["recompute"]
    assert pytest.approx(100 * found.compute_share / 4, abs=0.01) == again
    fill = (
        chart(page, "One iteration")
        .locator(".part.recompute")
        .first.evaluate("part => getComputedStyle(part).fill")
    )
    assert "pipeline-analyzer-recompute" in fill


def test_the_batch_trades_utilisation_for_mfu(opened: Opener) -> None:
    """Keys move the slider; a larger batch raises MFU and lowers utilisation, till memory ends."""
    page = opened(target_reached())
    slider = page.get_by_role("slider", name="Batch")

    slider.focus()
    page.keyboard.press("Home")
    # Whose profile it is, where this instrument's memory has no room for it.
    textbook = page.get_by_text(messages()["pipeline.memory.textbook"])
    seen, explained = [], []
    for batch in KERNEL_EFFICIENCY:
        expect(slider).to_have_attribute("aria-valuetext", f"batch {batch}")
        seen.append((readouts(page), banner(page).text_content() or ""))
        explained.append(textbook.is_visible())
        page.keyboard.press("ArrowRight")
    assert ["60 %", "70 %", "79 %", "86 %", "91 %"] == [r["Kernel efficiency"] for r, _ in seen]
    assert ["34.8 %", "39.3 %", "43.2 %", "46.1 %", "48.1 %"] == [r["MFU"] for r, _ in seen]
    assert ["85.8 %", "84.6 %", "83.5 %", "82.8 %", "82.2 %"] == [
        r["Accelerator utilisation"] for r, _ in seen
    ]
    assert [True, True, True, False, False] == ["Target reached" in says for _, says in seen]
    assert [False, False, False, True, True] == explained
    assert "84.4 GB if gradients stay, 72.7 GB at the peak when they are freed" in seen[2][1]
    assert "would pass, but 140.7 GB does not fit" in seen[3][1]
    expect(page.locator(".pipeline-remark").last).to_contain_text("MFU 34.8 to 48.1 %")
    expect(page.locator("pipeline-analyzer")).to_contain_text("Gradient accumulation reaches")


def test_further_opens_after_the_target_and_records_nothing(opened: Opener) -> None:
    """With the tensor effect utilisation falls, training is faster, and no decision can be made."""
    locked = opened(act_two_open())
    expect(locked.get_by_label("Tensor cores also halve compute time")).to_be_disabled()
    page = opened(target_reached())
    record = page.get_by_role("button", name="Record this configuration")

    page.get_by_label("Tensor cores also halve compute time").check()
    expect_shares(page, "5.0", "33.1", "61.9")
    shown = readouts(page)
    assert ("77.8 %", "×2.65") == (shown["Accelerator utilisation"], shown["Relative throughput"])
    expect(record).to_be_disabled()
    expect(banner(page)).to_contain_text("The target is not evaluated")
    expect_accessible(page, "pipeline-analyzer", "in the other world")
    expect(page.locator(".pipeline-further")).to_contain_text("can fall while training gets faster")
    expect(page.locator(".pipeline-further")).to_contain_text("the baseline’s MFU is 12.25 %")
    expect(page.locator("walkthrough-column th.own-configuration")).to_have_text(
        "Your configuration (tensor cores halve compute)"
    )
    page.get_by_label("Not modelled").check()
    record.click()
    expect(page.locator(".mission-controls")).to_contain_text(["MFU 39.3 %, 56.2 GB with Adam."])
    assert kept_state(page)["act2"]["record"] == {
        **{"optimizer": "sgd", "precision": "mixed"},
        **{"prefetch": "1", "checkpointing": "1", "batch": "32"},
    }


def test_eight_changes_open_the_way_on(opened: Opener) -> None:
    """After eight changes without the target the learner may go on to the laptop."""
    state = act_two_open()
    state["act2"]["changes"] = 7
    page = opened(state)
    on = page.get_by_role("button", name="Continue without the target")

    expect(on).to_be_hidden()
    page.get_by_role("switch", name="Checkpointing").click()
    expect_accessible(page, "pipeline-analyzer", "a way on without the target")
    on.click()
    expect(page.get_by_role("link", name="Go on to the laptop challenge")).to_be_focused()
    page.wait_for_function(  # it is kept without leaving the page
        "() => localStorage.getItem('gpu-training.mission.v1').includes('\"changes\":8')"
    )
    kept = kept_state(page)
    assert (8, True, False) == (
        *(kept["act2"]["changes"], kept["laptop"]["early"]),
        kept["act2"]["target_reached"],
    )


def test_the_gauge_names_its_ticks_and_every_chart_has_a_table(opened: Opener) -> None:
    """Both arcs say their values and ticks; the disclosure after each chart has its numbers."""
    page = opened(target_reached())
    gauge = chart(page, "^Accelerator utilisation 84.6 %, MFU 39.3 %$")

    expect(gauge.locator("desc")).to_have_text(
        "Outer arc: accelerator utilisation 84.6 %; ticks: textbook baseline 45 %, target 80 %, "
        "textbook optimised 85 %. Inner arc: MFU 39.3 %; ticks: GPT-3 class 45 %, current systems "
        "55 %."
    )
    expect(gauge.locator(".pointer")).to_have_count(2)
    charts = page.locator("pipeline-analyzer .mission-chart").all()
    assert 3 == len(charts)
    tables = page.locator("pipeline-analyzer .mission-table table")
    for index, drawn in enumerate(charts):
        numbers = set(re.findall(r"\d+\.\d", drawn.locator("desc").text_content() or ""))
        assert numbers <= set(re.findall(r"\d+\.\d", tables.nth(index).text_content() or ""))


def test_nothing_is_inaccessible_on_a_small_screen(opened: Opener) -> None:
    """At 320 pixels nothing leaves the page, and axe finds nothing, in memory trouble too."""
    state = target_reached()
    state["act2"]["controls"]["batch"] = "256"
    page = opened(state, viewport={"width": 320, "height": 800}, reduced_motion="reduce")

    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert [] == page.evaluate(OVERFLOWS)
    expect_accessible(page, "pipeline-analyzer", "does not fit, all opened")
