"""The timeline in a page: pressing, walking and choosing, by pointer and keyboard; no script."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from lesson_site.timeline import drawing, told
from results.timeline import LIKELY, Choice, runs_of
from results.timeline_measured import own
from tests.browser.conftest import LOOKS, new_context
from tests.browser.states import expect_accessible

PAGE = "gpu-training/when-a-gpu-helps/"


@pytest.fixture
def lesson(browser: Browser, site: str) -> Iterator[Page]:
    """The lesson's page in a window of its own."""
    with new_context(browser, LOOKS[0]) as context:
        yield opened(context, site)


def opened(context: BrowserContext, site: str) -> Page:
    """The lesson's page, scrolled to the timeline, which has woken up."""
    page = context.new_page()
    page.goto(site + PAGE)
    page.locator("training-timeline").scroll_into_view_if_needed()
    page.locator("training-timeline:defined").wait_for()
    return page


def expect_told(page: Page, choice: Choice) -> None:
    """The page says and draws what Python says and draws."""
    runs = runs_of(choice, own())
    expect(page.locator(".timeline-says p")).to_have_text(told.sentences(choice, runs))
    expect(page.locator("training-timeline figcaption")).to_have_text(
        told.title(choice, drawing.steps_shown(choice))
    )
    blocks = drawing.blocks_shown(runs[LIKELY], drawing.steps_shown(choice))
    expect(page.locator("training-timeline [data-block]")).to_have_count(len(blocks))


def test_six_presses_show_the_whole_argument(lesson: Page) -> None:
    """Each tells its own story; the seventh leads back to the textbook loop."""
    button = lesson.locator("[data-do=move]")
    choice = Choice()
    expect_told(lesson, choice)

    for _ in range(6):
        move = told.next_move(choice)
        expect(button).to_have_text(move.question)
        before, choice = choice, move.choice
        button.press("Enter")
        expect_told(lesson, choice)
        said = told.moved(move, runs_of(before, own()))
        expect(lesson.locator(".timeline-moved")).to_have_text(said)

    button.press("Enter")
    expect_told(lesson, Choice())
    expect(lesson.locator(".timeline-moved")).to_be_empty()


def test_every_block_can_be_walked_to(lesson: Page) -> None:
    """Forwards from the first, backwards to the last; one is marked, and it says what it is."""
    runs = runs_of(Choice(), own())
    blocks = drawing.blocks_shown(runs[LIKELY], drawing.steps_shown(Choice()))
    said, marked = lesson.locator(".timeline-block"), lesson.locator("[data-block].now")

    for block in blocks[:3]:
        lesson.locator("[data-do=next]").press("Enter")
        expect(said).to_have_text(told.told_of(block, Choice()))
    expect(marked).to_have_attribute("data-block", "2")

    for _ in range(3):
        lesson.locator("[data-do=back]").press("Enter")
    expect(said).to_have_text(told.told_of(blocks[-1], Choice()))
    expect(marked).to_have_count(1)


def test_a_block_that_is_pressed_says_what_it_is(lesson: Page) -> None:
    """The first one, in which Python prepares a batch; before it and after another choice, how."""
    said = lesson.locator(".timeline-block")
    hint = said.inner_text()
    assert hint.strip()

    lesson.locator('[data-block="0"]').click()
    expect(said).to_contain_text("Python prepares a batch")

    lesson.locator("[data-do=move]").press("Enter")
    expect(said).to_have_text(hint)


def test_everything_can_be_chosen(lesson: Page) -> None:
    """Lists and switches; with the images on the GPU those of the loader are closed."""
    lesson.locator("training-timeline summary").press("Enter")
    choose = {"model": "large", "batch": "1024", "images": "slow", "workers": "2"}
    for name, value in choose.items():
        lesson.locator(f"training-timeline select[name={name}]").select_option(value)
    lesson.locator("input[name=pinned]").check()
    choice = Choice("large", 1024, "slow", 2, pinned=True)
    expect_told(lesson, choice)

    lesson.locator("training-timeline select[name=images]").select_option("device")
    expect(lesson.locator("training-timeline select[name=workers]")).to_be_disabled()
    expect(lesson.locator("input[name=pinned]")).to_be_disabled()
    expect_accessible(lesson, "training-timeline", "choices that are closed")


def test_the_card_is_the_reader_s_for_the_whole_page(
    browser: Browser, site_without_a_gpu: str
) -> None:
    """Chosen here it changes the page's list of cards, and chosen there it changes the picture."""
    with browser.new_context(reduced_motion="reduce") as context:
        lesson = opened(context, site_without_a_gpu)
        lesson.locator("training-timeline summary").press("Enter")
        lesson.locator("training-timeline select[name=card]").select_option("h100")
        expect(lesson.locator("reader-card select")).to_have_value("h100")
        expect_told(lesson, Choice(card="h100"))

        lesson.locator("reader-card select").select_option("rtx-4090")
        expect_told(lesson, Choice(card="rtx-4090"))


def test_time_passes_when_the_reader_asks(browser: Browser, site: str) -> None:
    """The picture plays, and a new choice ends it."""
    with browser.new_context(reduced_motion="no-preference") as context:
        page = opened(context, site)
        drawn = page.locator(".timeline-drawing")
        page.locator("[data-do=play]").click()
        expect(drawn).to_have_class(re.compile("playing"))

        page.locator("[data-do=move]").click()
        expect(drawn).not_to_have_class(re.compile("playing"))


def test_nothing_moves_for_those_who_asked_for_it(lesson: Page) -> None:
    """With reduced motion there is no Play; everything else is there."""
    expect(lesson.locator("[data-do=next]")).to_be_visible()
    expect(lesson.locator("[data-do=play]")).to_be_hidden()


def test_it_reads_without_a_script(browser: Browser, site: str) -> None:
    """The picture and its sentences are there, and nothing is offered that does not work."""
    with new_context(browser, LOOKS[0], javascript=False) as context:
        page = context.new_page()
        page.goto(site + PAGE)

        expect_told(page, Choice())
        expect(page.locator("training-timeline button:visible")).to_have_count(0)
        expect(page.locator("training-timeline :is(select, input):visible")).to_have_count(0)


def test_every_state_is_accessible(lesson: Page) -> None:
    """From the textbook loop to the top, with a block told and the controls open."""
    lesson.locator("training-timeline summary").click()
    for _ in range(7):
        lesson.locator("[data-do=next]").click()
        expect_accessible(lesson, "training-timeline", "after each press")
        lesson.locator("[data-do=move]").click()
