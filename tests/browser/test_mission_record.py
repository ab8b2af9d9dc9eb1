"""The mission's decision: recorded, exported, and imported as a design ledger."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_code.mission.memory import ledger_total_bytes, static_bytes, to_gb
from lesson_code.mission.pipeline import pipeline
from lesson_site.mission.decision import bounds, schema
from lesson_site.mission.rows import PARAMETERS
from tests.browser.conftest import DENIED, OVERFLOWS
from tests.browser.missions import LEDGERS, kept_state, open_mission, target_reached
from tests.browser.states import expect_accessible
from tests.lesson_site.mission.decision_files import CASES, FILES, file_of

# What the mission shows is one state; a test puts another in its place.
TAKE_UP = """async (state) => {
  const { mission } = await import("/assets/elements/mission/state.js");
  await mission.open();
  mission.change((now) => Object.assign(now, state));
}"""
READ_ISSUES = """(items) => items.map((item) =>
  ["strong", "code"].map((tag) => item.querySelector(tag).textContent))"""
# One file after the other through the element's own input, and what it lists to each.
TAKE_FILES = f"""async (files) => {{
  const element = document.querySelector("mission-record");
  const input = element.querySelector("input[type=file]");
  const result = element.querySelector(".record-result");
  const found = [];
  for (const file of files) {{
    const chosen = new DataTransfer();
    chosen.items.add(new File([Uint8Array.from(atob(file), (c) => c.charCodeAt(0))], "a.json"));
    input.files = chosen.files;
    result.replaceChildren();
    input.dispatchEvent(new Event("change"));
    while (!result.querySelector("li")) await new Promise((done) => setTimeout(done));
    found.push(({READ_ISSUES})([...result.querySelectorAll("li")]));
  }}
  return found;
}}"""
Opened = Callable[..., Page]


def complete() -> dict[str, Any]:
    """A state in which all is done but the record; the laptop's limit was reached in two moves."""
    state = target_reached()
    state["act1"]["controls"]["optimizer"] = "adam"
    state["act2"]["reflection"] = {
        "choice": "C",
        "choice_checked": True,
        "answers": ["4", "33", "compute"],
        "checked": True,
    }
    move = {"n": 1, "control": "batch", "from": "4", "to": "1", "before_gb": "91.9"}
    state["laptop"] |= {
        "moves": [{**move, "after_gb": "41.7", "total_gb": 41.67}],
        "outcomes_seen": ["searching", "limit_reached"],
        "smallest": "autocast/sgd/full/1",
        "quantify": {"gb": "12.46", "why": "weights", "checked": True},
    }
    return state


@pytest.fixture
def opened(browser: Browser, site: str) -> Iterator[Opened]:
    """Opens the mission in a state, scrolls to the record, and closes every window at the end."""
    pages = []

    def open_it(state: dict[str, Any], **options: Any) -> Page:
        page = open_mission(browser, site, state, **options)
        pages.append(page)
        page.locator("mission-record").scroll_into_view_if_needed()
        expect(button(page, "Download")).to_be_visible()
        return page

    yield open_it
    for page in pages:
        page.context.close()


def record(page: Page) -> Locator:
    """The element."""
    return page.locator("mission-record")


def button(page: Page, name: str) -> Locator:
    """One of its buttons."""
    return record(page).get_by_role("button", name=name, exact=True)


def kept_ledgers(page: Page) -> dict[str, Any]:
    """What the browser keeps of all chapters."""
    text = page.evaluate(f"localStorage.getItem({LEDGERS!r})")
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


def shown_text(page: Page) -> str:
    """The exported text, as Show gives it."""
    button(page, "Show").click()
    return record(page).get_by_label("The design ledger’s text").input_value()


def check(page: Page, ledger: Any) -> None:
    """Paste a text into the import panel, opened if it is not, and have it checked."""
    if button(page, "Import a design ledger").get_attribute("aria-expanded") == "false":
        button(page, "Import a design ledger").click()
    text = ledger if isinstance(ledger, str) else json.dumps(ledger)
    record(page).get_by_label("Or paste its text").fill(text)
    button(page, "Check the text").click()


def issues(page: Page) -> list[list[str]]:
    """The codes and places that the panel lists."""
    found: list[list[str]] = record(page).locator(".record-issues > li").evaluate_all(READ_ISSUES)
    return found


def test_the_default_path_is_exported_and_comes_back_unchanged(opened: Opened) -> None:
    """The file holds what the learner did, as the model counts it, and imports as it is."""
    page = opened(complete())
    button(page, "Record this configuration").click()
    with page.expect_download() as downloading:
        button(page, "Download").click()
    text = downloading.value.path().read_text(encoding="utf-8")
    ledger = json.loads(text)
    run = pipeline(True, True, True, 32)
    smallest = round(to_gb(ledger_total_bytes("autocast", "sgd", "full", 1)), 2)
    floor = round(to_gb(static_bytes("fp32", "sgd", PARAMETERS)), 2)
    details = ledger.pop("details")

    assert "design-ledger-ch08.json" == downloading.value.suggested_filename
    Draft202012Validator(schema()).validate(ledger)
    assert {
        "chapter": 8,
        "optimizer_chosen": "adam",
        "precision_chosen": "mixed",
        "gradient_checkpointing": True,
        "final_mfu_pct": round(100 * run.mfu, 1),
        "baseline_mfu_estimate_pct": 75,
        "laptop_fit_achieved": False,
        "laptop_minimum_memory_gb": smallest,
    } == ledger
    assert (39.3, 16.45) == (ledger["final_mfu_pct"], ledger["laptop_minimum_memory_gb"])
    assert (round(100 * run.utilisation, 1), floor) == (
        details["final_accelerator_utilisation_pct"],
        details["laptop_static_floor_gb"],
    )
    move = {"n": 1, "control": "batch", "from": 4, "to": 1, "total_gb": 41.67}
    assert [move] == details["laptop_moves"]
    assert list(FILES["full"]) == [*ledger, "details"]

    expect(record(page)).to_contain_text("It is in your design ledger in this browser too.")
    assert {**ledger, "details": details} == kept_ledgers(page)["8"]["ledger"]
    assert kept_state(page)["completed_at"]

    check(page, text)
    expect(record(page).get_by_role("table")).to_contain_text("There now")
    assert [["W_OVERWRITE", "$"]] == issues(page)
    button(page, "Keep this decision").click()
    expect(record(page)).to_contain_text("Imported into your design ledger")
    expect_accessible(page, "mission-record", "a file taken in")
    assert {**ledger, "details": details} == kept_ledgers(page)["8"]["ledger"]


def test_optimizer_and_precision_are_chosen_in_the_panel(opened: Opened) -> None:
    """The choices start where the instruments stand, and change the record and the file."""
    page = opened(complete())
    button(page, "Record this configuration").click()
    expect(record(page).get_by_label("Adam")).to_be_checked()
    expect(record(page).get_by_label("Mixed")).to_be_checked()

    record(page).get_by_label("SGD").check()
    record(page).get_by_label("FP16").check()
    expect(record(page)).to_contain_text("the file takes the one for Mixed")
    half = json.loads(shown_text(page))
    record(page).get_by_label("FP32 (4 bytes)").check()
    expect(record(page).get_by_label("The design ledger’s text")).to_be_hidden()
    full = json.loads(shown_text(page))

    keys = ("optimizer_chosen", "precision_chosen", "final_mfu_pct")
    assert ["sgd", "fp16", 39.3] == [half[key] for key in keys]
    mfu = round(100 * pipeline(True, False, True, 32).mfu, 1)
    assert ["sgd", "fp32", mfu] == [full[key] for key in keys]


def test_memory_and_target_are_those_of_what_is_recorded(opened: Opened) -> None:
    """With FP32 in place of mixed precision, panel and file say that the target is missed."""
    state = complete()
    state["act2"]["controls"]["batch"] = "64"
    page = opened(state)
    button(page, "Record this configuration").click()
    readouts = record(page).locator(".mission-readouts")

    expect(readouts).to_contain_text("84.4 GBWith Adam; 72.7 GB at the peak if gradients are freed")
    expect(readouts).to_contain_text("Targetreached80.0 % or more, within 80.0 GB")
    mixed = json.loads(shown_text(page))["details"]
    record(page).get_by_label("FP32 (4 bytes)").check()
    expect(readouts).to_contain_text("Targetnot reachedUtilisation is below 80.0 %")
    expect(page.locator(".mission-live")).to_contain_text("Target not reached.")
    full = json.loads(shown_text(page))["details"]

    assert [True, False] == [details["target_reached"] for details in (mixed, full)]
    assert (
        full["final_accelerator_utilisation_pct"] < 80 <= mixed["final_accelerator_utilisation_pct"]
    )


def test_what_is_missing_is_listed_and_nothing_goes_out(opened: Opened) -> None:
    """Until all is done, the buttons are closed and the list leads to what is to do."""
    page = opened(target_reached())
    missing = record(page).locator(".record-missing a")

    expect(missing).to_have_text(
        [
            "Record a configuration",
            "Bring the laptop challenge to an outcome",
            "Quantify the laptop’s floor",
            "Check both questions about what the loader hides",
        ]
    )
    for link in missing.all():
        assert page.locator(link.get_attribute("href") or "none").count() == 1
    for name in ("Download", "Copy", "Show"):
        expect(button(page, name)).to_have_attribute("aria-disabled", "true")
        button(page, name).click(force=True)
    assert {} == kept_ledgers(page)
    expect(record(page)).to_contain_text("Not yet")
    expect_accessible(page, "mission-record", "something is missing")


def test_nothing_is_recorded_from_the_other_world(opened: Opened) -> None:
    """Where tensor cores halve compute time, the button is closed and says why."""
    state = complete()
    state["act2"]["controls"]["tensor_effect"] = "2"
    page = opened(state)

    expect(button(page, "Record this configuration")).to_have_attribute("aria-disabled", "true")
    button(page, "Record this configuration").click(force=True)

    expect(record(page)).to_contain_text("Set it back to “Not modelled” first")
    expect(record(page)).to_contain_text("Nothing is recorded yet")


def test_copying_says_whether_it_worked(opened: Opened) -> None:
    """The text is on the clipboard; where the browser refuses, it is on the page."""
    page = opened(complete(), permissions=["clipboard-read", "clipboard-write"])
    button(page, "Record this configuration").click()
    button(page, "Copy").click()
    expect(record(page)).to_contain_text("Copied.")
    assert 8 == json.loads(page.evaluate("navigator.clipboard.readText()"))["chapter"]

    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(Error('no')) }")
    button(page, "Copy").click()

    expect(record(page)).to_contain_text("did not let this page copy")
    expect(record(page).get_by_label("The design ledger’s text")).to_be_visible()


def test_every_damaged_file_is_refused_as_in_python(opened: Opened) -> None:
    """The fixtures give their errors in the browser's own reading, and change nothing."""
    page = opened(complete())
    button(page, "Import a design ledger").click()
    before = page.evaluate("JSON.stringify(localStorage)")
    damaged = [
        case
        for case in CASES.values()
        if "others" not in case and any(code.startswith("E_") for code, _ in case["expect"])
    ]
    assert len(damaged) >= 40
    files = [b64encode(file_of(case)).decode() for case in damaged]
    found = page.evaluate(TAKE_FILES, files)

    assert {case["name"]: case["expect"] for case in damaged} == {
        case["name"]: one for case, one in zip(damaged, found, strict=True)
    }
    assert record(page).get_by_role("table").count() == 0
    assert before == page.evaluate("JSON.stringify(localStorage)")
    assert page.locator("mission-record img").count() == 0


def test_the_plain_sample_is_imported_with_two_warnings(opened: Opened) -> None:
    """Eight keys are enough; doubt is shown, nothing is kept before a yes, and nothing unlocks."""
    page = opened(target_reached())
    check(page, FILES["plan"])
    expect(record(page).get_by_role("table")).to_contain_text("laptop_minimum_memory_gb")
    assert [
        ["W_MFU", "$.final_mfu_pct"],
        ["W_FLOOR", "$.laptop_minimum_memory_gb"],
    ] == issues(page)
    expect(record(page)).to_contain_text(f"Above {bounds()['mfu']} %")
    expect_accessible(page, "mission-record", "a file with warnings")

    button(page, "Cancel").click()
    assert {} == kept_ledgers(page)
    before = kept_state(page)
    check(page, FILES["plan"])
    button(page, "Keep this decision").click()
    expect(record(page)).to_contain_text("It opens no part of the mission")
    expect(button(page, "Import a design ledger")).to_be_focused()

    assert FILES["plan"] == kept_ledgers(page)["8"]["ledger"]
    assert before == kept_state(page)
    expect(button(page, "Download")).to_have_attribute("aria-disabled", "true")


def test_escape_closes_the_import_and_gives_the_focus_back(opened: Opened) -> None:
    """The keyboard gets out of the panel, and what was typed is gone."""
    page = opened(complete())
    check(page, "{chapter:8}")
    expect(record(page)).to_contain_text("E_JSON")
    expect_accessible(page, "mission-record", "a file refused")
    record(page).get_by_label("Or paste its text").press("Escape")

    expect(button(page, "Import a design ledger")).to_be_focused()
    expect(record(page).get_by_label("Or paste its text")).to_be_hidden()


def test_a_narrow_window_scrolls_nothing_but_tables(opened: Opened) -> None:
    """At 320 px a long list of errors and the preview stay within the window."""
    page = opened(complete(), viewport={"width": 320, "height": 700})
    check(page, {"chapter": 10, "k" * 200: "v" * 200})
    expect(record(page)).to_contain_text("has the number 10")
    assert [] == page.evaluate(OVERFLOWS)

    check(page, FILES["full"])
    expect(record(page).get_by_role("table")).to_be_visible()
    assert [] == page.evaluate(OVERFLOWS)


def test_where_nothing_is_kept_the_file_still_goes_out(browser: Browser, site: str) -> None:
    """With storage denied, a complete mission exports and imports, and says that it is not kept."""
    page = open_mission(browser, site)
    page.context.add_init_script(DENIED)
    page.reload()
    state = complete()
    page.evaluate(TAKE_UP, state)
    record(page).scroll_into_view_if_needed()
    button(page, "Record this configuration").click()
    with page.expect_download() as downloading:
        button(page, "Download").click()

    Draft202012Validator(schema()).validate(json.loads(downloading.value.path().read_text()))
    expect(record(page)).to_contain_text("This browser does not keep it, so keep the file.")
    check(page, FILES["full"])
    button(page, "Keep this decision").click()
    expect(record(page)).to_contain_text("until you close this page")
    expect_accessible(page, "mission-record", "not kept")
    page.context.close()


def test_without_the_checker_nothing_is_imported(opened: Opened) -> None:
    """Where the checker's file is missing, one sentence says so."""
    page = opened(complete())
    page.route("**/validate.js", lambda route: route.abort())
    check(page, FILES["full"])

    expect(record(page)).to_contain_text("The checker could not be loaded")
    assert record(page).get_by_role("table").count() == 0
