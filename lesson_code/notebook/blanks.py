"""Blanks that say what they are when nobody filled them, and checks that say what is wrong.

Both end a cell with one sentence: in a notebook nobody wants to read a traceback of our own code.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass


# --8<-- [start:blanks]
class NotYetError(Exception):
    """Something of yours is missing or not right yet; the message says what."""

    def _render_traceback_(self) -> list[str]:
        return [f"✗ {self}"]  # Jupyter shows this in place of a traceback


def fill_in(blank: str, task: str) -> None:
    """Stand where your code belongs.

    Raises:
        NotYetError: Always, with the name of the blank and what it asks for.
    """
    raise NotYetError(
        f"Blank {blank} is still empty. Your task: {task}. "
        "Write it in the place of this fill_in(...) call, and run the cell again."
    )


def needs(exercise: int, given: object) -> None:
    """Stop where a cell compares what an exercise has not given yet.

    Raises:
        NotYetError: If it gave nothing, with what to do.
    """
    if not given:
        raise NotYetError(
            f"This cell compares what exercise {exercise} gives. Fill in its blanks, run its cell, "
            "and come back; the other exercises do not wait for it."
        )


def recall(prediction: str) -> None:
    """Put the prediction above what came out."""
    guess = prediction.strip() or "nothing yet; a guess first makes the result stick"
    print(f"You predicted: {guess}\n")


# --8<-- [end:blanks]


# --8<-- [start:findings]
@dataclass(frozen=True)
class Finding:
    """One thing that a check looked at: what should hold, whether it does, what to do if not."""

    claim: str
    holds: bool
    advice: str


def report(exercise: int, findings: Sequence[Finding]) -> None:
    """Print what a check found.

    Raises:
        NotYetError: If something does not hold.
    """
    for finding in findings:
        print(f"{'✓' if finding.holds else '✗'} {finding.claim}")
        if not finding.holds:
            print(f"  → {finding.advice}")
    sys.stdout.flush()
    wrong = sum(not finding.holds for finding in findings)
    if wrong:
        raise NotYetError(
            f"Exercise {exercise}: {wrong} of {len(findings)} points do not hold yet; "
            "the arrows above say what to look at."
        )
    print(f"Exercise {exercise}: everything holds.")


# --8<-- [end:findings]
