"""The mission's scripts select rows and draw: no constant of the model, no arithmetic with it."""

import re
from pathlib import Path

import pytest

from lesson_code.mission.constants import (
    ACTIVATION_BYTES,
    CHAPTER_TOKENS_PER_S,
    HANDOFF_SHARE,
    KERNEL_EFFICIENCY,
    TRANSFER_BUSY,
    TRANSFER_BUSY_PREFETCHED,
)

ELEMENTS = Path(__file__).parents[3] / "docs" / "assets" / "elements"
NAMES = ("memory-ledger", "pipeline-analyzer", "laptop-challenge", "walkthrough-column")
SCRIPTS = sorted(
    [
        *ELEMENTS.glob("mission-*.js"),
        *(ELEMENTS / "mission").glob("*.js"),
        *(ELEMENTS / f"{name}.js" for name in NAMES),
    ]
)
DRAWS = "draw.js"  # the only script that may compare, round, and turn values into pixels

# Constants of the model that no script has another use for.
CONSTANTS = [
    *("1557611200", "1555662400", "1500000000", "1.5576", "124439808", "50257", "1475558400"),
    *("12.46", "6.23", "18.69", "24.92", "3.11", "9.35", "13.34", "16.45", "13.02", "6.69"),
    *("7.14", "8.05", "41.7", "91.9", "76.5", "31.6", "84.6", "39.3", "24.5", "74.9", "20.1"),
    *("1000000000", "1e9", "10737", "1073741824", "0.45", "0.85", "0.35", "0.25", "0.4", "0.8"),
    *("80.0", "8.0", str(CHAPTER_TOKENS_PER_S), str(HANDOFF_SHARE)),
    *(f"{share:g}" for share in (TRANSFER_BUSY, TRANSFER_BUSY_PREFETCHED)),
    *(f"{share:g}" for share in KERNEL_EFFICIENCY.values()),
]
# 66, 38 or 34 bytes a value may be a length in pixels too; side by side they are the model's.
TOGETHER = [
    r"\b40\b\D{1,12}\b25\b\D{1,12}\b35\b",
    r"\b60\b\D{1,12}\b70\b\D{1,12}\b79\b",
    r"\b4\b\D{1,12}\b4\b\D{1,12}\b0\b\D{1,12}\b4\b",
    *(rf"\b{each.value}\b\D{{1,12}}\b{each.score}\b" for each in ACTIVATION_BYTES.values()),
]
# Fields of the payload's rows that are numbers. They go to `pixels` as they are.
NUMBERS = (
    r"(?:bytes|total|static|unit_ends|share_ends|memory_ends|budget_end|pointers|kept_gb|"
    r"extra_bytes|right|least|most)"
)
ROW = r"(?:rows?|payload|found|options?|budgets?|iteration|before|after|part|ghost|marks)"
FIELD = rf"\b{ROW}(?:\.\w+|\[[^\]]*\])*\.{NUMBERS}\b"
ARITHMETIC = [
    rf"{FIELD}(?:\[[^\]]*\])?\s*(?:[-*/%]|\*\*)(?!/)\s*[\w(]",
    rf"[\w)\]]\s*(?:[-*/%]|\*\*)\s*{FIELD}",
]


def code_of(source: str) -> str:
    """A script without its comments; grouped digits are joined."""
    without = re.sub(r"/\*.*?\*/", " ", source, flags=re.DOTALL)
    without = re.sub(r"(^|[\s;{}()])//[^\n]*", r"\1", without)
    return re.sub(r"(?<=\d)_(?=\d)", "", without)


def offences(source: str, name: str = "any.js") -> list[str]:
    """What a script has that only the model may have."""
    code = code_of(source)
    found = [
        constant
        for constant in CONSTANTS
        if re.search(rf"(?<![\w.]){re.escape(constant)}(?![\w]|\.\d)", code)
    ]
    found += [match[0] for words in TOGETHER for match in re.finditer(words, code)]
    found += [match[0] for words in ARITHMETIC for match in re.finditer(words, code)]
    calls = re.findall(r"\bMath\s*(?:\.\s*\w+|\[|\b)", code)
    allowed = ("Math.min", "Math.max", "Math.round") if name == DRAWS else ()
    return found + [call for call in calls if call not in allowed]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_script_has_no_model(script: Path) -> None:
    """A script has no constant of the model, no arithmetic with a row, and no Math but to draw."""
    assert offences(script.read_text(encoding="utf-8"), script.name) == []


def test_all_scripts_are_there() -> None:
    """The search is over every script of the mission, and there are some."""
    found = {script.name for script in SCRIPTS}

    assert {f"{name}.js" for name in NAMES} < found
    assert {"mission-guide.js", "mission-record.js", "state.js", "draw.js"} < found


@pytest.mark.parametrize(
    "planted",
    [
        "const parameters = 1557611200;",
        "const parameters = 1_557_611_200;",
        'const text = "12.46 GB";',
        "const busy = share + 0.48 * transfer;",
        "const efficiency = { 16: 0.6, 32: 0.7 };",
        "const units = [40, 25, 35];",
        "const gb = bytes / 1e9;",
        "const mfu = Math.floor(1000 * share);",
        "const most = Math.max(a, b);",
        "const { max } = Math;",
        "const gap = row.total - budget.bytes;",
        "const half = (2 * row.bytes[5]) | 0;",
        "const wide = row.unit_ends[3] / 2;",
        "const over = guess - payload.laptop.total;",
    ],
)
def test_a_planted_model_would_be_found(planted: str) -> None:
    """Each of these lines in a script would be reported."""
    assert offences(planted)


@pytest.mark.parametrize(
    ("harmless", "name"),
    [
        ("// 1557611200 parameters, 12.46 GB, Math.floor", "any.js"),
        ("/* 0.48 of the transfers */ const x = 1;", "any.js"),
        ("const y = pixels(row.total, row.axis, height);", "any.js"),
        ('const url = new URL("https://example.org/1.5");', "any.js"),
        ("export const pixels = (v) => Math.max(0, Math.min(9, Math.round(v)));", "draw.js"),
        ("const wrong = value < payload.predictions.claims.A;", "any.js"),
    ],
)
def test_drawing_is_allowed(harmless: str, name: str) -> None:
    """Comments, comparisons with bounds, and the function for pixels are no model."""
    assert offences(harmless, name) == []
