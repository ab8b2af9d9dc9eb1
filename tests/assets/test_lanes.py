"""Who finishes first, in the browser as in Python, on random times."""

import itertools
import json
import random
import subprocess

from lesson_site.who_first import winner
from tests import node
from tests.building import REPOSITORY

CASES = 2000
COMPUTE = """
import { readFileSync } from "node:fs";
import { GUESSES, holds, verdict, winner } from "./docs/assets/elements/lanes.js";
const answer = ([cpu, low, high]) =>
  [
    winner(cpu, low, high),
    GUESSES.map((guess) => holds(guess, cpu, low, high)),
    GUESSES.map((guess) => verdict(guess, cpu, low, high)),
  ];
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(answer)));
"""
BOUNDS = (0, 0.1, 0.5, 1, 2, 10, float("inf"))


# What a verdict says, by words of it that no other one has.
KINDS = {"Right", "Not this time", "less than", "more than", "is possible", "not as clear"}


def kind(said: str) -> str:
    """Which of the verdicts this is."""
    [found] = [words for words in KINDS if words in said]
    return found


def expected(who: str, start: float, end: float, slowest: float, fastest: float) -> str:
    """The verdict on the guess that the CPU takes ``start`` to ``end`` times the GPU's time."""
    held = start <= fastest and slowest <= end
    if who == "close":
        return "is possible" if held else "not as clear"
    if held or who != ("CPU" if start < 1 else "GPU"):
        return "Right" if held else "Not this time"
    clearer = fastest < start if who == "CPU" else slowest > end
    return "more than" if clearer else "less than"


def test_the_browser_decides_as_python_does() -> None:
    """A guess holds where its factors and the window's have one in common."""
    draw = random.Random(0)
    cases = []
    for _ in range(CASES):
        low, high = sorted(10 ** draw.uniform(-4, 2) for _ in range(2))
        cases.append((10 ** draw.uniform(-4, 2), low, high))

    done = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", COMPUTE],
        cwd=REPOSITORY,
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )

    answers = json.loads(done.stdout)
    for (cpu, low, high), (who, held, said) in zip(cases, answers, strict=True):
        assert winner(cpu, low, high) == who
        slowest, fastest = cpu / high, cpu / low
        pairs = list(itertools.pairwise(BOUNDS))
        assert [start <= fastest and slowest <= end for start, end in pairs] == held
        assert [expected(who, *pair, slowest, fastest) for pair in pairs] == list(map(kind, said))
    assert {"CPU", "GPU", "close"} == {who for who, *_ in answers}
    assert KINDS == {kind(one) for *_, said in answers for one in said}
