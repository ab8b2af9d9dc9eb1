"""The sentences that the learner completes: what is right, what is said, and what opens."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_code.mission.activations import activation_bytes
from lesson_code.mission.architecture import GPT2_XL
from lesson_code.mission.comparisons import mixed_saving
from lesson_site.mission.payload import build_payload
from tests.browser.missions import act_one_open, act_two_open, kept_state, open_mission
from tests.browser.states import expect_accessible

RIGHT = {1: ("2", "copies", "1.0"), 2: ("4", "33", "recompute")}


def reflection(page: Page, number: int) -> Locator:
    """The element, once it is drawn."""
    element = page.locator(f"mission-reflection[number='{number}']")
    element.scroll_into_view_if_needed()
    expect(element.locator("select").first).to_be_visible()
    return element


def answer(element: Locator, answers: tuple[str, ...]) -> None:
    """Fill the blanks and check them."""
    for index, value in enumerate(answers):
        element.locator("select").nth(index).select_option(value)
    element.get_by_role("button", name="Check").last.click()


@pytest.fixture
def revealed() -> dict[str, Any]:
    """A state in which Act 1 waits for its reflection."""
    state = act_one_open()
    state["act1"] |= {"seen": ["sgd", "adam"], "revealed": True}
    return state


@pytest.fixture
def first(browser: Browser, site: str, revealed: dict[str, Any]) -> Iterator[Page]:
    """The page with nothing reflected on yet."""
    page = open_mission(browser, site, revealed)
    yield page
    page.context.close()


@pytest.fixture
def second(browser: Browser, site: str) -> Iterator[Page]:
    """The page with Act 2 open."""
    page = open_mission(browser, site, act_two_open())
    yield page
    page.context.close()


def test_the_right_sentence_opens_act_two_and_shows_the_table(first: Page) -> None:
    """Three right answers are counted, the components are in a table, a link leads on."""
    element = reflection(first, 1)
    expect(first.locator("[data-mission-part='act-2']").first).to_have_attribute("inert", "")

    answer(element, RIGHT[1])

    expect(element.locator(".reflection-judged .mission-mark.right")).to_have_count(3)
    expect(first.locator(".mission-live")).to_have_text("3 of 3 right.")
    expect(element.get_by_role("button", name="Check")).to_be_focused()
    expect(element.get_by_role("link", name="Go to Act 2")).to_have_attribute("href", "#act-2")
    expect(first.locator("[data-mission-part='act-2']").first).not_to_have_attribute("inert", "")
    row = element.get_by_role("row", name="Activations, batch 1, store everything")
    expect(row).to_contain_text(f"{mixed_saving('activations', 'autocast'):.2f}×")
    expect_accessible(first, "mission-reflection", "right")
    first.reload()
    element = reflection(first, 1)
    expect(element.locator(".reflection-judged .mission-mark.right")).to_have_count(3)
    assert list(RIGHT[1]) == kept_state(first)["act1"]["reflection"]["answers"]


def test_nothing_is_checked_before_all_three_are_answered(first: Page) -> None:
    """The first blank without an answer is named and gets the focus; Act 2 stays closed."""
    element = reflection(first, 1)
    element.get_by_label("Blank 1").select_option("2")

    element.get_by_role("button", name="Check").click()

    expect(element.get_by_label("Blank 2")).to_be_focused()
    expect(element.locator(".mission-error")).to_have_text("Blank 2 has no answer yet.")
    expect_accessible(first, "mission-reflection", "a blank is empty")
    expect(element.locator("table")).to_have_count(0)
    expect(element.get_by_role("link", name="Go to Act 2")).to_have_count(0)


@pytest.mark.parametrize("number", [1, 2])
def test_every_wrong_answer_gets_its_own_sentence(second: Page, number: int) -> None:
    """Only the right option of each blank is right; the others are answered one by one."""
    element = reflection(second, number)
    blanks = build_payload()["reflections"][str(number)]["blanks"]

    for index, blank in enumerate(blanks):
        for value, says in blank["wrong_says"].items():
            tried = tuple(value if at == index else right for at, right in enumerate(RIGHT[number]))
            answer(element, tried)

            judged = element.locator(".reflection-judged li")
            expect(judged.locator(".right")).to_have_count(2)
            expect(judged.nth(index)).to_have_text(f"{blank['label']}: not yet. {says}")
    assert 9 == sum(len(blank["wrong_says"]) for blank in blanks)
    expect(second.locator(".mission-live")).to_have_text(f"2 of 3 right. Blank 3: {says}")


@pytest.mark.parametrize("size", [(1280, 900), (390, 800)])
def test_the_verdict_comes_into_view_and_marks_each_blank(
    browser: Browser, site: str, revealed: dict[str, Any], size: tuple[int, int]
) -> None:
    """However far down the button is, the whole answer to it is seen, and where it belongs."""
    page = open_mission(browser, site, revealed)
    element = reflection(page, 1)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    check = element.get_by_role("button", name="Check")
    for index, value in enumerate(("4", "copies", "2")):
        element.locator("select").nth(index).select_option(value)
    # The button at the lower edge: what comes below it is out of sight.
    check.evaluate("button => button.scrollIntoView({ block: 'end' })")

    check.click()

    expect(element.locator(".reflection-judged")).to_be_in_viewport(ratio=1)
    signs = element.locator(".reflection-sentence .mission-mark")
    expect(signs).to_have_class([f"mission-mark {each}" for each in ("wrong", "right", "wrong")])
    element.get_by_label("Blank 1").select_option("2")
    expect(signs).to_have_count(2)
    page.context.close()


def test_a_changed_answer_is_judged_when_it_is_checked_again(first: Page) -> None:
    """After a change nothing is said to the blank until the next check; Act 2 stays open."""
    element = reflection(first, 1)
    answer(element, ("4", "int8", "2"))
    judged = element.locator(".reflection-judged li")
    expect(judged.locator(".wrong")).to_have_count(3)

    element.get_by_label("Blank 3").select_option("1.0")

    expect(judged).to_have_count(2)
    expect(element.get_by_role("link", name="Go to Act 2")).to_be_visible()
    element.get_by_role("button", name="Check").click()
    expect(judged).to_have_count(3)
    expect(judged.nth(2)).to_contain_text("Blank 3: right")


def test_the_most_effective_fix_is_prefetching(second: Page) -> None:
    """A wrong fix gets its own number alone; the right one brings the numbers of all others."""
    element = reflection(second, 2)
    check = element.get_by_role("button", name="Check").first
    check.click()
    expect(element.get_by_role("radio").first).to_be_focused()

    element.get_by_role("radio", name="A.").check()
    check.click()

    said = element.locator(".reflection-choice > div").last
    expect(said.locator(".wrong")).to_have_text("A: not yet")
    expect(said).to_contain_text("×1.21")
    expect(said).not_to_contain_text("×1.58")
    expect_accessible(second, "mission-reflection", "the wrong fix")
    element.get_by_role("radio", name="C.").check()
    expect(said).to_be_empty()
    check.click()
    expect(said.locator(".right")).to_have_text("C: right")
    for number in ("×1.21", "40 %", "×1.58", "5 %", "×0.94"):
        expect(said).to_contain_text(number)
    kept = kept_state(second)["act2"]["reflection"]
    assert ("C", True) == (kept["choice"], kept["choice_checked"])


def test_the_chapters_figures_stand_beside_the_formula(second: Page) -> None:
    """4× and 33 % are the textbook's; the model's own numbers follow once they are checked."""
    element = reflection(second, 2)
    expect(element.locator(".reflection-sentence")).to_contain_text("In the textbook’s walkthrough")

    answer(element, RIGHT[2])

    saving = activation_bytes("autocast", "none", 1, GPT2_XL) / activation_bytes(
        "autocast", "full", 1, GPT2_XL
    )
    expect(element.locator(".reflection-judged .right")).to_have_count(3)
    expect(element).to_contain_text(f"{saving:.1f}× for every layer under autocast")
    expect(element).to_contain_text("33.3 % of the layers’ work")


def test_long_answers_can_be_read_on_a_narrow_screen(
    browser: Browser, site: str, revealed: dict[str, Any]
) -> None:
    """What a closed list cuts off is written out below, and nothing scrolls sideways."""
    page = open_mission(browser, site, revealed, viewport={"width": 320, "height": 800})
    element = reflection(page, 1)

    answer(element, RIGHT[1])

    options = build_payload()["reflections"]["1"]["blanks"][1]["options"]
    for _, text in options:
        expect(element.locator(".reflection-options")).to_contain_text(text)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.context.close()
