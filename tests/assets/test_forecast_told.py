"""The page says and draws of every choice what Python says and draws of it."""

import json
import subprocess
from dataclasses import asdict, replace
from typing import Any

from lesson_code.forecast.cards import read_cards
from lesson_code.forecast.formula import HOST, Host
from lesson_site.charts.description import to_json
from lesson_site.forecast.data import counted, payload
from lesson_site.forecast.models import MODELS
from lesson_site.forecast.told import Choice, tell
from lesson_site.forecast.words import FORMATS
from tests.assets.test_race_data import node
from tests.building import REPOSITORY

TELL = """
import { readFileSync } from "node:fs";
import { tell } from "./docs/assets/elements/forecast/told.js";
const { payload, choices } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(choices.map((choice) => tell(payload, choice))));
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
        [node(), "--input-type=module", "--eval", TELL],
        input=json.dumps(asked),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )

    found = json.loads(said.stdout)
    assert len(choices) == len(found)
    assert any(told["drawing"] is None and told["cards"] for told in found)
    for choice, told in zip(choices, found, strict=True):
        expected = tell(choice)
        assert list(expected.sentences) == told["sentences"], choice
        assert [list(row) for row in expected.cards] == told["cards"], choice
        drawn = expected.drawing and json.loads(to_json(expected.drawing))
        assert drawn == _short(told["drawing"]), choice


def _short(part: Any) -> Any:
    """A drawing with six digits for each number, as the build writes it."""
    if isinstance(part, dict):
        return {name: _short(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_short(each) for each in part]
    is_number = isinstance(part, (int, float)) and not isinstance(part, bool)
    return float(f"{part:.6g}") if is_number else part


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
