"""Both acts of the mission from the first guess to the exported file, by mouse and by keyboard."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from playwright.sync_api import Locator, Page, ViewportSize, expect

from lesson_site.mission.decision import schema
from tests.browser.conftest import DENIED, OVERFLOWS
from tests.browser.missions import COMMIT, FIRST, KEY, SECOND, kept_state
from tests.browser.states import expect_accessible

MOST_TABS = 200
LOOKS_AGAIN = 30
SMALLEST: ViewportSize = {"width": 320, "height": 800}  # 1280 at 400 % zoom


def left(page: Page, script: str) -> list[str]:
    """What a script still complains of once the page has had time to draw itself again."""
    found: list[str] = page.evaluate(script)
    for _ in range(LOOKS_AGAIN):
        if not found:
            break
        page.wait_for_timeout(100)
        found = page.evaluate(script)
    return found


class Mouse:
    """Answers with a pointer."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, button: Locator) -> None:
        """Press a button."""
        button.click()

    def pick(self, radio: Locator) -> None:
        """Choose one of a group."""
        radio.check()

    def select(self, field: Locator, value: str) -> None:
        """Choose from a list."""
        field.select_option(value)

    def write(self, field: Locator, text: str) -> None:
        """Type into a field."""
        field.click()
        field.fill(text)


class Keyboard(Mouse):
    """Answers with Tab, arrows, Space and Enter, and nothing else."""

    def press(self, button: Locator) -> None:
        """Press a button, with Enter."""
        self._reach(button)
        self.page.keyboard.press("Enter")

    def pick(self, radio: Locator) -> None:
        """Choose one of a group: Tab comes to the group, and arrows go through it."""
        name = radio.get_attribute("name")
        self._reach(self.page.locator(f"input[name='{name}']"))
        if radio.evaluate("it => it === document.activeElement"):
            self.page.keyboard.press("Space")
        while not radio.is_checked():
            self.page.keyboard.press("ArrowDown")

    def select(self, field: Locator, value: str) -> None:
        """Choose from a list, with arrows."""
        self._reach(field)
        self.page.keyboard.press("Home")
        for _ in range(field.locator("option").count()):
            if field.input_value() == value:
                return
            self.page.keyboard.press("ArrowDown")
        expect(field).to_have_value(value)

    def write(self, field: Locator, text: str) -> None:
        """Type into a field."""
        self._reach(field)
        self.page.keyboard.type(text)

    def _reach(self, one_of: Locator) -> None:
        """Press Tab until one of them has the focus, forwards or from the top again."""
        expect(one_of.first).to_be_attached()
        for _ in range(MOST_TABS):
            if one_of.evaluate_all("all => all.includes(document.activeElement)"):
                return
            self.page.keyboard.press("Tab")
        at = self.page.evaluate("document.activeElement.outerHTML.slice(0, 120)")
        raise AssertionError(f"Tab does not come to {one_of}; it is at {at}")


Look = Callable[[str, str], None]


def play(page: Page, hand: Mouse, look: Look) -> str:
    """Play the default path: predict B and 75, all three optimisations on, the laptop's limit.

    Args:
        page: The mission's page, nothing done yet.
        hand: What answers.
        look: Called in every state on the way, with the element that changed and its state.

    Returns:
        The text of the exported file.
    """
    act_one(page, hand, look)
    act_two(page, hand, look)
    laptop(page, hand, look)
    return record(page, hand, look)


def act_one(page: Page, hand: Mouse, look: Look) -> None:
    """The first prediction, the ledger, the reveal, the trade-off, the sentence."""
    look("mission-guide", "before the first prediction")
    asked = page.locator(FIRST)
    asked.scroll_into_view_if_needed()
    hand.pick(asked.locator("input[value='2']"))
    hand.press(asked.get_by_role("button", name=COMMIT))
    ledger = page.locator("memory-ledger")
    ledger.scroll_into_view_if_needed()
    expect(ledger.locator("svg[role=img]").first).to_be_visible()
    look("memory-ledger", "open")
    hand.pick(ledger.get_by_role("radio", name="Adam", exact=True))
    page.locator("mission-reveal").scroll_into_view_if_needed()
    hand.press(page.get_by_role("button", name="Reveal what Adam adds"))
    expect(page.locator("mission-reveal")).to_contain_text("You predicted 3 GB")
    look("mission-reveal", "revealed")
    page.locator("mission-tradeoff").scroll_into_view_if_needed()
    for decision in (0, 1):  # worth it on the node, not worth it on the laptop
        both = page.locator("mission-tradeoff fieldset").nth(decision)
        hand.pick(both.get_by_role("radio").nth(decision))
    sentence = page.locator("mission-reflection[number='1']")
    sentence.scroll_into_view_if_needed()
    for place, value in enumerate(("2", "copies", "1.5")):
        hand.select(sentence.locator("select").nth(place), value)
    hand.press(sentence.get_by_role("button", name="Check"))
    expect(sentence).to_contain_text("Blank 3: not yet")
    look("mission-reflection", "the first one checked")


def act_two(page: Page, hand: Mouse, look: Look) -> None:
    """The second prediction, all three optimisations, and the record."""
    asked = page.locator(SECOND)
    asked.scroll_into_view_if_needed()
    hand.write(asked.get_by_role("textbox"), "75")
    hand.press(asked.get_by_role("button", name=COMMIT))
    analyzer = page.locator("pipeline-analyzer")
    analyzer.scroll_into_view_if_needed()
    expect(analyzer.locator("svg[role=img]").first).to_be_visible()
    look("pipeline-analyzer", "baseline")
    hand.press(analyzer.get_by_role("switch", name="Prefetching"))
    hand.pick(analyzer.get_by_role("radio", name="Mixed"))
    look("pipeline-analyzer", "near miss")
    hand.press(analyzer.get_by_role("switch", name="Checkpointing"))
    expect(analyzer).to_contain_text("Target reached")
    look("pipeline-analyzer", "target")
    hand.press(analyzer.get_by_role("button", name="Record this configuration"))


def laptop(page: Page, hand: Mouse, look: Look) -> None:
    """The moves to the limit, and what it is made of."""
    challenge = page.locator("laptop-challenge")
    challenge.scroll_into_view_if_needed()
    expect(challenge).to_contain_text("91.9 GB")
    for name in ("SGD", "Full recomputation", "batch 1"):
        hand.pick(challenge.get_by_role("radio", name=name, exact=True))
    expect(challenge).to_contain_text("13.34 GB")
    hand.pick(challenge.get_by_role("radio", name="Mixed"))
    expect(challenge).to_contain_text("Limit reached")
    look("laptop-challenge", "limit")
    hand.write(challenge.locator("#laptop-floor"), "12.46")
    hand.pick(challenge.locator("input[name=laptop-why]").nth(1))
    hand.press(challenge.get_by_role("button", name="Check"))
    look("laptop-challenge", "quantified")


def record(page: Page, hand: Mouse, look: Look) -> str:
    """The second reflection, the decision, and the file."""
    reflection = page.locator("mission-reflection[number='2']")
    reflection.scroll_into_view_if_needed()
    hand.pick(reflection.get_by_role("radio").nth(2))
    hand.press(reflection.get_by_role("button", name="Check").first)
    for place, value in enumerate(("4", "33", "recompute")):
        hand.select(reflection.locator("select").nth(place), value)
    hand.press(reflection.get_by_role("button", name="Check").last)
    panel = page.locator("mission-record")
    panel.scroll_into_view_if_needed()
    hand.pick(panel.locator("input[name=record-optimizer][value=adam]"))
    hand.press(panel.get_by_role("button", name="Show"))
    look("mission-record", "recorded")
    return panel.get_by_label("The design ledger’s text").input_value()


@pytest.fixture
def start(new_window: Callable[..., Page], site: str) -> Callable[..., Page]:
    """Open the mission in a fresh window."""

    def opener(**options: Any) -> Page:
        page = new_window(**options)
        page.goto(f"{site}mission/")
        return page

    return opener


def quietly(_: str, __: str) -> None:
    """Look at nothing."""


def check_file(text: str) -> None:
    """The file of the default path: valid, without a warning, and what the learner did."""
    ledger = json.loads(text)

    Draft202012Validator(schema()).validate(ledger)
    assert 39.3 == ledger["final_mfu_pct"]
    assert 75 == ledger["baseline_mfu_estimate_pct"]
    assert 13.34 == ledger["laptop_minimum_memory_gb"]
    assert "precision" == ledger["details"]["laptop_moves"][-1]["control"]
    assert "adam" == ledger["optimizer_chosen"]
    assert "mixed" == ledger["precision_chosen"]
    assert ledger["gradient_checkpointing"] is True
    assert ledger["laptop_fit_achieved"] is False


def test_by_keyboard_alone_and_again_on_a_second_visit(start: Callable[..., Page]) -> None:
    """Tab, arrows, Space and Enter lead to the file; after a reload all of it is still there."""
    page = start(reduced_motion="no-preference")
    text = play(page, Keyboard(page), quietly)
    before = kept_state(page)
    page.reload()
    page.locator("mission-record").scroll_into_view_if_needed()
    page.locator("mission-record").get_by_role("button", name="Show").click()
    again = page.get_by_label("The design ledger’s text").input_value()
    stamps = [json.loads(file)["details"]["exported_at"] for file in (text, again)]

    check_file(text)
    assert before == {**kept_state(page), "at": before["at"]}
    assert text == again.replace(stamps[1], stamps[0])


def test_by_mouse_clean_for_screen_readers_in_every_state(start: Callable[..., Page]) -> None:
    """Axe finds nothing in any state on the way, and nothing sticks out of the smallest screen."""
    page = start(bypass_csp=True)
    found: dict[str, list[str]] = {}

    def look(element: str, state: str) -> None:
        expect_accessible(page, element, state, "article")
        size = page.viewport_size
        page.set_viewport_size(SMALLEST)
        if problems := left(page, OVERFLOWS):
            found[state] = problems
        assert size
        page.set_viewport_size(size)

    check_file(play(page, Mouse(page), look))

    assert {} == found


def test_with_storage_denied(start: Callable[..., Page]) -> None:
    """The mission is played in memory, says so, and the file comes out all the same."""
    page = start(script=DENIED)

    check_file(play(page, Mouse(page), quietly))

    expect(page.locator(".mission-status")).to_contain_text("Not kept")


def test_after_a_damaged_state(start: Callable[..., Page]) -> None:
    """What cannot be read is put aside, and the mission is played from its beginning."""
    page = start()
    page.evaluate(f"() => localStorage.setItem({KEY!r}, '{{1')")
    page.reload()
    page.get_by_role("button", name="Start fresh").click()

    check_file(play(page, Mouse(page), quietly))

    assert "{1" == page.evaluate(f"() => localStorage.getItem({KEY + '.damaged'!r})")
