"""What every door to the graders does: grade, and print line by line."""

import json
import random
import sys
from dataclasses import asdict
from pathlib import Path

from graders import report
from graders.hand_in import digest, hand_in
from graders.process import CheckerError, examine
from graders.units import UNITS

SEEDS = 1_000_000


def grade(unit: str, title: str, path: Path, as_json: bool, seed: int | None = None) -> int:
    """Print what the checks say of an answer, as it becomes known.

    Args:
        unit: What is graded, such as ``"lab.exercise_1"``.
        title: The first line, such as ``"Exercise 1: 01_gpu_basics.py"``.
        path: The learner's file or folder.
        as_json: Whether to print JSON in place of text: one line a TODO, and at last the hand-in.
            Where no check can run every TODO is wrong, for that reason.
        seed: For the cases that the checks draw; by default another one each time.

    Returns:
        0 if all passes that this machine can judge, 1 if not, 2 if the file can't be read.
    """
    if seed is None:
        seed = random.SystemRandom().randrange(SEEDS)
    try:
        sha256 = digest(path, UNITS[unit].files if unit in UNITS else ())
    except OSError as problem:
        print(f"error: can't read {path}: {problem.strerror}; name another", file=sys.stderr)
        return 2
    if not as_json:
        print(title, flush=True)
    outcomes = []
    try:
        for outcome in report.by_todo(examine(unit, path, seed)):
            outcomes.append(outcome)
            print(json.dumps(asdict(outcome)) if as_json else report.line_of(outcome), flush=True)
    except CheckerError as problem:
        print(f"error: {problem}", file=sys.stderr)
        if not as_json:
            return 1
        outcomes = problem.outcomes(seed)
        for outcome in outcomes:
            print(json.dumps(asdict(outcome)))
    if as_json:
        print(json.dumps(asdict(hand_in(unit, path, sha256, outcomes, seed))))
    else:
        print(report.total(outcomes))
        if not report.passed(outcomes):
            print(f"The same cases again: --seed {seed}")
    return 0 if report.passed(outcomes) else 1
