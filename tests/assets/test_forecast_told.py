"""The page says and draws of every choice what Python says and draws of it."""

import json
import subprocess
from dataclasses import asdict, replace
from typing import Any

import pytest

from lesson_code.forecast.cards import read_cards
from lesson_code.forecast.formula import HOST, Host
from lesson_site.charts.description import to_data
from lesson_site.forecast.data import counted, cpu_seconds, payload
from lesson_site.forecast.models import MODELS
from lesson_site.forecast.told import Choice, crossing, tell
from lesson_site.forecast.words import FORMATS
from results.forecasts import read_steps
from results.quantities import SPACE
from tests import node
from tests.building import REPOSITORY

TELL = """
import { readFileSync } from "node:fs";
import { crossing, tell } from "./docs/assets/elements/forecast/told.js";
const { payload, choices } = JSON.parse(readFileSync(0, "utf8"));
const told = choices.map((choice) => tell(payload, choice));
const crossings = Object.keys(payload.cards).map((card) => crossing(payload, card, payload.host));
console.log(JSON.stringify([told, crossings]));
"""
QUICK = Host(5e-6, 5e-6, 5e-6)


def every_choice() -> list[Choice]:
    """Each model at its smallest and largest batch, in each format, on each card."""
    found = []
    for model, entry in MODELS.items():
        batches = sorted({one.batch for one in counted(entry)})
        for batch in {batches[0], batches[-1]}:
            for format in FORMATS:
                found += [Choice(card, model, batch, format) for card in read_cards()]
    last = [replace(choice, channels_last=True, host=QUICK) for choice in found[::7]]
    return [*found, *last, Choice("t4", "mnist", 7, "float32")]


def as_page(choice: Choice) -> dict[str, Any]:
    """What the page hands to its own function."""
    return asdict(choice) | {"host": list(choice.host)}


def test_the_page_says_what_python_says() -> None:
    """Sentences, the table of cards and the drawing are equal for every choice."""
    choices = every_choice()
    asked = {"payload": payload(), "choices": [as_page(choice) for choice in choices]}

    said = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", TELL],
        input=json.dumps(asked),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )

    found, crossings = json.loads(said.stdout)
    assert len(choices) == len(found)
    assert any(told["drawing"] is None and told["cards"] for told in found)
    for choice, told in zip(choices, found, strict=True):
        expected = tell(choice)
        assert list(expected.sentences) == told["sentences"], choice
        assert [list(row) for row in expected.cards] == told["cards"], choice
        drawn = expected.drawing and to_data(expected.drawing)
        assert drawn == _short(told["drawing"]), choice

    of_cards = [crossing(card) for card in read_cards().values()]
    assert json.loads(json.dumps(of_cards)) == crossings


def test_a_faster_card_crosses_earlier() -> None:
    """Somewhere the T4 loses to our CPU, and somewhere an H100 surely wins."""
    of_t4, of_h100 = (crossing(read_cards()[card]) for card in ("t4", "h100"))

    assert of_t4[0][1][0][0] in ("loses", "open")
    assert "wins" == of_h100[-1][1][-1][0]


def _short(part: Any) -> Any:
    """A drawing with six digits for each number, as the build writes it."""
    if isinstance(part, dict):
        return {name: _short(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_short(each) for each in part]
    is_number = isinstance(part, (int, float)) and not isinstance(part, bool)
    return float(f"{part:.6g}") if is_number else part


def test_the_layout_changes_no_count() -> None:
    """So the page offers channels last without counts of its own."""
    steps = read_steps()
    last = {key: one.step for key, one in steps.items() if one.step.channels_last}

    assert last
    for (name, format), step in last.items():
        usual = steps[name.removesuffix("_channels_last"), format].step
        assert step == replace(usual, channels_last=True)


def test_every_sentence_is_said_somewhere() -> None:
    """No sentence about limits waits for a choice that nobody can make."""
    said = {sentence for choice in every_choice() for sentence in tell(choice).sentences}

    for part in (
        "Arithmetic takes",
        "Reading and writing",
        "Starting its",
        "depends on your computer",
    ):
        assert any(part in sentence for sentence in said), part
    assert any(sentence.endswith("it does not fit.") for sentence in said)
    assert HOST.low < HOST.high


def test_the_parts_that_are_drawn_add_up_to_the_step() -> None:
    """As they are written: two of them, or the starts alone where these decide."""
    drawings = [drawn for choice in every_choice() if (drawn := tell(choice).drawing)]

    for drawing in drawings:
        *parts, step = drawing.groups[0].rows
        arithmetic, traffic, launches = (seconds(row.mark.text) for row in parts)
        whole = max(arithmetic + traffic, launches)
        assert pytest.approx(whole, rel=0.05) == step.mark.value, parts
    assert drawings


def seconds(text: str) -> float:
    """A time as it is written, in seconds."""
    value, unit = text.split(SPACE)
    return float(value.replace(",", "")) * {"s": 1.0, "ms": 1e-3, "µs": 1e-6}[unit]


def test_our_cpu_stands_beside_the_step_that_it_ran() -> None:
    """Of the lesson's model in float32, and of nothing else."""
    drawing = tell(Choice("t4", "mnist", 64, "float32")).drawing
    other = tell(Choice("t4", "mnist", 64, "float16")).drawing
    found = cpu_seconds("mnist", 64, "float32")

    assert drawing
    assert other
    assert found
    mark = drawing.groups[-1].rows[0].mark
    assert ("measured", found[1]) == (mark.kind, mark.value)
    assert len(drawing.groups) == 1 + len(other.groups)
