"""Speed-ups on pages are named, never typed."""

import re
from pathlib import Path

import pytest

from lesson_site.markdown_source import Source
from tests.building import REPOSITORY

PAGES = sorted((REPOSITORY / "docs").rglob("*.md"))
NAMED = re.compile(r"\[\[.*?\]\]")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
# "3x", "3–5×", "2.5 times faster"; a size such as "28×28" or "28 x 28" is none.
MULTIPLIER = re.compile(
    r"""(?<![\w.×])\d+(?:[.,]\d+)?(?:\s*(?:-|–|to)\s*\d+(?:[.,]\d+)?)?"""
    r"""(?:\s?[x×](?![\w×])(?!\s*\d)|[ -](?:times|fold)\s(?:as|faster|slower|less|more)\b)"""
)


def multipliers(text: str) -> list[str]:
    """The multipliers that were typed into a page, outside of code and of named figures."""
    text = Source(text).prose
    for hidden in (CODE, NAMED):
        text = hidden.sub(" ", text)
    return [match[0] for match in MULTIPLIER.finditer(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("about 3x faster", ["3x"]),
        ("a 3–5× gain", ["3–5×"]),
        ("from 2 to 4× on one card", ["2 to 4×"]),
        ("1.7 × as many", ["1.7 ×"]),
        ("is 10 times faster", ["10 times faster"]),
        ("[[amp.speed_up]] faster, `3x`", []),
        ("28×28 pixels, 28 x 28, 784 × 256, 0x1F, H100x", []),
        ("run it 10 times and take the median", []),
        ("```text\n3x\n```\n", []),
    ],
)
def test_the_search_finds_multipliers_and_nothing_else(text: str, found: list[str]) -> None:
    """Sizes, code and named figures are no multipliers."""
    assert found == multipliers(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_multiplier_is_typed_into_a_page(page: Path) -> None:
    """Every speed-up on a page is read from a measurement, by a figure's name."""
    assert [] == multipliers(page.read_text(encoding="utf-8"))
