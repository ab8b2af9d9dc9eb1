"""What the mission's texts must not say, and that their numbers are computed, not typed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lesson_site.mission.fence import TABLES
from lesson_site.mission.payload import build_payload
from lesson_site.mission.sentences import FOLDER

REPOSITORY = Path(__file__).parents[3]
SOURCES = [
    *sorted((REPOSITORY / "lesson_site" / "mission").rglob("*.py")),
    *sorted((REPOSITORY / FOLDER).glob("*.md")),
]
# What the model computes. A text that shows one of these has to ask the model for it.
RESULTS = re.findall(
    r"\S+",
    """
    1557611200 1555662400 1.5576 6.23 3.11 12.46 18.69 24.92 9.35 7.11 11.61 23.21 4.46 41.7 91.9
    76.5 31.6 61.6 27.2 48.8 35.4 56.2 84.4 72.7 560.5 415.8 803.5 53.1 16.74 12.12 9.18 9.08 66.9
    387.7 28.2 535.5 293.7 13.34 16.45 13.02 6.69 7.14 8.05 9.02 56.5 32.1 8.1 32.5 45.0 84.6 24.5
    39.3 74.9 20.1 74.4 38.8 39.6 55.4 85.8 83.5 82.0 49.0 43.2 53.5 52.5 79.5 29.3 77.8 2.65 1.61
    1.58 1.21 0.94 82.5 15.6 9.9 16.4 9.2 3.7 13.8 19.0 33.3 31.8 1.38 1.82 1.20 1.49 73173 10342
    262144
    """,
)
# Numbers with decimals that are no result: by why they may be typed.
TYPED = {
    "1.3": "an option",
    "1.5": "an option",
    "1.0": "an option",
    "9.5": "an example of what to type",
    "2.0": "twice",
    "0.01": "how finely a design ledger keeps its numbers",
}
# What cards are called, and what an iteration is by definition.
NAMES = ("80 GB", "32 GB", "8 GB", "100 units")
NAMED = re.compile(r"\[\[[\w.]+\]\]|\{\w+\}")
WITH_UNIT = r"(?<![\w.])\d[\d.]* (?:GB|GiB|%|billion|units|steps|tokens|points)"


def literals(source: str) -> Iterator[str]:
    """The strings and numbers of a module, docstrings left out, digits ungrouped."""
    tree = ast.parse(source)
    documented = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for statement in node.body[:1]
        if isinstance(statement, ast.Expr)
    }
    formats = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and node.format_spec
        for part in ast.walk(node.format_spec)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documented | formats:
            yield re.sub(r"(?<=\d),(?=\d{3})", "", str(node.value))


def typed_results(source: str, kind: str = ".py") -> list[str]:
    """The numbers in a module or in a text that the model computes, and others not allowed."""
    found = []
    for literal in literals(source) if kind == ".py" else [NAMED.sub("", source)]:
        text = re.sub(r"arXiv \d+\.\d+|GPT-\d", "", literal)
        found += [size for size in re.findall(WITH_UNIT, text) if size not in NAMES]
        numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)", text)
        found += [
            number
            for number in numbers
            if number in RESULTS or ("." in number and number not in TYPED)
        ]
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_numbers_are_computed(source: Path) -> None:
    """No module and no text has a result of the model typed into it."""
    assert typed_results(source.read_text(encoding="utf-8"), source.suffix) == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("""TEXT = "Adam takes 24.92 GB." """, ["24.92 GB", "24.92"]),
        ("""TEXT = f"{name}: 12.46 GB" """, ["12.46 GB", "12.46"]),
        ("""TEXT = "40 % of an iteration" """, ["40 %"]),
        ("""def text():\n    return "at 1,557,611,200 parameters" """, ["1557611200"]),
        ("""SHARE = 84.6""", ["84.6"]),
        ("""TEXT = "about 77.77 % of it" """, ["77.77 %", "77.77"]),
        ("""PARAMETERS = 1_557_611_200""", ["1557611200"]),
    ],
)
def test_typed_results_would_be_found(planted: str, found: list[str]) -> None:
    """The search finds a result that was typed as a text, in a filled text, or as a number."""
    assert found == typed_results(planted)


def test_typed_results_would_be_found_in_a_text() -> None:
    """The search reads Markdown too, where names are in place of numbers."""
    text = "- id: Adam takes 24.92 GB of [[node]] GB, and {total} GB"

    assert ["24.92 GB", "24.92"] == typed_results(text, ".md")


@pytest.mark.parametrize(
    "harmless",
    [
        '''"""A module about 24.92 GB."""''',
        """TEXT = f"{size:.2f} GB and {share:.1f} %" """,
        """TEXT = "Korthikanti et al. (2022), arXiv 2205.05198, section 4" """,
        """COUNT = 48""",
    ],
)
def test_search_for_typed_results_lets_other_numbers_pass(harmless: str) -> None:
    """Docstrings, formats, references and counts are no typed results."""
    assert typed_results(harmless) == []


def sentences() -> list[str]:
    """Every sentence that the mission can show, out of the data and out of the page's tables."""
    tables = [table() for table in TABLES.values()]
    texts = [*_texts(build_payload())]
    for table in tables:
        texts += [table.caption, *table.notes, *(" ".join(row) for row in table.rows)]
    return [part for text in texts for part in re.split(r"(?<=[.!?:]) ", text)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from _texts(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _texts(child)


# What is not true, in the words in which it is often said.
FORBIDDEN = {
    "mixed precision halves memory": r"mixed precision\b(?![^.]*(?:does not|no |never))[^.]*"
    r"\b(?:halves|cuts|reduces|shrinks|saves)\b[^.]*\b(?:training memory|memory by|"
    r"static (?:total|memory)|50 %)",
    "SGD with FP16 needs 18 or 24 GB": r"(?:SGD[^.]*(?:FP16|16-bit)|(?:FP16|16-bit)[^.]*SGD)"
    r"[^.]*\b(?:18|24)(?:\.0)? GB",
    "a physical limit": r"physical(?:ly)? (?:limit|impossible)",
    "several machines are required": r"(?:requires?|needs?|only) [^.]*"
    r"(?:several|multiple) machines",
    "90K steps": r"\b90(?:,000|\.000|K| K|k)\b",
    "MFU of 85 %": r"\bMFU\b(?: \w+){0,3} 85(?:\.0)? %",
    "MFU rises by 40 points": r"\b40 points of MFU|MFU by (?:about )?40 points",
    "MFU as target": r"80(?:\.0)? % MFU|MFU of 80",
}


def wrong(sentence: str) -> list[str]:
    """Which forbidden statements a sentence makes."""
    return [name for name, words in FORBIDDEN.items() if re.search(words, sentence, re.IGNORECASE)]


def test_nothing_false_is_said() -> None:
    """No sentence of the mission says what is known to be false."""
    assert [(sentence, wrong(sentence)) for sentence in sentences() if wrong(sentence)] == []


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        ("Mixed precision halves training memory.", "mixed precision halves memory"),
        ("With mixed precision you save: mixed precision reduces memory by 2×.", None),
        ("The best case, SGD + FP16, needs 24 GB.", "SGD with FP16 needs 18 or 24 GB"),
        ("FP16 with SGD still takes 18 GB.", "SGD with FP16 needs 18 or 24 GB"),
        ("8 GB is a physical limit.", "a physical limit"),
        ("It requires sharding over multiple machines.", "several machines are required"),
        ("Momentum takes 90,000 steps.", "90K steps"),
        ("The optimised run has an MFU of 85 %.", "MFU of 85 %"),
        ("One machine recovers 40 points of MFU.", "MFU rises by 40 points"),
        ("Reach 80 % MFU.", "MFU as target"),
    ],
)
def test_false_statements_would_be_found(sentence: str, statement: str | None) -> None:
    """The search finds each of them."""
    expected = statement or "mixed precision halves memory"

    assert [expected] == wrong(sentence)


def test_chapters_figures_are_called_utilisation() -> None:
    """45 % and 85 % are accelerator utilisation, or said to be the textbook's."""
    guess = re.compile(r"You said \d+ %")
    unnamed = [
        sentence
        for sentence in sentences()
        if re.search(r"\b(?:45|85)(?:\.0)? %", guess.sub("", sentence))
        and re.search("[a-z]", sentence)  # a cell that is a figure alone has its row's heading
        and not re.search(r"utilisation|textbook", sentence, re.IGNORECASE)
    ]

    assert unnamed == []


def test_walkthrough_does_not_call_utilisation_mfu() -> None:
    """The row of the textbook's 45 and 85 % has utilisation's name, and MFU a row of its own."""
    rows = {row[0]: row[1:] for row in TABLES["table-walkthrough"]().rows}

    assert rows["Accelerator utilisation"][:2] == ("45 %", "85 %")
    assert rows["MFU"][0] == "not reported"
    assert rows["MFU"][1].startswith("not reported; 1,200 tokens/s implies")


def test_gibibytes_are_labelled() -> None:
    """Sizes are in decimal GB; other units of memory are named where they stand."""
    wrong_units = [
        sentence for sentence in sentences() if re.search(r"\d ?(?:G|Go|gigs?|MiB|MB)\b", sentence)
    ]

    assert wrong_units == []
