"""What a learner reads: a line for each TODO, and where to go on."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from graders.outcome import WORST_FIRST, Outcome

# --8<-- [start:lines]
WIDTH = 96


def by_todo(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The worst outcome for each title, as soon as all of its checks are known."""
    for _, group in groupby(outcomes, key=lambda outcome: (outcome.todo, outcome.title)):
        found = list(group)
        worst = min(found, key=lambda outcome: WORST_FIRST.index(outcome.state))
        advice = dict.fromkeys(text for outcome in found for text in outcome.advice)
        yield replace(worst, advice=tuple(advice))


def line_of(outcome: Outcome) -> str:
    """What the learner reads about one TODO."""
    text = f"TODO {outcome.todo} {outcome.title}: {outcome.state.upper()}"
    if outcome.says:
        text += f": {outcome.says}"
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


# --8<-- [end:lines]


def total(outcomes: list[Outcome]) -> str:
    """How far the learner is, and where to go on."""
    count = {state: sum(o.state == state for o in outcomes) for state in WORST_FIRST}
    passing = count.pop("passed")
    text = f"{passing} of {len(outcomes)} passed"
    text += "".join(f", {count[state]} {state}" for state in count if count[state])
    left = [o.todo for o in outcomes if o.state in ("wrong", "not done yet")]
    return f"{text}. Go on with TODO {left[0]}." if left else f"{text}."


def score(outcomes: Iterable[Outcome]) -> tuple[int, int]:
    """How many passed, of how many that could be judged: what needs a GPU costs nobody a point."""
    judged = [outcome for outcome in outcomes if outcome.state != "cannot be judged here"]
    return sum(outcome.state == "passed" for outcome in judged), len(judged)


def passed(outcomes: list[Outcome]) -> bool:
    """Whether everything passes that this machine can judge."""
    states = {outcome.state for outcome in outcomes}
    return "passed" in states and states <= {"passed", "cannot be judged here"}
