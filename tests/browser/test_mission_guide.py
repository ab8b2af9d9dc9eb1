"""The mission's guide: predictions, locks, notices, resets, and what the browser keeps of them."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from lesson_site.mission.payload import payload_text
from tests.browser.conftest import AXE, DENIED, OF_COLORS, OVERFLOWS, RUN_AXE, settled
from tests.browser.missions import (
    AT,
    COMMIT,
    FIRST,
    KEY,
    LEDGERS,
    SECOND,
    act_one_open,
    act_two_open,
    fresh_state,
    kept_state,
    open_mission,
    target_reached,
)
from tests.browser.states import expect_accessible

DATA = "memory-mfu.json"
INSTRUMENT = "[data-mission-part='prediction-1']:has(memory-ledger)"
State = dict[str, Any]
Opened = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, site: str) -> Iterator[Opened]:
    """Opens the mission as often as a test wants, and closes the windows after it."""
    pages: list[Page] = []

    def open_one(state: State | None = None, **options: Any) -> Page:
        page = open_mission(browser, site, state, reduced_motion="reduce", **options)
        pages.append(page)
        return page

    yield open_one
    for page in pages:
        page.context.close()


def completed() -> State:
    """A state in which the mission was completed, and Act 1 begun again."""
    return {**target_reached(), "completed_at": AT}


def lock_first(page: Page, choice: int = 2) -> None:
    """Answer the first question, and wait until the answer is in."""
    question = page.locator(FIRST)
    question.locator(f"input[value='{choice}']").check()
    question.get_by_role("button", name=COMMIT).click()
    expect(page.locator(INSTRUMENT)).to_be_visible()


def barriers(page: Page, *rules: str) -> list[str]:
    """What axe finds on the page as it stands, by all rules or some, and what runs out of it."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(RUN_AXE, rules) + page.evaluate(OVERFLOWS)
    return found


def test_before_the_first_prediction_nothing_can_be_read_off(opened: Opened) -> None:
    """The ledger is inert and empty, no data is asked for, and a link leads to the question."""
    page = opened()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    notice = page.locator(f".mission-lock:has(+ {INSTRUMENT})")
    expect(notice).to_contain_text("Make your prediction first")

    assert page.locator(INSTRUMENT).evaluate("part => part.inert && !part.checkVisibility()")
    assert page.locator("memory-ledger svg").count() == 0
    notice.get_by_role("link").click()
    expect(page.locator("#predict-1")).to_be_focused()
    settled(page)
    assert not [url for url in asked if url.endswith((DATA, "mission.css"))]


@pytest.mark.parametrize(
    ("question", "instrument"), [(FIRST, "memory-ledger"), (SECOND, "pipeline-analyzer")]
)
def test_whoever_opened_the_answer_is_told_that_any_prediction_opens_the_instruments(
    opened: Opened, question: str, instrument: str
) -> None:
    """It says so in the answer, as long as nothing is predicted, and it is true."""
    state = act_two_open()
    for act in ("act1", "act2"):
        state[act] |= {"prediction": None, "locked_at": None}
    if question == FIRST:
        state["act1"] |= {"revealed": False}
    else:
        state["act1"] |= {"prediction": "C", "locked_at": AT}
    page = opened(state)
    check = page.locator(question)
    hint = check.locator(".while-asking")
    expect(hint).to_be_hidden()

    check.locator(".check-answer > summary").click()
    expect(hint).to_be_visible()
    expect(page.locator(instrument)).to_be_hidden()
    if question == FIRST:
        check.get_by_role("radio").last.check()
    else:
        check.get_by_role("textbox").fill("35")
    check.get_by_role("button", name=COMMIT).click()

    expect(page.locator(instrument)).to_be_visible()
    expect(hint).to_be_hidden()


def test_the_first_prediction_is_kept_and_not_judged_before_the_reveal(opened: Opened) -> None:
    """By keyboard: the ledger opens, nothing says what is right, and no second guess is offered."""
    page = opened()
    question = page.locator(FIRST)
    question.locator("input[value='1']").focus()
    for key in ("ArrowDown", "Tab", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".mission-live")).to_have_text(
        "Prediction recorded. Training Memory Ledger unlocked."
    )
    expect(page.locator(".mission-status")).to_contain_text("Step 2 of 5: Explore")

    page.reload()
    expect(question.locator(".check-chosen")).to_contain_text("about 3 GB")
    expect(question.locator(".check-yours")).to_contain_text("Your prediction is kept")
    expect(question.locator(".check-right")).to_have_count(0)
    expect(question.locator(".check-answer-text")).to_be_hidden()
    expect(page.locator("[data-check='adam-extra-memory']")).not_to_have_attribute("open", "")
    expect(question.get_by_role("button")).to_have_count(0)
    assert kept_state(page)["act1"]["prediction"] == "B"


# Where the verdict begins, and each control that is behind it although it has the focus.
COVERED = """(instrument) => {
  const top = () => instrument.querySelector(".mission-verdict").getBoundingClientRect().top;
  const controls = instrument.querySelectorAll(".mission-controls :is(input, button, select)");
  return [...controls].filter((control) => {
    control.focus();
    return document.activeElement === control && control.getBoundingClientRect().bottom > top();
  }).map((control) => control.id || `${control.name} ${control.value}`);
}"""


@pytest.mark.parametrize(
    ("state", "instrument", "label"),
    [
        (act_one_open(), "memory-ledger", "Momentum"),
        (act_two_open(), "pipeline-analyzer", "Mixed"),
        (target_reached(), "laptop-challenge", "SGD"),
    ],
)
def test_on_a_phone_the_verdict_is_in_view_beside_the_controls(
    opened: Opened, state: State, instrument: str, label: str
) -> None:
    """What a control does is seen where it is touched, and no control is behind that."""
    page = opened(state, viewport={"width": 390, "height": 640})
    element = page.locator(instrument)
    element.scroll_into_view_if_needed()
    verdict = element.locator(".mission-verdict")
    expect(verdict).to_be_visible()
    before = verdict.inner_text()
    control = element.get_by_label(label, exact=True)
    control.evaluate("control => control.scrollIntoView({ block: 'center' })")

    control.check()

    expect(element.get_by_role("img").first).not_to_be_in_viewport()
    expect(verdict).to_be_in_viewport(ratio=1)
    expect(verdict).not_to_have_text(before)
    assert [] == element.evaluate(COVERED)


def test_the_list_of_steps_says_what_each_act_does_in_its_own_way(opened: Opened) -> None:
    """Act 1 leaves the record to Act 2, whose reveal is beside the laptop."""
    steps = opened(act_one_open()).locator(".mission-steps li")
    status = opened(target_reached()).locator(".mission-status")

    expect(steps.last).to_have_text("Record after Act 2")
    expect(status).to_contain_text("Step 3 of 5: Reveal, then the laptop challenge")
    expect(status.get_by_role("link").first).to_have_attribute("href", "#walkthrough")
    expect(status.get_by_role("link").last).to_have_attribute("href", "#laptop")


def test_after_the_reveal_the_first_question_says_what_is_right(opened: Opened) -> None:
    """A prediction of an earlier version of the page is judged too, and its reply is the reveal."""
    page = opened(act_two_open())
    question = page.locator(FIRST)

    expect(question.locator(".check-chosen")).to_contain_text("about 3 GB")
    expect(question.locator(".check-right")).to_contain_text("about 12 GB")
    reply = question.locator(".check-yours .check-reply")
    expect(reply).to_contain_text("You predicted 3 GB, and Adam adds 12.0 GB")
    page.locator("#reveal").scroll_into_view_if_needed()
    expect(page.locator(".reveal-says")).to_have_text(reply.inner_text())
    expect(page.locator("[data-check='adam-extra-memory']")).to_have_attribute("open", "")


def test_the_second_prediction_is_a_percentage(opened: Opened) -> None:
    """What no percentage can be is refused; 75 opens the analyzer, and gets its own reply."""
    state = act_two_open()
    state["act2"] |= {"prediction": None, "locked_at": None}
    page = opened(state)
    question = page.locator(SECOND)
    field = question.get_by_role("textbox")
    field.fill("101")
    field.press("Enter")
    expect(question.get_by_role("status")).to_have_text("Type a number from 0 to 100.")
    expect(page.locator("pipeline-analyzer")).to_be_hidden()
    expect_accessible(page, "lesson-check", "a percentage refused", "article")

    field.fill("75 %")
    field.press("Enter")

    expect(page.locator("pipeline-analyzer")).to_be_visible()
    expect(question.locator(".check-reply")).to_contain_text("the usual guess")
    page.reload()
    expect(question.locator("dd").first).to_have_text("75 %")
    assert kept_state(page)["act2"]["prediction"] == 75


@pytest.mark.parametrize(
    ("change", "question", "analyzer"),
    [
        ({"revealed": False}, False, False),
        ({"reflection": {"answers": [None, None, None], "checked": False}}, False, False),
        ({}, True, False),
    ],
    ids=["before the reveal", "before the reflection", "before the second prediction"],
)
def test_act_two_opens_in_order(
    opened: Opened, change: State, question: bool, analyzer: bool
) -> None:
    """Its question waits for the reveal and the reflection, its instruments for its answer."""
    state = act_two_open()
    state["act2"] |= {"prediction": None, "locked_at": None}
    state["act1"] |= change
    page = opened(state)
    expect(page.locator(INSTRUMENT)).to_be_visible()

    assert question == page.locator(SECOND).is_visible()
    assert analyzer == page.locator("pipeline-analyzer").is_visible()


WRONG_VERSION = payload_text().replace('"schema_version":1', '"schema_version":2')


@pytest.mark.parametrize("body", [None, "{", WRONG_VERSION], ids=["missing", "cut", "version"])
def test_without_its_data_the_mission_says_so_once(opened: Opened, body: str | None) -> None:
    """One message; the instruments stay closed, the tables open, and what is kept is untouched."""
    page = opened()

    def answer(route: Route) -> None:
        route.fulfill(status=404 if body is None else 200, body=body or "")

    page.route(f"**/{DATA}", answer)
    page.evaluate(f"localStorage.setItem({KEY!r}, JSON.stringify({{other: 1}}))")
    before = page.evaluate(f"localStorage.getItem({KEY!r})")
    page.reload()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("could not be loaded")

    assert alert.count() == 1
    assert page.locator("memory-ledger svg").count() == 0
    assert page.locator("details.all-numbers").evaluate("details => details.open")
    assert before == page.evaluate(f"localStorage.getItem({KEY!r})")
    if body is None:
        expect_accessible(page, "mission-guide", "without its data", "article")
    page.unroute(f"**/{DATA}")
    page.get_by_role("button", name="Try again").click()
    expect(alert).to_have_count(0)


def test_a_foreign_state_is_reported_and_not_overwritten(opened: Opened) -> None:
    """It stays while the learner keeps it, and is put aside when they start fresh."""
    foreign = {**act_one_open(), "v": 2}
    page = opened(foreign)
    text = page.evaluate(f"localStorage.getItem({KEY!r})")
    notices = page.locator("#mission-notices")
    expect(notices).to_contain_text("has version 2")
    expect_accessible(page, "mission-guide", "a state of another version", "article")

    page.get_by_role("button", name="Keep for now").click()
    lock_first(page)
    page.goto("about:blank")
    page.go_back()
    assert text == page.evaluate(f"localStorage.getItem({KEY!r})")

    page.get_by_role("button", name="Start fresh").click()
    expect(notices).to_be_empty()
    assert text == page.evaluate(f"localStorage.getItem({KEY + '.damaged'!r})")
    assert kept_state(page)["v"] == 1


def test_without_storage_the_mission_works_and_says_so_once(opened: Opened) -> None:
    """Progress lives in memory, and one notice says that it ends with the page."""
    page = opened()
    page.add_init_script(DENIED)
    page.reload()

    lock_first(page)

    expect(page.locator("#mission-notices .mission-banner.amber")).to_have_count(1)
    expect(page.locator(".mission-status")).to_contain_text("Not kept")
    expect_accessible(page, "mission-guide", "not kept", "article")


def test_a_storage_that_is_full_keeps_what_it_held(opened: Opened) -> None:
    """What is done now is not kept, and the page says so; what was stored stays as it was."""
    page = opened(act_one_open())
    page.locator("#ledger").scroll_into_view_if_needed()
    page.locator("memory-ledger svg").first.wait_for()
    stored = page.evaluate(f"localStorage.getItem({KEY!r})")
    page.evaluate("void (Storage.prototype.setItem = () => { throw new Error('full') })")

    page.get_by_label("Momentum", exact=True).first.check()

    expect(page.locator(".mission-status")).to_contain_text("Not kept")
    assert stored == page.evaluate(f"localStorage.getItem({KEY!r})")


def test_a_reset_asks_first_and_clears_its_act_only(opened: Opened) -> None:
    """Cancel is the default; Act 1's reset closes Act 2 and keeps what was answered there."""
    page = opened(completed())
    before = completed()
    page.get_by_text("Start again").click()
    opener = page.get_by_role("button", name="Reset Act 1")
    opener.click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    expect_accessible(page, "mission-guide", "asks before it resets", "article")

    page.keyboard.press("Enter")
    expect(opener).to_be_focused()
    assert kept_state(page)["act1"] == before["act1"]
    opener.click()
    page.get_by_role("dialog").get_by_role("button", name="Reset Act 1").click()

    expect(page.locator("#predict-1")).to_be_focused()
    expect(page.locator("pipeline-analyzer")).to_be_hidden()
    notice = page.locator(".mission-lock:has(+ [data-mission-part='prediction-2'])")
    for closed in notice.all():
        expect(closed).to_contain_text("Finish the Act 1 reflection to open Act 2.")
        expect(closed.get_by_role("link")).to_have_attribute("href", "#reflect-1")
    kept = kept_state(page)
    assert kept["act1"] == fresh_state()["act1"]
    assert (kept["act2"], kept["laptop"]) == (before["act2"], before["laptop"])
    expect(page.locator(f"{FIRST}[waits][data-state=asking]")).to_have_count(1)
    assert page.locator(f"{FIRST} input:checked").count() == 0

    page.get_by_role("button", name="Skip to Act 2").click()
    expect(page.locator("pipeline-analyzer")).to_be_visible()
    page.locator("#reflect-2").scroll_into_view_if_needed()
    expect(page.locator("mission-reflection[number='2'] :is(select, input)").first).to_be_visible()


@pytest.mark.parametrize("removes", [True, False])
def test_resetting_the_mission_asks_about_the_recorded_decision(
    opened: Opened, removes: bool
) -> None:
    """Nothing of the mission is kept any more; the decision goes only if the learner says so."""
    page = opened(target_reached())
    ledgers = {chapter: {"at": AT, "ledger": {"chapter": int(chapter)}} for chapter in "78"}
    page.evaluate(
        "([key, text]) => localStorage.setItem(key, text)", [LEDGERS, json.dumps(ledgers)]
    )
    page.get_by_text("Start again").click()
    page.get_by_role("button", name="Reset mission").click()
    dialog = page.get_by_role("dialog")
    if removes:
        dialog.get_by_label("Also remove the decision").check()

    dialog.get_by_role("button", name="Reset mission").click()

    expect(page.locator("#mission")).to_be_focused()
    expect(page.locator(".mission-status")).to_contain_text("Step 1 of 5: Predict")
    page.goto("about:blank")
    page.go_back()
    assert kept_state(page) == {}
    left = json.loads(page.evaluate(f"localStorage.getItem({LEDGERS!r})"))
    assert set("7" if removes else "78") == set(left)


def test_two_windows_take_up_each_others_state(opened: Opened) -> None:
    """A prediction that one window locks in is locked in the other, which does not undo it."""
    page = opened()
    other = page.context.new_page()
    other.goto(page.url)
    lock_first(page)
    expect(other.locator(f"{FIRST} .check-chosen")).to_be_visible()
    expect(other.locator(INSTRUMENT)).to_be_visible()

    other.close(run_before_unload=True)

    assert kept_state(page)["act1"]["prediction"] == "B"


COUNT = """() => { const counts = {};
  for (const type of ['mission-changed', 'record-changed', 'storage', 'pagehide'])
    counts[type] = window.__listening[type] ?? 0;
  return counts; }"""
# Above what an address leads to
ROOM = "getComputedStyle(document.documentElement).scrollPaddingTop"
BELOW = """() => {
  const [line, heading] = [".mission-status", "#ledger"].map((one) =>
    document.querySelector(one).getBoundingClientRect());
  return line.bottom <= heading.top;
}"""
WATCH_LISTENERS = """
window.__listening = {};
const add = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (type, listener, options) {
  if (options?.signal) {
    __listening[type] = (__listening[type] ?? 0) + 1;
    add.call(options.signal, "abort", () => (__listening[type] -= 1));
  }
  return add.call(this, type, listener, options);
};
"""


def test_going_away_and_back_leaves_no_second_listener(opened: Opened, site: str) -> None:
    """With instant navigation the mission ends when it is left, and begins where it was."""
    page = opened(act_one_open())
    page.add_init_script(WATCH_LISTENERS)
    page.reload()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    mark = page.locator(f"{FIRST} .check-yours p")
    page.locator(FIRST).scroll_into_view_if_needed()  # it wakes where somebody comes near
    expect(mark).to_contain_text("Your prediction is kept")
    page.locator("#ledger").scroll_into_view_if_needed()
    page.locator("memory-ledger svg").first.wait_for()
    first = page.evaluate(COUNT)
    for _ in range(2):
        page.get_by_role("link", name="The model behind it").first.click()
        expect(page.locator("h1")).to_contain_text("The model behind the mission")
        assert page.evaluate(COUNT)["mission-changed"] == 0
        page.get_by_label("Tabs").get_by_role("link", name="Mission").click()
        page.locator(FIRST).scroll_into_view_if_needed()
        expect(mark).to_contain_text("Your prediction is kept")
        page.locator("#ledger").scroll_into_view_if_needed()
        page.locator("memory-ledger svg").first.wait_for()

    assert first == page.evaluate(COUNT)
    assert page.locator("link[href$='mission.css']").count() == 1
    assert page.locator(f".mission-lock:has(+ {INSTRUMENT})").count() == 0
    assert not [url for url in asked if not url.startswith((site, "blob:"))]


def test_what_is_jumped_to_stands_below_the_line_that_stays(opened: Opened) -> None:
    """With instant navigation a page that has no such line keeps no room for it."""
    page = opened(act_one_open())
    settled(page)
    page.locator(".mission-status a").click()
    expect(page.locator("#ledger")).to_be_in_viewport()

    assert page.evaluate(BELOW)
    assert "auto" != page.evaluate(ROOM)
    page.get_by_role("link", name="The model behind it").first.click()
    expect(page.locator("h1")).to_contain_text("The model behind the mission")
    assert "auto" == page.evaluate(ROOM)
    page.get_by_label("Tabs").get_by_role("link", name="Mission").click()
    expect(page.locator(".mission-status")).to_be_visible()
    assert "auto" != page.evaluate(ROOM)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_guide_and_questions_have_no_barrier_on_the_narrowest_screen(
    opened: Opened, scheme: str
) -> None:
    """At 320 px, which is 400 % zoom, before the start and in the middle; dark in its colours."""
    narrow = {"viewport": {"width": 320, "height": 700}, "color_scheme": scheme}
    before, amid = opened(**narrow), opened(act_one_open(), **narrow)
    expect(before.locator(".mission-steps [aria-current=step]")).to_contain_text("now")
    expect(amid.locator(".mission-steps li").first).to_contain_text("done")
    amid.locator(".mission-again").evaluate("details => details.open = true")

    rules = OF_COLORS if scheme == "dark" else ()
    assert barriers(before, *rules) == []
    assert barriers(amid, *rules) == []


def test_without_javascript_the_parts_are_readable(opened: Opened) -> None:
    """No part is hidden, and the guide says what the instruments need."""
    page = opened(java_script_enabled=False)

    expect(page.locator("mission-guide")).to_contain_text("needs JavaScript")
    expect(page.locator("memory-ledger")).to_contain_text("This instrument needs JavaScript")
    for question in (FIRST, SECOND):
        page.locator(f"{question} summary").first.click()
        expect(page.locator(f"{question} .check-answer-text")).to_be_visible()


def test_on_paper_no_part_is_hidden(opened: Opened) -> None:
    """Anyone who prints the page before the start gets its texts and tables."""
    page = opened()
    page.emulate_media(media="print")

    expect(page.locator(".mission-lock").first).to_be_hidden()
    hidden = page.locator("[data-mission-part]").evaluate_all(
        "parts => parts.filter(part => getComputedStyle(part).display === 'none').length"
    )
    assert hidden == 0
