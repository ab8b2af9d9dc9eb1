"""Kept task lists and the summary of a quiz, as a learner meets them in a browser.

They run on a small site of their own, served below a sub-path, so that they hold whatever the
pages of the foundations say.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DENIED, small_site
from tests.browser.states import expect_accessible

LAB = """\
# Lab: six steps { #lab }

[To the quiz](quiz.md)

## Step 1 { #step-1 }

<kept-tasks id="lab-step-1" markdown>

- [ ] **auto** `.venv` exists
- [ ] **self** it is [the right one](quiz.md)

</kept-tasks>

## Step 2 { #step-2 }

<kept-tasks id="lab-step-2" markdown>

- [ ] gradients predicted

</kept-tasks>

<learner-record></learner-record>
"""
QUIZ = """\
# Quiz { #quiz }

//// check | Choose
    id: first
    kind: choice
    choices: [wrong: It comes first., right]
    right: 2
Which one?

/// answer
The second.
///
////

//// check | Explain
    id: second
    kind: sentence
    must: [a cause, a reason]
Why?

/// answer
Because.
///
////

<quiz-summary markdown>

1. [Choose](#first): [step 1](lab.md#step-1)
2. [Explain](#second): [step 2](lab.md#step-2)

</quiz-summary>
"""
TASKS = "gpu-training.tasks.v1"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The small site, served below ``/some/course/``."""
    pages = {"index.md": "# Start\n\nText.\n", "lab.md": LAB, "quiz.md": QUIZ}
    with small_site(tmp_path_factory.mktemp("tasks"), pages, below="some/course") as course:
        yield course


Opener = Callable[..., Page]


@pytest.fixture
def open_page(new_window: Opener, course: str) -> Opener:
    """Open a page of the small site in a fresh window, and wait for its scripts."""

    def opener(path: str, **options: Any) -> Page:
        page = new_window(**options)
        page.goto(course + path)
        if options.get("java_script_enabled", True):
            woken = ".tasks-progress" if path == "lab/" else ".quiz-total"
            expect(page.locator(woken).first).not_to_be_empty()
        return page

    return opener


def box(page: Page, name: str) -> Locator:
    """The checkbox with that label."""
    return page.get_by_role("checkbox", name=name)


def test_without_javascript_tasks_are_read_and_cannot_be_ticked(open_page: Opener) -> None:
    """Each task has its box and its words, and nothing pretends to keep a tick."""
    page = open_page("lab/", java_script_enabled=False)

    expect(page.get_by_role("checkbox", disabled=True)).to_have_count(3)
    expect(page.locator("kept-tasks")).to_contain_text([".venv exists", "gradients predicted"])
    expect(page.get_by_role("button", name="Export as a note")).to_have_count(0)


def test_ticks_survive_a_reload_and_can_be_taken_back(open_page: Opener) -> None:
    """What was ticked is ticked on the next visit; what was unticked is not."""
    page = open_page("lab/")
    box(page, ".venv exists").check()
    box(page, "gradients predicted").check()
    box(page, "gradients predicted").uncheck()

    page.reload()

    expect(box(page, ".venv exists")).to_be_checked()
    expect(box(page, "gradients predicted")).not_to_be_checked()
    expect(page.locator(".tasks-progress")).to_have_text(["1 of 2 done.", "0 of 1 done."])


def test_tasks_are_ticked_with_the_keyboard(open_page: Opener) -> None:
    """A box takes the focus and the space bar."""
    page = open_page("lab/")

    box(page, ".venv exists").focus()
    page.keyboard.press("Space")

    expect(box(page, ".venv exists")).to_be_checked()


def test_ticks_belong_to_the_learners_record(open_page: Opener) -> None:
    """The record counts them, and forgets them with the rest."""
    page = open_page("lab/")
    box(page, ".venv exists").check()
    count = page.locator(".learner-record-count")

    expect(count).to_contain_text("1 ticked task")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget all").click()

    expect(box(page, ".venv exists")).not_to_be_checked()
    expect(count).not_to_contain_text("ticked")


def test_a_record_from_elsewhere_ticks_the_boxes(open_page: Opener) -> None:
    """An import is shown at once."""
    page = open_page("lab/")
    task = {"lab-step-2-gradients-predicted": {"done": True, "at": "2026-11-21T10:00:00.000Z"}}
    record = {"format": "gpu-training.record", "version": 1, "kept": {TASKS: task}}

    page.locator("learner-record input[type=file]").set_input_files(
        {"name": "r.json", "mimeType": "application/json", "buffer": json.dumps(record).encode()}
    )

    expect(box(page, "gradients predicted")).to_be_checked()


def test_one_button_exports_all_lists_of_the_page_as_a_note(open_page: Opener) -> None:
    """The note has the page's title, its headings, and what is ticked and open."""
    page = open_page("lab/")
    box(page, ".venv exists").check()
    button = page.get_by_role("button", name="Export as a note")

    expect(button).to_have_count(1)
    with page.expect_download() as download:
        button.click()

    note = Path(download.value.path()).read_text(encoding="utf-8")
    assert note.startswith("# Lab: six steps\n\n20")
    assert ", 1 of 3 done.\n" in note
    assert "\n## Step 1\n\n- [x] **auto** `.venv` exists\n" in note
    assert "- [ ] **self** it is the right one\n\n## Step 2\n\n- [ ] gradients predicted\n" in note
    assert download.value.suggested_filename.startswith("lab-six-steps-20")
    expect(page.locator(".tasks-message")).to_contain_text("Exported to lab-six-steps-")
    expect_accessible(page, "kept-tasks", "ticked and exported", "article")


def test_where_nothing_can_be_kept_ticks_last_and_the_page_says_so(open_page: Opener) -> None:
    """A browser that denies storage still lets a learner tick and export."""
    page = open_page("lab/", script=DENIED)

    box(page, ".venv exists").check()

    expect(box(page, ".venv exists")).to_be_checked()
    expect(page.locator(".tasks-progress").first).to_contain_text("keeps nothing for this site")
    expect_accessible(page, "kept-tasks", "not kept")


def test_tasks_wake_up_after_an_instant_navigation(open_page: Opener) -> None:
    """Coming back from another page without a load, ticks are there and can be changed."""
    page = open_page("lab/")
    box(page, ".venv exists").check()

    page.get_by_role("link", name="To the quiz").click()
    expect(page.locator(".quiz-total")).not_to_be_empty()
    page.go_back()

    expect(box(page, ".venv exists")).to_be_checked()
    box(page, "gradients predicted").check()
    expect(page.get_by_role("button", name="Export as a note")).to_have_count(1)


def test_without_javascript_the_summary_is_a_list_of_questions_and_parts(
    open_page: Opener,
) -> None:
    """Each question stands with the part to read, and both are links."""
    page = open_page("quiz/", java_script_enabled=False)

    expect(page.locator("quiz-summary li")).to_have_text(["Choose: step 1", "Explain: step 2"])
    expect(page.locator("quiz-summary a")).to_have_count(4)


def choose(page: Page, text: str) -> None:
    """Commit an answer to the first question."""
    first = page.locator("lesson-check#first")
    first.locator(".check-choices").get_by_text(text, exact=True).click()
    first.get_by_role("button", name="Commit my prediction").click()


def test_a_quiz_that_nobody_answered_says_so(open_page: Opener) -> None:
    """Nothing is marked before there is an answer."""
    page = open_page("quiz/")

    expect(page.locator(".quiz-total")).to_have_text("You have answered none of the 2 yet.")
    expect(page.locator('[data-outcome="open"]')).to_have_count(2)
    expect_accessible(page, "quiz-summary", "not answered")


@pytest.mark.parametrize(("text", "outcome"), [("right", "agreed"), ("wrong", "missed")])
def test_a_chosen_answer_is_judged(open_page: Opener, text: str, outcome: str) -> None:
    """What agreed and what was missed are in the list at once, and after a reload."""
    page = open_page("quiz/")
    item = page.locator("quiz-summary li").first

    choose(page, text)
    expect(item).to_have_attribute("data-outcome", outcome)
    page.reload()

    expect(item).to_have_attribute("data-outcome", outcome)
    expect(item.get_by_role("link", name="step 1")).to_be_visible()
    expect(page.locator(".quiz-total")).to_contain_text("You have answered 1 of 2")


@pytest.mark.parametrize(("button", "outcome"), [("I had it", "agreed"), ("Reread", "missed")])
def test_a_sentence_is_judged_by_its_writer(open_page: Opener, button: str, outcome: str) -> None:
    """Two buttons ask how it went; the answer is kept, and the focus stays in the list."""
    page = open_page("quiz/")
    second = page.locator("lesson-check#second")
    item = page.locator("quiz-summary li").nth(1)
    second.get_by_label("In a sentence or two").fill("Because it must be so.")
    second.get_by_role("button", name="Commit my prediction").click()
    if outcome == "agreed":
        expect_accessible(page, "quiz-summary", "asks how it went")

    item.get_by_role("button", name=button).click()

    expect(item).to_have_attribute("data-outcome", outcome)
    expect(item.get_by_role("button")).to_have_count(0)
    expect(item.get_by_role("link", name="Explain")).to_be_focused()
    if outcome == "missed":
        choose(page, "right")
        expect_accessible(page, "quiz-summary", "agreed and missed", "article")
    page.reload()
    expect(item).to_have_attribute("data-outcome", outcome)


def test_predicting_again_reopens_the_question(open_page: Opener) -> None:
    """The summary follows the record."""
    page = open_page("quiz/")
    choose(page, "wrong")

    page.get_by_role("button", name="Predict again").click()

    expect(page.locator(".quiz-total")).to_have_text("You have answered none of the 2 yet.")
