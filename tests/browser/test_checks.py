"""Checks, the learner's record and progress, as a learner meets them in a browser.

They run on a small site with one check of each kind, served below a sub-path, so that they hold
whatever the lesson's pages say.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import DENIED, fresh_windows, small_site
from tests.browser.states import expect_accessible

HOME = """\
# Start

<continue-reading>[Start the lesson](gpu-training/all-kinds.md){ .md-button }</continue-reading>
"""
CHECKS = """\
# 5. All kinds { #all-kinds }

[To the other page](another.md)

//// check | Choose
    id: choose
    kind: choice
    choices: [the first: The first comes too early., "a `RuntimeError`", the third: Too *late*.]
    right: 2
Which one?

/// answer
The *second* one.
///
////

## Numbers { #numbers }

//// check | Count
    id: count
    kind: number
    right: 1200
    tolerance: 0.1
    unit: batches
    replies:
      7: Seven are the batches of a toy.
How many?

/// answer
About twelve hundred.
///
////

//// check | Pick the line
    id: pick
    kind: line
    code: gpu_training/loop_cpu.py:loop
    right: loss.backward()
    replies:
      optimizer.step: It uses the gradients, which must be there by then.
      "": It computes none.
Which line computes the gradients?

/// answer
The one in the middle.
///
////

//// check | Explain
    id: explain
    kind: sentence
    must: [a step has *fixed* costs, the model is small]
Why?

/// answer
Because of the fixed costs.
///
////

/// after | explain
## What the clock says { #clock }

Much more than you think.
///

//// check | Place
    id: put
    kind: place
    code: gpu_training/loop_gpu.py:loop
    without: gpu_training/loop_cpu.py:loop
    places:
      "device =":
        before: ["model =", "optimizer ="]
        reply: It is asked below.
      model.to:
        before: ["optimizer ="]
        reply: The model has to exist.
      images, labels =:
        before: [optimizer.zero_grad]
        reply: Once for each batch.
Where do they go?

/// answer
Where they are needed.
///
////

//// check | Match
    id: sort
    kind: match
    options: [data, code]
    rows:
      a tensor:
        is: data
        reply: It is data.
      a pickled object:
        is: code
        reply: It runs when it is opened.
Which is which?

/// answer
So.
///
////

<learner-record></learner-record>
"""
KINDS = ["choose", "count", "pick", "explain", "put", "sort"]
SENTENCE = "There is too little work in a step."
KEY = "gpu-training.checks.v1"
AT = "2026-11-21T10:00:00.000Z"
CHECKED = "lesson-check, .check-after"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The small site, served below ``/some/course/``."""
    pages = {
        "index.md": HOME,
        "gpu-training/all-kinds.md": CHECKS,
        "gpu-training/another.md": "# 6. Another { #another }\n\nText.\n",
    }
    with small_site(tmp_path_factory.mktemp("checks"), pages, below="some/course") as course:
        yield course


Opener = Callable[..., Page]


@contextmanager
def opening(browser: Browser, course: str) -> Iterator[Opener]:
    """Open a page of the small site in a fresh window, and wait for its checks."""
    with fresh_windows(browser) as new_window:

        def opener(path: str = "gpu-training/all-kinds/", **options: object) -> Page:
            page = new_window(**options)
            page.goto(course + path)
            if options.get("java_script_enabled", True) and path.startswith("gpu-training/all"):
                for name in KINDS:
                    expect(check(page, name)).to_have_attribute("data-state", "asking")
            return page

        yield opener


@pytest.fixture
def open_page(browser: Browser, course: str) -> Iterator[Opener]:
    """Opens pages for one test."""
    with opening(browser, course) as opener:
        yield opener


@pytest.fixture(scope="module")
def pages_by_test(browser: Browser, course: str) -> Iterator[Callable[[str], Page]]:
    """The page with all kinds, once for each name of a test."""
    with opening(browser, course) as opener:
        yield cache(lambda _: opener())


@pytest.fixture
def shared_page(request: pytest.FixtureRequest, pages_by_test: Callable[[str], Page]) -> Page:
    """The page on which the same test asks each kind of check, as one leaves the others alone."""
    return pages_by_test(request.function.__name__)


def check(page: Page, name: str) -> Locator:
    """The check with that id; it wakes when a reader comes near."""
    found = page.locator(f"lesson-check#{name}")
    found.scroll_into_view_if_needed()
    return found


def predict(page: Page, name: str, right: bool = True) -> Locator:
    """Commit a prediction with the mouse, and give back the check."""
    here = check(page, name)
    if name == "choose":
        here.get_by_text("a RuntimeError" if right else "the third").first.click()
    elif name == "count":
        here.get_by_label("batches").fill("1,100" if right else "7")
    elif name == "pick":
        here.get_by_text("loss.backward()" if right else "optimizer.step()").first.click()
    elif name == "sort":
        here.get_by_role("radiogroup", name="a tensor").get_by_text("data").click()
        other = here.get_by_role("radiogroup", name="a pickled object")
        other.get_by_text("code" if right else "data").click()
    elif name == "put":
        for below in ("model = ", "optimizer = " if right else "model = ", "optimizer.zero_grad"):
            here.get_by_role("button", name=f"Place it before: {below}").click()
    else:
        here.get_by_label("In a sentence or two").fill(SENTENCE)
    here.get_by_role("button", name="Commit my prediction").click()
    return here


# The verdict, and what was typed beside what is right.
WORDS: dict[str, tuple[str, list[str]]] = {
    "choose": ("Right.", []),
    "count": ("Right: close enough.", ["1100 batches", "1200 batches"]),
    "pick": ("Right.", []),
    "explain": ("Compare with the answer, and tick what your sentence says too.", [SENTENCE]),
    "put": ("Right.", []),
    "sort": ("Right.", []),
}


def expect_committed(here: Locator, name: str) -> None:
    """The verdict is said, the learner's own answer is marked or told, and the answer is open."""
    verdict, told = WORDS[name]
    expect(here).to_have_attribute("data-state", "committed")
    expect(here.locator(".check-yours > p")).to_have_text(verdict)
    expect(here.locator(".check-yours dd")).to_have_text(told)
    if name in ("choose", "pick"):
        expect(here.locator(".check-chosen.check-right")).to_have_count(1)
    expect(here.locator(".check-answer-text")).to_be_visible()
    expect(here.locator(".check-answer > summary")).to_have_text("Answer")
    expect(here.get_by_role("button", name="Commit my prediction")).to_have_count(0)


def test_without_javascript_everything_reads_and_answers_open(open_page: Opener) -> None:
    """Questions, choices and code lines are there, and each answer opens by its summary."""
    page = open_page(java_script_enabled=False)

    expect(page.locator(".check-choices li")).to_have_text(
        ["the first", "a RuntimeError", "the third"]
    )
    expect(page.locator("#pick .check-lines")).to_contain_text("loss.backward()")
    expect(page.locator("form.check-form")).to_have_count(0)
    for name in KINDS:
        expect(check(page, name).locator(".check-answer-text")).to_be_hidden()
        check(page, name).locator(".check-answer > summary").click()
        expect(check(page, name).locator(".check-answer-text")).to_be_visible()


@pytest.mark.parametrize("name", KINDS)
def test_committing_by_mouse(shared_page: Page, name: str) -> None:
    """A prediction made with the mouse is shown beside the answer, and focus moves to it."""
    page = shared_page

    here = predict(page, name)

    expect_committed(here, name)
    expect(here.locator(".check-yours > p")).to_be_focused()


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on the button whose name begins so."""
    named = "(e => e.ariaLabel ?? e.textContent)(document.activeElement)"
    for _ in range(40):
        if page.evaluate(named).startswith(name):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name!r}")


@pytest.mark.parametrize("name", KINDS)
def test_committing_by_keyboard_alone(shared_page: Page, name: str) -> None:
    """Tab, arrows, space, text and Enter are enough for every kind."""
    page = shared_page
    here = check(page, name)
    for _ in range(80):
        page.keyboard.press("Tab")
        if here.locator(":is(input, textarea):focus").count():
            break

    if name == "choose":
        page.keyboard.press("ArrowDown")
    elif name == "count":
        page.keyboard.type("1100")
    elif name == "sort":
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
    elif name == "put":
        for below in ("model = ", "optimizer = ", "optimizer.zero_grad"):
            tab_to(page, f"Place it before: {below}")
            page.keyboard.press("Space")
        tab_to(page, "Commit my prediction")
    elif name == "pick":
        page.keyboard.press("Space")
        while "loss.backward()" not in here.locator("li:has(input:checked)").inner_text():
            page.keyboard.press("ArrowDown")
    else:
        page.keyboard.type(SENTENCE)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect_committed(here, name)


@pytest.mark.parametrize(
    ("name", "verdict", "reply"),
    [
        ("choose", "Not this one.", "Too late."),
        ("count", "Not quite.", "Seven are the batches of a toy."),
        ("pick", "Not this one.", "It uses the gradients, which must be there by then."),
        ("put", "Not all of them.", "model.to(device): The model has to exist."),
        ("sort", "Not all of them.", "a pickled object: It runs when it is opened."),
    ],
)
def test_a_wrong_prediction_has_its_reply(
    shared_page: Page, name: str, verdict: str, reply: str
) -> None:
    """The verdict does not depend on colour, and the reply is the one to what was chosen."""
    page = shared_page

    here = predict(page, name, right=False)

    expect(here.locator(".check-verdict")).to_have_text(verdict)
    expect(here.locator(".check-reply")).to_have_text(reply)


def test_an_unused_gap_takes_no_room_once_committed(open_page: Opener) -> None:
    """The listing has the lines that are there and those that were placed, and no row beside."""
    here = predict(open_page(), "put")

    expect(here.locator(".check-gap:has(.check-put)")).to_have_count(3)
    expect(here.locator(".check-gap").filter(visible=True)).to_have_count(3)


def test_ticks_say_what_the_sentence_had(open_page: Opener) -> None:
    """They are kept with the prediction; all of them together mean that its writer had it."""
    page = open_page()
    here = predict(page, "explain")
    outcome = "document.getElementById('explain').outcome"

    here.get_by_label("a step has fixed costs").check()
    one = page.evaluate(outcome)
    here.get_by_label("the model is small").check()
    page.reload()

    expect(check(page, "explain").get_by_role("checkbox", checked=True)).to_have_count(2)
    assert ["missed", "agreed"] == [one, page.evaluate(outcome)]


def test_what_answers_a_check_is_covered_until_then(open_page: Opener) -> None:
    """It opens with the prediction, closes with a new one, and opens for anyone who asks."""
    page = open_page()
    told = page.get_by_text("Much more than you think.")
    expect(told).to_be_hidden()

    here = predict(page, "explain")
    expect(told).to_be_visible()
    here.get_by_role("button", name="Predict again").click()
    expect(told).to_be_hidden()
    page.get_by_text("Predict first, or open it").click()

    expect(told).to_be_visible()
    expect(here).to_have_attribute("data-state", "asking")


@pytest.mark.parametrize("script", [True, False])
def test_a_link_to_a_covered_heading_uncovers_it(open_page: Opener, script: bool) -> None:
    """Nobody who was sent there has to look for it."""
    page = open_page("gpu-training/all-kinds/#clock", java_script_enabled=script)

    expect(page.get_by_text("Much more than you think.")).to_be_visible()


def test_all_answers_can_be_shown_at_once_and_covered_again(open_page: Opener) -> None:
    """The wish holds on every page until it is taken back, and predicting stays possible."""
    page = open_page()
    here = check(page, "count")
    here.get_by_text("Show the answer without predicting").click()
    here.get_by_role("button", name="Show all answers, on every page").click()
    page.reload()

    for name in KINDS:
        expect(check(page, name).locator(".check-answer-text")).to_be_visible()
    expect(page.get_by_text("Much more than you think.")).to_be_visible()
    expect_accessible(page, "lesson-check", "all answers shown", CHECKED)
    expect_committed(predict(page, "choose"), "choose")
    here.get_by_role("button", name="Cover the answers again").click()

    expect(here.locator(".check-answer-text")).to_be_hidden()
    expect(check(page, "choose").locator(".check-answer-text")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("choose", "Choose one of the answers first."),
        ("count", "Type a number first, such as 12 or 0.5."),
        ("pick", "Choose a line first."),
        ("explain", "Write a sentence first; a short one will do."),
        ("put", "Place every line first: choose one, then press a gap."),
        ("sort", "Choose one for each first."),
    ],
)
def test_committing_nothing_says_what_is_missing(
    shared_page: Page, name: str, sentence: str
) -> None:
    """The check stays as it was, says what to do in sight, and moves focus to what is missing."""
    page = shared_page
    here = check(page, name)

    here.get_by_role("button", name="Commit my prediction").click()

    expect(here.get_by_role("status")).to_have_text(sentence)
    expect(here.get_by_text(sentence)).to_be_in_viewport(ratio=1)
    expect(here).to_have_attribute("data-state", "asking")
    expect(here.locator("input, textarea").first).to_be_focused()


def test_the_marked_lines_are_whole_on_a_phone(open_page: Opener) -> None:
    """Their code is not cut off by the words beside it."""
    page = open_page()
    page.set_viewport_size({"width": 390, "height": 800})
    here = predict(page, "pick", right=False)

    marked = here.locator(".check-chosen label > span, .check-right label > span")
    expect(marked).to_have_count(2)
    assert [True] * 2 == marked.evaluate_all(
        "spans => spans.map((span) => span.scrollWidth <= span.clientWidth"
        " && span.clientWidth >= 0.7 * span.parentElement.clientWidth)"
    )


def test_the_answer_opens_without_a_prediction(open_page: Opener) -> None:
    """Nobody has to predict: the answer is one press away, and predicting stays possible."""
    page = open_page()
    here = check(page, "choose")

    here.get_by_text("Show the answer without predicting").press("Enter")

    expect(here.locator(".check-answer-text")).to_be_visible()
    expect(here).to_have_attribute("data-state", "asking")
    expect_committed(predict(page, "choose"), "choose")


def test_predictions_are_there_after_a_reload(open_page: Opener) -> None:
    """All kinds come back as they were committed."""
    page = open_page()
    for name in KINDS:
        predict(page, name)

    page.reload()

    for name in KINDS:
        expect_committed(check(page, name), name)


def test_predictions_survive_instant_navigation(open_page: Opener) -> None:
    """Checks wake up by themselves when Material swaps the page."""
    page = open_page()
    predict(page, "choose")
    page.evaluate("window.samePage = true")

    page.get_by_role("link", name="To the other page").click()
    expect(page.locator("h1")).to_contain_text("6. Another")
    page.go_back()

    expect_committed(check(page, "choose"), "choose")
    expect(check(page, "count")).to_have_attribute("data-state", "asking")
    assert page.evaluate("window.samePage") is True


def test_predicting_again_resets_that_check_alone(open_page: Opener) -> None:
    """The others keep their predictions, and focus returns to the question."""
    page = open_page()
    predict(page, "count")
    here = predict(page, "choose")

    here.get_by_role("button", name="Predict again").click()

    expect(here).to_have_attribute("data-state", "asking")
    expect(here.locator("input").first).to_be_focused()
    expect(here.locator("input:checked")).to_have_count(0)
    expect(here.locator(".check-answer-text")).to_be_hidden()
    page.reload()
    expect(check(page, "choose")).to_have_attribute("data-state", "asking")
    expect_committed(check(page, "count"), "count")


def test_a_committed_prediction_is_announced_to_other_scripts(open_page: Opener) -> None:
    """The event carries id, kind, value and whether it was right."""
    page = open_page()
    page.evaluate(
        "document.addEventListener('check-committed', (event) => { window.heard = event.detail; })"
    )

    predict(page, "count", right=False)

    expected = {"id": "count", "kind": "number", "value": 7, "right": False}
    assert page.evaluate("window.heard") == expected


def test_denied_storage_is_said_once_and_predicting_works(open_page: Opener) -> None:
    """One polite sentence; the prediction stays until the page is closed."""
    page = open_page(script=DENIED)

    first, second = predict(page, "choose"), predict(page, "count")

    expect(first.get_by_role("status")).to_contain_text("Your browser keeps nothing for this site")
    expect(second.get_by_role("status")).to_be_empty()
    expect_committed(first, "choose")
    expect_committed(second, "count")
    expect(page.locator("learner-record")).to_contain_text("holds 2 predictions")
    expect_accessible(page, "lesson-check", "not kept", CHECKED)
    expect_accessible(page, "learner-record", "not kept")


@pytest.mark.parametrize(
    "kept",
    [
        "{",
        "[]",
        '{"choose": 7}',
        '{"choose": {"kind": "choice", "value": "2", "text": "x", "at": "now"}}',
    ],
)
def test_damaged_state_is_put_aside(open_page: Opener, kept: str) -> None:
    """The check asks again, works, and the damaged text is still there to be rescued."""
    page = open_page(
        script=f"localStorage.getItem('{KEY}.damaged') ??"
        f" localStorage.setItem('{KEY}', {json.dumps(kept)})"
    )

    expect_committed(predict(page, "choose"), "choose")

    assert page.evaluate(f"localStorage.getItem('{KEY}.damaged')") == kept


def test_a_prediction_about_an_older_question_is_not_shown(open_page: Opener) -> None:
    """If the choice with that number reads differently now, the check asks again."""
    entry = {"kind": "choice", "value": 2, "text": "what was there once", "at": AT}
    page = open_page(script=f"localStorage.setItem('{KEY}', '{json.dumps({'choose': entry})}')")

    expect(check(page, "choose")).to_have_attribute("data-state", "asking")


def test_print_shows_questions_choices_and_answers(open_page: Opener) -> None:
    """On paper there is no button, and nothing is folded away."""
    page = open_page()
    page.emulate_media(media="print")

    for name in KINDS:
        expect(check(page, name).locator(".check-answer-text")).to_be_visible()
        expect(check(page, name).locator(".check-commit")).to_be_hidden()
    expect(page.get_by_text("the third").first).to_be_visible()
    expect(page.locator("#pick .check-lines").get_by_text("backward")).to_be_visible()


def test_every_state_is_accessible(open_page: Opener) -> None:
    """Axe finds nothing in any kind of check, on its way to an answer and after it."""
    page = open_page()
    expect_accessible(page, "lesson-check", "asking", CHECKED)
    for name in KINDS:
        check(page, name).get_by_role("button", name="Commit my prediction").click()
        check(page, name).locator(".check-answer > summary").click()
    expect_accessible(page, "lesson-check", "opened, with a message", CHECKED)
    for name in KINDS:
        predict(page, name, right=False)
    expect_accessible(page, "lesson-check", "committed, wrong", CHECKED)
    page.reload()
    for name in KINDS:
        expect(check(page, name)).to_have_attribute("data-state", "committed")
        check(page, name).get_by_role("button", name="Predict again").click()
        predict(page, name)
    check(page, "explain").get_by_label("the model is small").check()
    expect_accessible(page, "lesson-check", "committed, right", CHECKED)


def record_file(kept: object, **fields: object) -> str:
    """The text of an exported record."""
    return json.dumps({"format": "gpu-training.record", "version": 1, "kept": kept, **fields})


GOOD = {"kind": "number", "value": 7, "text": "7", "at": AT}
BAD_FILES = {
    "empty": ("", "The file is empty"),
    "cut short": (record_file({KEY: {"count": GOOD}})[:-5], "cut short"),
    "a web page": ("<!doctype html>", "no JSON"),
    "binary": ("\x00\x01\x89PNG", "no JSON"),
    "too large": ("[" + " " * 1_000_001 + "]", "too large"),
    "a list": ("[]", "no learner's record"),
    "null": ("null", "no learner's record"),
    "a notebook": ('{"cells": [], "nbformat": 4}', "no learner's record"),
    "newer": (record_file({}, version=2), "has version 2"),
    "nothing kept": (record_file(None), "nothing in its field"),
    "foreign key": (record_file({"__palette": {}}), "not part of one"),
    "other version of a feature": (record_file({"gpu-training.checks.v2": {}}), "this page reads"),
    "no entries": (record_file({KEY: []}), "holds no entries"),
    "entry a number": (record_file({KEY: {"count": 7}}), "is no entry"),
    "no time": (record_file({KEY: {"count": {**GOOD, "at": None}}}), "no valid time"),
    "kind": (record_file({KEY: {"count": {**GOOD, "kind": "x"}}}), "unknown kind"),
    "value": (record_file({KEY: {"count": {**GOOD, "value": "7"}}}), "no valid prediction"),
    "code as address": (
        record_file(
            {"gpu-training.progress.v1": {"javascript:alert(1)": {"title": "x", "at": AT}}}
        ),
        "is no address",
    ),
}


def test_every_bad_file_gets_its_sentence_and_changes_nothing(open_page: Opener) -> None:
    """Eighteen kinds of bad file, each refused in the live region."""
    page = open_page()
    predict(page, "choose")
    record = page.locator("learner-record")
    before = page.evaluate("JSON.stringify(localStorage)")

    for name, (text, sentence) in BAD_FILES.items():
        file = {"name": f"{name}.json", "mimeType": "application/json", "buffer": text.encode()}
        record.locator("input[type=file]").set_input_files(file)

        expect(record.get_by_role("status")).to_contain_text(sentence)
        expect(record.get_by_role("status")).to_contain_text("Nothing was changed.")
        assert page.evaluate("JSON.stringify(localStorage)") == before
    expect_accessible(page, "learner-record", "a file refused")


def test_a_record_travels_from_one_browser_to_another(open_page: Opener, tmp_path: Path) -> None:
    """Export writes a file; Import in a fresh profile brings every prediction back at once."""
    page = open_page()
    for name in KINDS:
        predict(page, name)
    expect(page.locator("learner-record")).to_contain_text(
        "This browser keeps 6 predictions and 1 opened page."
    )
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    download.value.save_as(tmp_path / "record.json")
    other = open_page()

    with other.expect_file_chooser() as chooser:
        other.get_by_role("button", name="Import").press("Enter")
    chooser.value.set_files(tmp_path / "record.json")

    for name in KINDS:
        expect_committed(check(other, name), name)
    expect(other.locator("learner-record").get_by_role("status")).to_contain_text("Imported.")
    expect_accessible(other, "learner-record", "a file taken in")


def test_forgetting_asks_first(open_page: Opener) -> None:
    """Refused, all stays; confirmed, all is gone and every check asks again."""
    page = open_page()
    here = predict(page, "choose")
    # One listener for both: a second one, added while the first is at work, gets the same dialog.
    answers = iter(("dismiss", "accept"))
    page.on("dialog", lambda dialog: getattr(dialog, next(answers))())
    page.get_by_role("button", name="Forget all").click()
    expect(here).to_have_attribute("data-state", "committed")

    page.get_by_role("button", name="Forget all").click()

    expect(here).to_have_attribute("data-state", "asking")
    expect(page.locator("learner-record").get_by_role("status")).to_have_text(
        "Everything is forgotten."
    )
    assert page.evaluate(f"localStorage.getItem('{KEY}')") is None
    expect_accessible(page, "learner-record", "forgotten")


def test_opened_pages_are_ticked_in_the_navigation(open_page: Opener) -> None:
    """So a learner sees what is still ahead; the home page is not on the way."""
    page = open_page()
    ticked = page.locator(".md-nav--primary a.opened")

    page.get_by_role("link", name="To the other page").click()

    expect(page.locator("h1")).to_contain_text("6. Another")
    expect(ticked.filter(has_text="5. All kinds")).not_to_have_count(0)
    expect(ticked.filter(has_text="Start")).to_have_count(0)


def test_a_tick_is_placed_by_its_own_link(open_page: Opener) -> None:
    """So it stays beside its section when the list is scrolled."""
    page = open_page()
    page.get_by_role("link", name="To the other page").click()

    ticked = page.locator(".md-nav--primary a.opened").filter(has_text="5. All kinds")

    expect(ticked.first).to_have_css("position", "relative")


def test_the_home_page_goes_on_where_the_learner_was(open_page: Opener, course: str) -> None:
    """At first it starts the lesson; once a section was opened it leads there, below any path."""
    page = open_page("")
    expect(page.locator("continue-reading a")).to_have_text("Start the lesson")
    page.locator("continue-reading a").click()
    expect(page.locator("h1")).to_contain_text("5. All kinds")
    page.get_by_role("link", name="To the other page").click()
    expect(page.locator("h1")).to_contain_text("6. Another")

    page.goto(course)

    link = page.locator("continue-reading a")
    expect(link).to_have_text("Go on with Another")
    expect(link).to_have_attribute("href", f"{course}gpu-training/another/")
    link.click()
    expect(page.locator("h1")).to_contain_text("6. Another")


def test_whoever_went_back_is_led_to_the_furthest_page_too(open_page: Opener, course: str) -> None:
    """The first link leads to the heading where they were, the second to where they had come."""
    page = open_page("")
    page.locator("continue-reading a").click()
    page.get_by_role("link", name="To the other page").click()
    expect(page.locator("h1")).to_contain_text("6. Another")
    page.goto(f"{course}gpu-training/all-kinds/")
    page.set_viewport_size({"width": 1000, "height": 300})  # there is more page below the heading
    heading = page.locator("article h2").first
    here = heading.get_attribute("id")
    heading.evaluate("heading => heading.scrollIntoView()")
    kept = "localStorage.getItem('gpu-training.progress.v1')"
    page.wait_for_function(f"() => {kept}.includes({json.dumps(json.dumps(here))})")

    page.goto(course)

    links = page.locator("continue-reading a")
    expect(links).to_have_text(["Go on with All kinds", "Furthest: Another"])
    expect_accessible(page, "continue-reading", "with two ways on")
    expect(links.first).to_have_attribute("href", f"{course}gpu-training/all-kinds/#{here}")


def test_a_forged_address_in_the_record_is_not_followed(open_page: Opener) -> None:
    """Whatever is in the storage, the home page leads to pages of this site only."""
    forged = json.dumps({"javascript:alert(1)/": {"title": "Trap", "at": AT}})
    page = open_page("", script=f"localStorage.setItem('gpu-training.progress.v1', '{forged}')")

    expect(page.locator("continue-reading a")).to_have_text("Start the lesson")
