"""The page writes the ends of a forecast as Python does: never nearer to its middle."""

import json
import random
import subprocess

import pytest

from results.quantities import SPACE, outward, write_band
from tests import node
from tests.building import REPOSITORY

COUNT = 2_000
UNITS = ("s", "samples_per_s", "times")
WRITE = """
import { readFileSync } from "node:fs";
import { outward, writeBand } from "./docs/assets/elements/quantities.js";
const bands = JSON.parse(readFileSync(0, "utf8"));
const answer = ([low, high, unit]) =>
  [outward(low, false), outward(high, true), writeBand(low, high, unit)];
console.log(JSON.stringify(bands.map(answer)));
"""
Band = tuple[float, float, str]


def some_bands() -> list[Band]:
    """Of any size, and some whose ends are round already."""
    draw = random.Random(31)
    bands = []
    for index in range(COUNT):
        low = 10 ** draw.uniform(-6, 5)
        high = low * 10 ** draw.uniform(0, 1)
        if index % 4 == 0:
            low, high = float(f"{low:.0e}"), float(f"{high:.0e}")
        bands.append((low, high, draw.choice(UNITS)))
    return bands


def test_bands_are_written_alike() -> None:
    """The same ends and the same text for each of many bands."""
    bands = some_bands()

    said = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", WRITE],
        input=json.dumps(bands),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )

    expected = [
        [outward(low, up=False), outward(high, up=True), write_band(low, high, unit)]
        for low, high, unit in bands
    ]
    assert expected == json.loads(said.stdout)


def test_what_is_written_holds_the_band() -> None:
    """The low end is never above the true one, and the high end never below."""
    for low, high, _ in some_bands():
        written = outward(low, up=False), outward(high, up=True)

        assert low >= written[0] * (1 - 1e-6)
        assert high <= written[1] * (1 + 1e-6)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0068, 0.0441, f"6 to 50{SPACE}ms"),
        (0.00196, 0.0196, f"1.9 to 20{SPACE}ms"),
        (0.3, 0.97, f"300{SPACE}ms to 1.0{SPACE}s"),
        (0.002, 0.003, f"2 to 3{SPACE}ms"),
    ],
)
def test_outward(low: float, high: float, text: str) -> None:
    """Down and up, also into the next unit; a round end stays."""
    assert text == write_band(low, high, "s")
