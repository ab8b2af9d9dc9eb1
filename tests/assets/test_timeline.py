"""The page runs, tells and draws loops as Python does, whatever a reader chooses."""

import json
import random
import subprocess
from dataclasses import asdict, replace
from typing import Any

import pytest

from lesson_code.forecast.cards import read_cards
from lesson_code.timeline.simulation import PHASES, Kernel, Loop, Run, simulate
from lesson_site.timeline.data import payload
from lesson_site.timeline.drawing import blocks_shown, draw, steps_shown
from lesson_site.timeline.told import moved, next_move, sentences, title, told_of
from results.timeline import BATCHES, IMAGES, LIKELY, WORKERS, Choice, read_models, runs_of
from results.timeline_measured import own
from tests import node
from tests.building import REPOSITORY

LOOPS, CHOICES = 400, 24
MODULES = "./docs/assets/elements/timeline"
RUN = f"""
import {{ readFileSync }} from "node:fs";
import {{ simulate }} from "{MODULES}/simulation.js";
const summed = ({{ blocks, ...run }}) =>
  [run, blocks.length, blocks.flatMap((b) => b.pieces).flat().reduce((sum, each) => sum + each, 0)];
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([loop, steps]) => summed(simulate(loop, steps)))));
"""
TELL = f"""
import {{ readFileSync }} from "node:fs";
import {{ blocksShown, draw, stepsShown }} from "{MODULES}/drawing.js";
import {{ runsOf }} from "{MODULES}/loop.js";
import {{ moved, nextMove, sentences, title, toldOf }} from "{MODULES}/told.js";
const {{ payload, choices }} = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(choices.map((choice) => {{
  const runs = runsOf(payload, choice);
  const move = nextMove(payload, choice);
  const shown = stepsShown(choice);
  return {{
    sentences: sentences(payload, choice, runs),
    move,
    moved: moved(payload, move, runs, runsOf(payload, move.choice)),
    title: title(payload, choice, shown),
    blocks: blocksShown(payload, runs.likely, shown).map((block) => toldOf(payload, block, choice)),
    ...draw(payload, runs.likely, choice),
  }};
}})));
"""


def answered(script: str, asked: object) -> Any:
    """What a script of Node's says to a question."""
    said = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", script],
        input=json.dumps(asked),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(said.stdout)


def a_loop(draw: random.Random) -> Loop:
    """A loop whose parts take any time."""

    def time(low: float = -6, high: float = -2) -> float:
        return 10 ** draw.uniform(low, high)

    phases = sorted((draw.choice(PHASES) for _ in range(draw.randint(1, 40))), key=PHASES.index)
    return Loop(
        kernels=tuple(Kernel(phase, time(-6, -3)) for phase in phases),
        launch=time(-6, -4),
        load=draw.choice((0.0, time())),
        workers=draw.choice(WORKERS),
        hand=time(-5, -3),
        copy=time(-5, -3),
        staging=time(-6, -4),
        answer=time(-6, -4),
        pinned=draw.random() < 0.5,
        reads_loss=draw.random() < 0.5,
        graph=draw.random() < 0.3,
    )


def a_choice(draw: random.Random) -> Choice:
    """Anything that a reader can choose."""
    return Choice(
        model=draw.choice(list(read_models())),
        batch=draw.choice(BATCHES),
        images=draw.choice(list(IMAGES)),
        workers=draw.choice(WORKERS),
        card=draw.choice(list(read_cards())),
        **{switch: draw.random() < 0.5 for switch in ("pinned", "reads_loss", "fused", "graph")},
    )


def summary(run: Run) -> tuple[dict[str, Any], int, float]:
    """A run's numbers, how many blocks it has, and the sum of all their moments."""
    fields = ("period", "busy", "clock", "step", "cause")
    moments = sum(moment for block in run.blocks for piece in block.pieces for moment in piece)
    return {name: getattr(run, name) for name in fields}, len(run.blocks), moments


def test_the_page_runs_what_python_runs() -> None:
    """On random loops: their speed, who waits, what a clock reads, and every block."""
    lots = random.Random(18)
    cases = [(a_loop(lots), lots.choice((3, 8, 12, 64))) for _ in range(LOOPS)]
    asked = [
        (asdict(loop) | {"kernels": [[one.phase, one.seconds] for one in loop.kernels]}, steps)
        for loop, steps in cases
    ]

    found = answered(RUN, asked)

    assert LOOPS == len(found)
    assert {"gpu", "load", "workers", "launch", "copy"} <= {run["cause"] for run, _, _ in found}
    for (loop, steps), (run, count, moments) in zip(cases, found, strict=True):
        expected, blocks, sums = summary(simulate(loop, steps))
        assert expected.pop("cause") == run.pop("cause")
        assert pytest.approx(expected, rel=1e-9, abs=1e-12) == run
        assert (blocks, pytest.approx(sums, rel=1e-9)) == (count, moments)


def test_the_page_says_and_draws_what_python_does() -> None:
    """Of random choices: each sentence, each block, the picture, the next move and what it does."""
    draw_lots = random.Random(7)
    choices = [Choice(), *(a_choice(draw_lots) for _ in range(CHOICES))]

    found = answered(TELL, {"payload": payload(), "choices": [asdict(one) for one in choices]})

    assert len(choices) == len(found)
    for choice, said in zip(choices, found, strict=True):
        runs, move, shown = runs_of(choice, own()), next_move(choice), steps_shown(choice)
        nodes, height = draw(runs[LIKELY], choice)
        blocks = blocks_shown(runs[LIKELY], shown)
        assert sentences(choice, runs) == said["sentences"]
        assert (move.question, asdict(move.choice), move.done) == tuple(said["move"].values())
        assert moved(move, runs) == said["moved"]
        assert title(choice, shown) == said["title"]
        assert [told_of(block, choice) for block in blocks] == said["blocks"]
        assert json.loads(json.dumps(nodes)) == said["nodes"]
        assert height == said["height"]


def test_six_presses_lead_from_the_textbook_loop_to_the_top() -> None:
    """Each changes one control and what is said; the seventh goes back."""
    choice = Choice()
    changes, told = [], []
    for _ in range(6):
        move = next_move(choice)
        before = asdict(choice)
        changes.append([name for name, now in asdict(move.choice).items() if before[name] != now])
        told.append(moved(move, runs_of(choice, own())))
        choice = move.choice

    assert [["workers"], ["pinned"], ["images"], ["reads_loss"], ["fused"], ["graph"]] == changes
    assert 6 == len(set(told))
    assert Choice() == next_move(choice).choice


def test_a_state_names_who_waits_for_whom() -> None:
    """Every first sentence has both who waits and who is waited for."""
    draw_lots = random.Random(3)

    first = [
        sentences(c, runs_of(c, own()))[0] for c in (a_choice(draw_lots) for _ in range(CHOICES))
    ]

    assert [] == [said for said in first if "waits for" not in said]
    assert 5 <= len(set(first))


def test_a_card_changes_the_title_and_the_speed() -> None:
    """A large model with its data there is as fast as its card."""
    large = Choice(model="large", batch=1024, images="device")
    cards = [replace(large, card=card) for card in ("t4", "h100")]

    speeds = [sentences(choice, runs_of(choice, own()))[2] for choice in cards]

    assert speeds[0] != speeds[1]
    assert [
        "The first 3 steps on the T4, forecast",
        "The first 3 steps on the H100 (SXM), forecast",
    ] == [title(choice, 3) for choice in cards]
