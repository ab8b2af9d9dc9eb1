"""The report of an exercise, one line a TODO."""

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

from lesson_code.lab.checker.outcome import Outcome

WIDTH = 96
WORST_FIRST = ("fail", "not done yet", "skipped", "pass")


def by_todo(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The worst outcome for each title, as soon as all of its checks are known."""
    for _, group in groupby(outcomes, key=lambda outcome: (outcome.todo, outcome.title)):
        found = list(group)
        worst = min(found, key=lambda outcome: WORST_FIRST.index(outcome.state))
        advice = dict.fromkeys(text for outcome in found for text in outcome.advice)
        yield Outcome(worst.todo, worst.title, worst.state, worst.message, tuple(advice))


def line(outcome: Outcome) -> str:
    """What the learner reads about one TODO."""
    text = f"TODO {outcome.todo} {outcome.title}: {outcome.state.upper()}"
    if outcome.message:
        text += f": {outcome.message}"
    paragraphs = [text, *(f"    advice: {advice}" for advice in outcome.advice)]
    return "\n".join(
        textwrap.fill(
            paragraph,
            WIDTH,
            subsequent_indent=" " * 6,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for paragraph in paragraphs
    )


def total(outcomes: list[Outcome]) -> str:
    """How far the learner is, and where to go on."""
    count = {state: sum(o.state == state for o in outcomes) for state in WORST_FIRST}
    text = f"{count['pass']} of {len(outcomes)} pass"
    for state, words in (
        ("fail", "wrong"),
        ("not done yet", "not done yet"),
        ("skipped", "skipped"),
    ):
        if count[state]:
            text += f", {count[state]} {words}"
    left = [o.todo for o in outcomes if o.state in ("fail", "not done yet")]
    return f"{text}. Go on with TODO {left[0]}." if left else f"{text}."


def passed(outcomes: list[Outcome]) -> bool:
    """Whether everything passes that this machine can check."""
    states = {outcome.state for outcome in outcomes}
    return "pass" in states and states <= {"pass", "skipped"}
