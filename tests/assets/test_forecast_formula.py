"""The page forecasts what Python forecasts."""

import json
import random
import subprocess
from dataclasses import asdict
from typing import Any

import pytest

from lesson_code.forecast import formula
from lesson_code.forecast.cards import FORMATS, Card
from lesson_code.forecast.formula import Host, Step
from lesson_site.forecast.data import card_data, rules
from tests import node
from tests.building import REPOSITORY

CASES = 500
COMPUTE = """
import { readFileSync } from "node:fs";
import { fits, forecast } from "./docs/assets/elements/forecast/formula.js";
const { cases, rules } = JSON.parse(readFileSync(0, "utf8"));
const answer = ([step, card, host]) =>
  [forecast(step, card, rules, host), fits(step, card, rules)];
console.log(JSON.stringify(cases.map(answer)));
"""
Case = tuple[Step, Card, Host]


def a_case(draw: random.Random) -> Case:
    """A step, a card and a host, each with numbers of any size."""

    def size(low: int, high: int) -> float:
        return 10 ** draw.uniform(low, high)

    formats = draw.sample(FORMATS, draw.randint(1, len(FORMATS)))
    counted = draw.sample([f for f in FORMATS if f != "tf32"], draw.randint(0, 2))
    step = Step(
        format=draw.choice(FORMATS),
        flop={format: int(size(3, 15)) for format in counted},
        bytes=int(size(3, 13)),
        convolution_bytes=draw.choice((0, int(size(3, 12)))),
        launches=draw.randint(1, 5000),
        operations=draw.randint(1, 5000),
        weight_bytes=int(size(3, 10)),
        peak_bytes=int(size(6, 12)),
        channels_last=draw.random() < 0.5,
    )
    peak = {format: float(int(size(12, 15))) for format in (*formats, "float32")}
    band = draw.choice((0.0, 2.3))
    card = Card("some", "Some card", int(size(9, 12)), float(int(size(11, 13))), peak, {}, band)
    low, likely, high = sorted(size(-6, -4) for _ in range(3))
    return step, card, Host(low, likely, high)


def by_python(step: Step, card: Card, host: Host) -> dict[str, Any] | None:
    """The forecast as the page has it; None where the card has no units for it."""
    try:
        found = formula.forecast(step, card, host)
    except ValueError:
        return None
    return asdict(found) | {"binds": found.binds}


def test_the_page_computes_what_the_shown_formula_computes() -> None:
    """On random steps, cards and hosts: every part, the band, what binds and whether it fits."""
    draw = random.Random(23)
    cases = [a_case(draw) for _ in range(CASES)]
    asked = [(asdict(step), card_data(card), host) for step, card, host in cases]

    said = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", COMPUTE],
        input=json.dumps({"cases": asked, "rules": rules()}),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )

    found = json.loads(said.stdout)
    assert CASES == len(found)
    assert {"arithmetic", "traffic", "launches"} <= {f["binds"] for f, _ in found if f}
    assert {True, False} == {fits for _, fits in found}
    assert any(forecast is None for forecast, _ in found)
    for (step, card, host), (forecast, fits) in zip(cases, found, strict=True):
        expected = by_python(step, card, host)
        assert formula.memory_fits(step, card) == fits
        assert (expected and expected.pop("binds")) == (forecast and forecast.pop("binds"))
        assert expected == (forecast and pytest.approx(forecast, rel=1e-12))
