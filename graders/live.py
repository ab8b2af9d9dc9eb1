"""The driver for live objects: runs the checks in a notebook's kernel, on what its cells defined.

The companion notebook is handed out alone, so its cells hold the sections of this room that they
need, and import nothing of it.
"""

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from graders.checks import NotYetError, checks_in
from graders.judging import judge
from graders.outcome import Outcome, printable
from graders.report import by_todo, line_of


# --8<-- [start:blanks]
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
    """Stop where a cell uses what an exercise has not given yet.

    Raises:
        NotYetError: If it gave nothing, with what to do.
    """
    if not given:
        raise NotYetError(
            f"This cell uses what exercise {exercise} gives. Fill in its blanks, run its cell, "
            "and come back; the other exercises do not wait for it."
        )


def recall(prediction: str) -> None:
    """Put the prediction above what came out."""
    guess = prediction.strip() or "nothing yet; a guess first makes the result stick"
    print(f"You predicted: {guess}\n")


# --8<-- [end:blanks]


# --8<-- [start:live]
class Notebook(SimpleNamespace):
    """What the cells of a notebook have defined so far."""

    def __getattr__(self, name: str) -> Any:
        """What is not there.

        Raises:
            NotYetError: Always.
        """
        raise NotYetError(f"there is no {name} yet; run the cell that defines it")


def report(
    exercise: int,
    function: str,
    cells: Mapping[str, Any],
    as_json: bool = False,
    seed: int | None = None,
) -> None:
    """Check an exercise, and print a line for each TODO as it becomes known.

    Args:
        exercise: Its number; its checks are those in ``cells`` that decide a TODO of this number.
        function: The name of the learner's function: errors are placed in the cell that defines it.
        cells: What the cells have defined: ``globals()``.
        as_json: Whether to print JSON, one line a TODO, in place of text.
        seed: For the cases that the checks draw; by default another one each time.

    Raises:
        NotYetError: If something is open, in one sentence.
    """
    if seed is None:
        seed = random.SystemRandom().randrange(1_000_000)
    outcomes = []
    for outcome in by_todo(judged(exercise, function, Notebook(**cells), seed)):
        outcomes.append(outcome)
        mark = "✓" if outcome.state == "passed" else "✗"
        said = json.dumps(asdict(outcome)) if as_json else f"{mark} {line_of(outcome)}"
        print(said, flush=True)
    left = [outcome for outcome in outcomes if outcome.state in ("wrong", "not done yet")]
    if left:
        raise NotYetError(
            f"Exercise {exercise}: {len(outcomes) - len(left)} of {len(outcomes)} passed. Go on "
            f"with TODO {left[0].todo}. The same cases again: seed={seed} in report(...)."
        )
    if not as_json:
        print(f"Exercise {exercise}: everything holds.")


def judged(exercise: int, function: str, notebook: Notebook, seed: int) -> Iterator[Outcome]:
    """What each check of an exercise says."""
    code = getattr(vars(notebook).get(function), "__code__", None)
    cell = Path(code.co_filename if code else "<cell>")
    with undisturbed():
        for check in checks_in(notebook):
            if check.todo.split(".")[0] == str(exercise):
                outcome = judge(check, notebook, cell, seed)
                says = outcome.says.replace(f"{cell.name}, line", "line")  # a cell has no name
                advice = tuple(map(printable, outcome.advice))
                yield replace(outcome, says=printable(says), advice=advice)


@contextmanager
def undisturbed() -> Iterator[None]:
    """One thread, enough for small batches; afterwards random numbers go on as before."""
    python, threads = random.getstate(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(python)
        torch.set_num_threads(threads)


# --8<-- [end:live]
