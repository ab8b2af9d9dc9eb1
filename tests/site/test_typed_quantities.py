"""Times, rates, memory, shares and ratios on pages come by name; what is typed says why.

A setting, a definition or somebody's words are typed, and ``typed_quantities.toml`` lists them with
their reason. A result is never typed. The first column of a table whose heading says that it quotes
needs no entry.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lesson_site.markdown_source import Source
from tests.building import REPOSITORY

PAGES = sorted((REPOSITORY / "docs").rglob("*.md"))
LIST = Path(__file__).with_name("typed_quantities.toml")
REASONS = ("setting", "definition", "assumed", "quoted", "plan")
QUOTING = ("you may have read", "the textbook says", "anchor in the textbook")
HIDDEN = (
    re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL),  # code
    re.compile(r"\[\[.*?\]\]"),  # figures by name
    re.compile(r"\$[^$\n]+\$"),  # formulas
    re.compile(r"\]\([^)]*\)|\{[^}\n]*\}"),  # addresses of links, attributes
)
NUMBER = r"(?<![\w.×,-])\d+(?:,\d{3})*(?:\.\d+)?"
UNITS = (
    *("s", "ms", "µs", "ns", "seconds?", "milliseconds?", "microseconds?", "minutes?", "hours?"),
    *("days?", "weeks?", "months?", "years?"),
    *("GB", "MB", "kB", "TB", "GiB", "MiB", "KiB", "GB/s", "TB/s", "MB/s"),
    *("[GT]?FLOP/s", "TFLOPS", "%", "per ?cent", "times", "(?:percentage )?points"),
    *("(?:images|samples|tokens|steps) (?:a|per) second",),
)
QUANTITY = re.compile(
    rf"{NUMBER}(?:\s*(?:-|–|to|and|or|/|,)\s*{NUMBER})?[\s\u00a0-]?(?:{'|'.join(UNITS)})(?![\w/])"
)


def typed(markdown: str) -> Counter[str]:
    """The quantities that an author typed into a page, and how often."""
    markdown = Source(markdown).prose
    for pattern in HIDDEN:
        markdown = pattern.sub(" ", markdown)
    markdown = without_quotations(markdown)
    return Counter(" ".join(found[0].split()) for found in QUANTITY.finditer(markdown))


def without_quotations(markdown: str) -> str:
    """The text without the first cells of tables whose heading says that they quote."""
    lines, quoting = [], False
    for line in markdown.splitlines():
        _, edge, rest = line.partition("|")
        first, _, others = rest.partition("|")
        quoting = bool(edge) and (quoting or first.strip() in QUOTING)
        lines.append(others if quoting else line)
    return "\n".join(lines)


def allowed() -> dict[str, dict[str, Any]]:
    """For each page the quantities that may be typed, each with its reason."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 3.5 s.", ["3.5 s"]),
        ("from 20 to 25 % less", ["20 to 25 %"]),
        ("needs 24 GB and 900 GB/s", ["24 GB", "900 GB/s"]),
        ("1,200 images a second", ["1,200 images a second"]),
        ("2.3 times as fast", ["2.3 times"]),
        ("[[a.b]] s, `3 s`, $3$ %, [x](3s) and 3 sizes", []),
        ("```text\n3 s\n```", []),
        ("40 / 25 / 35 % of 3 days", ["25 / 35 %", "3 days"]),
        ("| you may have read | so |\n| - | - |\n| 3 s | 4 s |", ["4 s"]),
        ("| you may have read |\n| - |\n| 3 s |\n\n| so |\n| - |\n| 5 s |", ["5 s"]),
        ("an A100-SXM4-80GB, 28×28 images, batch 64, 3 layers", []),
    ],
)
def test_the_search_finds_quantities(text: str, found: list[str]) -> None:
    """Numbers with a unit of time, memory, rate or ratio; no counts, names, code or quotations."""
    assert Counter(found) == typed(text)


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(REPOSITORY / "docs").as_posix()
)
def test_a_typed_quantity_has_a_reason(page: Path) -> None:
    """What the list does not know has to come by name, as a figure."""
    name = page.relative_to(REPOSITORY / "docs").as_posix()

    found = set(typed(page.read_text(encoding="utf-8")))

    assert set() == found - allowed().get(name, {}).keys(), (
        f"docs/{name}: name it as a figure, or give its reason in tests/site/typed_quantities.toml"
    )


def test_the_list_names_nothing_that_is_gone() -> None:
    """Every entry is on its page still, with one of the reasons and why."""
    stale = [
        f"{name}: {quantity}"
        for name, entries in allowed().items()
        for quantity, reason in entries.items()
        if quantity not in typed((REPOSITORY / "docs" / name).read_text(encoding="utf-8"))
        or re.fullmatch(rf"({'|'.join(REASONS)}): \S.*", reason) is None
    ]

    assert [] == stale
