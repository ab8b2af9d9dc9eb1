"""The states of every instrument, and what axe finds in one of them.

A test that has brought an instrument into a state asks `expect_accessible`; `test_states.py` reads
off the tests that every state of the table is asked.
"""

from playwright.sync_api import Page

from tests.browser.conftest import AXE, LOOKS, OF_COLORS, OVERFLOWS, PALETTE, RUN_AXE, turn

STATES: dict[str, tuple[str, ...]] = {
    "compare-machine": (
        "a file refused",
        "a race",
        "a machine, and a file refused",
        "two files",
        "not kept",
    ),
    "continue-reading": ("with two ways on",),
    "float-switches": ("what is no number", "not a number", "bfloat16"),
    "forecast-gpu": (
        "chosen",
        "not loaded",
        "a format that the card lacks",
        "own file",
        "not counted",
        "raced",
        "a file refused",
    ),
    "gradient-scale": ("scaled", "limits out of sight", "not loaded"),
    "interactive-chart": ("of every kind, with the reader's", "not loaded"),
    "kept-tasks": ("ticked and exported", "not kept"),
    "laptop-challenge": (
        "limit",
        "quantified",
        "asks before it restarts",
        "no more moves",
        "a floor that is no number",
        "one move is left, exits opened",
        "fits in 16 bits",
    ),
    "learner-record": ("not kept", "a file refused", "a file taken in", "forgotten"),
    "lesson-check": (
        "all answers shown",
        "not kept",
        "asking",
        "opened, with a message",
        "committed, wrong",
        "committed, right",
        "a percentage refused",
    ),
    "loop-switches": ("a line that stops", "all on"),
    "machine-filter": ("the reader's machine", "no machine", "not kept"),
    "md-search": ("with results",),
    "memory-ledger": (
        "a part hidden",
        "with the prediction's ghost",
        "far over the budget of the laptop",
        "open",
    ),
    "memory-table": ("one precision", "both precisions"),
    "mission-guide": (
        "a state of another version",
        "not kept",
        "asks before it resets",
        "without its data",
        "before the first prediction",
    ),
    "mission-record": (
        "a file taken in",
        "something is missing",
        "a file with warnings",
        "a file refused",
        "not kept",
        "recorded",
    ),
    "mission-reflection": ("right", "a blank is empty", "the wrong fix", "the first one checked"),
    "mission-reveal": ("closed", "revealed"),
    "mission-tradeoff": ("decided",),
    "own-report": ("a line is missing", "every line is there"),
    "pipeline-analyzer": (
        "in the other world",
        "a way on without the target",
        "does not fit, all opened",
        "baseline",
        "near miss",
        "target",
    ),
    "quiz-summary": ("not answered", "asks how it went", "agreed and missed"),
    "race-gpu": (
        "idle",
        "running",
        "finished",
        "kept",
        "beside a card by forecast",
        "failed",
        "not loaded",
        "without a GPU",
        "with a software adapter",
        "several models, the loss read",
        "stopped",
    ),
    "reader-card": ("chosen",),
    "run-cell": (
        "idle",
        "finished",
        "running",
        "stopped",
        "failed",
        "kept",
        "without the editor",
        "a package is missing",
        "loading",
    ),
    "run-on-machine": (
        "asks first",
        "printed",
        "running, and another waits",
        "failed",
        "asks about a file",
        "interrupted",
        "drawn",
    ),
    "training-timeline": ("choices that are closed", "after each press"),
    "walkthrough-column": ("with the learner's own",),
    "who-first": ("asking", "ended, for each training"),
}
# What palette and width decide; every other rule finds the same in all looks.
OF_LOOKS = [*OF_COLORS, "target-size", "scrollable-region-focusable"]
IN_LOOKS = ((LOOKS[0], []), (LOOKS[-1], OF_LOOKS))
# What happens to lie under something that stays in view is measured as if that were its place.
LET_SCROLL = """(style) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [sheet];
}"""
UNPINNED = """
:is(.md-header, .mission-status, .mission-verdict) { position: static !important; }
.md-top { display: none !important; }
"""


def expect_accessible(page: Page, element: str, state: str, part: str = "") -> None:
    """In a state axe finds nothing, light and wide or dark and narrow, and nothing sticks out.

    Args:
        page: Where the state is shown.
        element: The name of an element of ours.
        state: Which of its states in the table this is.
        part: A selector of what axe is asked of, if that is more than the element.
    """
    assert state in STATES[element], f"the table has no state {state!r} of {element}"
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    size, palette = page.viewport_size, page.evaluate(PALETTE)
    assert size
    found = {}
    page.evaluate(LET_SCROLL, UNPINNED)
    for look, rules in IN_LOOKS:
        turn(page, look)
        barriers = page.evaluate(f"(asked) => ({RUN_AXE})(...asked)", [rules, part or element])
        found[str(look)] = barriers + page.evaluate(OVERFLOWS)
    page.evaluate(LET_SCROLL, "")
    page.set_viewport_size(size)
    page.evaluate(f"(palette) => {{ {PALETTE} = palette; }}", palette)

    assert not any(found.values()), found
