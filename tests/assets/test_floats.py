"""The browser's float explorer computes, counts and says what Python does."""

import json
import math
import random
import subprocess
from typing import Any

import pytest

from lesson_code.gpu_training.exponent_histogram import FIRST_SPLIT, PARTS, Histogram, as_row
from lesson_code.gpu_training.float_formats import (
    BFLOAT16,
    E4M3,
    E5M2,
    FLOAT16,
    FORMATS,
    FloatFormat,
)
from lesson_site.floats import gradients, words
from lesson_site.floats.fence import SCALE_POWERS, SCALED, _format_data
from tests import node
from tests.building import REPOSITORY

HEAD = """
import { readFileSync } from "node:fs";
import {
  FloatFormat, becomes, beside, reading, written,
} from "./docs/assets/elements/floats/formats.js";
import * as histogram from "./docs/assets/elements/floats/histogram.js";
const asked = JSON.parse(readFileSync(0, "utf8"));
const write = (number) => (Object.is(number, -0) ? "-0" : String(number));
"""
PATTERNS = """
console.log(JSON.stringify(asked.map(([layout, patterns]) => {
  const kind = new FloatFormat(layout);
  return patterns.map((pattern) => {
    const value = kind.value(pattern);
    const [below, above] = kind.neighbours(pattern);
    return [kind.kind(pattern), write(value), write(below), write(above),
      Number.isNaN(value) ? 0 : kind.pattern(value) - pattern,
      written(value), reading(kind, pattern), beside(kind, pattern)];
  });
})));
"""
NUMBERS = """
console.log(JSON.stringify(asked.map(([layout, numbers]) => {
  const kind = new FloatFormat(layout);
  return numbers.map((number) =>
    [write(kind.kept(number)), kind.overflows(number), becomes(kind, number), written(number, 3)]);
})));
"""
LIMITS = """
console.log(JSON.stringify(asked.map((layout) => {
  const { bits, bias, largest, smallestNormal, smallest, lost, overflow } = new FloatFormat(layout);
  return [bits, bias, largest, smallestNormal, smallest, lost, overflow];
})));
"""
COUNTS = """
console.log(JSON.stringify(asked.map(([short, layout, power]) => {
  const kind = new FloatFormat(layout);
  return [histogram.others(short), histogram.counted(short, kind, power),
    histogram.sentences(short, kind, power), histogram.paths(short, kind, power)];
})));
"""


def said(program: str, asked: Any) -> Any:
    """What the browser's modules answer."""
    done = subprocess.run(
        [node.executable(), "--input-type=module", "--eval", HEAD + program],
        input=json.dumps(asked),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def read(number: str) -> float:
    """A number as JavaScript writes it."""
    return float(number.replace("Infinity", "inf"))


def same(one: float, other: float) -> bool:
    """Equal, the sign of zero included, or both not a number."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def some_patterns(kind: FloatFormat) -> list[int]:
    """All of 8 bits; of 16 bits those at every change of the exponent, and a random part."""
    if kind.bits == 8:
        return list(range(2**kind.bits))
    steps = [pattern + off for pattern in range(0, 2**16, 2**kind.fraction_bits) for off in (0, 1)]
    return [*steps, 2**16 - 1, *random.Random(2).sample(range(2**16), 3000)]


def test_patterns_of_bits_are_read_alike() -> None:
    """Kind, value, neighbours and every word."""
    asked = {kind: some_patterns(kind) for kind in (FLOAT16, BFLOAT16, E5M2, E4M3)}

    found = said(PATTERNS, [[_format_data(kind), some] for kind, some in asked.items()])

    for (kind, patterns), answers in zip(asked.items(), found, strict=True):
        for pattern, (what, value, below, above, off, *texts) in zip(
            patterns, answers, strict=True
        ):
            assert kind.kind(pattern) == what
            assert same(kind.value(pattern), read(value)), (kind, pattern)
            expected = kind.neighbours(pattern)
            assert same(expected[0], read(below)), pattern
            assert same(expected[1], read(above)), pattern
            assert 0 == off
            assert texts == [
                words.written(kind.value(pattern)),
                words.reading(kind, pattern),
                words.beside(kind, pattern),
            ]


def test_numbers_are_rounded_alike() -> None:
    """Random numbers of every size, ties and limits, in all six formats."""
    draw = random.Random(17)
    asked = []
    for kind in FORMATS:
        numbers = [draw.choice((-1, 1)) * 2 ** draw.uniform(-160, 140) for _ in range(500)]
        numbers += [
            n * draw.randint(1, 4000) for n in (kind.lost, kind.smallest) for _ in range(200)
        ]
        numbers += [kind.lost, kind.overflow, -kind.overflow, math.nextafter(kind.overflow, 0)]
        numbers += [0.1, 1.03125, 2049.0, 999999.5, 1e-5, 1.00005]
        asked.append((kind, numbers))

    found = said(NUMBERS, [[_format_data(kind), numbers] for kind, numbers in asked])

    for (kind, numbers), answers in zip(asked, found, strict=True):
        for number, (kept, over, text, short) in zip(numbers, answers, strict=True):
            assert same(kind.kept(number), read(kept)), (kind.name, number)
            assert kind.overflows(number) == over
            assert words.becomes(kind, number) == text
            assert words.written(number, 3) == short


def test_limits_are_the_same() -> None:
    """Of all six formats."""
    found = said(LIMITS, [_format_data(kind) for kind in FORMATS])

    for kind, limits in zip(FORMATS, found, strict=True):
        own = (kind.largest, kind.smallest_normal, kind.smallest, kind.lost, kind.overflow)
        assert [kind.bits, kind.bias, *own] == limits


def a_histogram(draw: random.Random) -> Histogram:
    """Some bins from anywhere, with gaps."""
    first = draw.randint(-149, -20)
    exponents = [e for e in range(first, draw.randint(-15, 4)) if draw.random() < 0.9]
    largest = 10 ** draw.randint(1, 8)
    bins = {}
    for exponent in exponents or [-20]:
        parts = range(PARTS if exponent >= FIRST_SPLIT else 1)
        bins[exponent] = tuple(draw.randint(1, largest) for _ in parts)
    return Histogram(draw.randint(0, 9), bins)


def test_gradients_are_counted_drawn_and_described_alike() -> None:
    """Random histograms in every format of the slider, at every scale."""
    draw = random.Random(29)
    cases = [
        (a_histogram(draw), kind, power)
        for _ in range(4)
        for kind in SCALED
        for power in SCALE_POWERS
    ]

    found = said(COUNTS, [[as_row(h), _format_data(kind), power] for h, kind, power in cases])

    fates = set()
    for (histogram, kind, power), (whole, counts, texts, paths) in zip(cases, found, strict=True):
        expected = {
            "lost": histogram.lost(kind, power),
            "over": histogram.too_large(kind, power),
        }
        assert histogram.others == whole
        assert expected == counts
        assert gradients.sentences(histogram, kind, power) == texts
        assert gradients.paths(histogram, kind, power) == paths
        fates |= {(name, count > 0) for name, count in counts.items()}
    assert 4 == len(fates)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 7, "0.0 %"), (1, 10_000, "under 0.1 %"), (1, 8, "12.5 %"), (9999, 10_000, "over 99.9 %")],
)
def test_shares_are_rounded_from_counts(part: int, whole: int, text: str) -> None:
    """A share that is not zero is never written as zero, nor one below all as all."""
    assert text == gradients.share(part, whole)
