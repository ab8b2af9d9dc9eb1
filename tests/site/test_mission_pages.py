"""The mission's pages keep their parts and their figures, and say nothing untrue."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from lesson_code.mission.constants import (
    COMPUTE_UNITS,
    DEVICES,
    GB,
    MODEL_VERSION,
    PREDICTED_EXTRA_GB,
    ROUNDED_PARAMETERS,
)
from lesson_code.mission.memory import optimizer_tax_bytes, to_gb, to_gib
from lesson_site.checks.options import Check, read_check
from lesson_site.markdown_source import Source
from lesson_site.mission.decision import schema
from lesson_site.mission.payload import payload_text
from tests import pages
from tests.building import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = (
    "mission/index.md",
    "mission/the-model.md",
    "mission/what-fits.md",
    "corrections-mission.md",
)
SOURCES = {name: (DOCS / name).read_text(encoding="utf-8") for name in PAGES}
MISSION = SOURCES["mission/index.md"]

ANCHORS = {
    "mission/index.md": [
        *("mission", "briefing", "act-1", "predict-1", "ledger", "reveal", "tradeoff", "reflect-1"),
        *("act-2", "predict-2", "pipeline", "walkthrough", "laptop", "reflect-2", "record"),
        "all-numbers",
    ],
    "mission/the-model.md": [
        *("the-model", "parameters", "regimes", "activations", "recomputation", "totals"),
        *("budgets", "pipeline-model", "mfu", "throughput", "iron-law"),
    ],
    "mission/what-fits.md": ["what-fits", "eight", "eighty", "checkpoints"],
    "corrections-mission.md": [
        *("corrected-mission", "memory", "utilisation", "laptop", "traceability"),
        "earlier-versions",
    ],
}
FIGURES = {
    "mission/index.md": [
        *("mission.parameters", "mission.chapter.steps_adam", "mission.chapter.steps_momentum"),
        *("mission.baseline.utilisation", "mission.baseline.compute_share", "mission.baseline.mfu"),
        *("mission.all_three.utilisation", "mission.all_three.compute_share"),
        *("mission.all_three.mfu", "mission.tokens_copied", "mission.job_hours"),
    ],
    "mission/the-model.md": [
        *("mission.static.fp32.sgd", "mission.static.fp32.adam", "mission.copies"),
        *("mission.fused_step", "mission.recompute_cost", "mission.largest_mfu"),
        *("hardware.rtx4060_laptop.power", "mission.tensor_cores.speed"),
        *("mission.tensor_cores.baseline_mfu", "mission.open_layer"),
        *("mission.best_fp32.fitted", "mission.best_fp32.half"),
    ],
}
# What a part of the page waits for; each lock says in words of its own what opens it.
NEEDS = {"prediction-1", "reveal-1", "act-2", "prediction-2", "laptop"}
# Everybody finds these tables, with or without scripts.
TABLES = {
    "mission/index.md": [
        *("static", "activations", "optimizers", "combinations", "batches", "walkthrough"),
    ],
    "mission/the-model.md": ["bytes", "precision", "coefficients", "activations"],
    "mission/what-fits.md": ["contexts", "laptop", "largest-batch", "checkpointing"],
}
FORBIDDEN = {
    "a number of steps without a source": r"\b90(?:,000|\s?K\b|\s?k\b)",
    "half the memory": r"[Mm]ixed precision (?:halves|saves)[^.]{0,25}\bmemory\b(?! has to move)",
    "SGD at 18 or 24 GB": r"SGD (?:\+|and|in|with) (?:FP16|16[- ]bit)[^.]{0,40}\b(?:18|24)\b",
    "a physical limit": r"physical limit",
    "a bare MFU": r"MFU of (?:its|the) (?:baseline|optimised)",
    "what this place is called": r"mission plan",
}
# In one sentence with these words the textbook's two percentages may be beside the word MFU.
EXPLAINED = ("accelerator utilisation", "textbook", "impossible", "would be", "cannot", "neither")


def check_of(name: str) -> Check:
    """The check of the mission's page with that id."""
    for title, options in re.findall(r"//// check \| (.+)\n((?:    .*\n)+)", MISSION):
        content = yaml.safe_load(options)
        if content["id"] == name:
            return read_check(title, content)
    raise AssertionError(f"no check {name}")


@cache
def words_of(page: Path, without_claims: bool) -> str:
    """What a page says in its middle, in one line, scripts left out.

    Args:
        page: A built page.
        without_claims: Whether the first cell of each row is left out, which may be untrue.
    """
    tree = pages.read(page)
    tree.strip_tags(["script", "style"])
    if without_claims:
        for cell in tree.css("article tr > td:first-child"):
            cell.decompose()
    article = tree.css_first("article")
    assert article
    return " ".join(article.text(separator=" ").split())


def everything_said(built_site: Path) -> dict[str, str]:
    """The text of each page, and the sentences of the instruments."""
    built = {
        "mission": built_site / "mission" / "index.html",
        "model": built_site / "mission" / "the-model" / "index.html",
        "what fits": built_site / "mission" / "what-fits" / "index.html",
        "corrections": built_site / "corrections-mission" / "index.html",
    }
    said = {name: words_of(page, name == "corrections") for name, page in built.items()}
    strings: list[str] = []
    json.loads(payload_text(), object_hook=lambda found: strings.extend(texts_in(found)))
    return said | {"instruments": "\n".join(strings)}


def texts_in(found: dict[str, object]) -> list[str]:
    """The texts that one object of the payload holds itself."""
    lists = [value for value in found.values() if isinstance(value, list)]
    flat = [*found.values(), *(item for values in lists for item in values)]
    return [text for text in flat if isinstance(text, str)]


@pytest.mark.parametrize("name", PAGES)
def test_all_anchors_are_there(name: str) -> None:
    """Other pages and the record link to them."""
    found = Source(SOURCES[name]).anchors

    assert [] == [anchor for anchor in ANCHORS[name] if anchor not in found]


@pytest.mark.parametrize(
    ("name", "figure"), [(name, figure) for name, named in FIGURES.items() for figure in named]
)
def test_numbers_in_sentences_are_figures(name: str, figure: str) -> None:
    """They come by name."""
    assert f"[[{figure}]]" in SOURCES[name]


def test_every_part_has_a_lock_that_says_something() -> None:
    """Each part of the page waits for something that the mission knows, and tells the reader."""
    parts = re.findall(r'data-mission-part="([\w-]+)" data-lock="([^"]+)"', MISSION)

    assert {need for need, _ in parts} == NEEDS
    assert MISSION.count("data-mission-part=") == len(parts)
    assert all(len(lock.split()) > 3 for _, lock in parts)


def test_the_page_names_the_version_of_its_model() -> None:
    """The figures of another version have other values."""
    assert re.findall(r"Model version ([\d.]+)\.", MISSION) == [MODEL_VERSION]


@pytest.mark.parametrize(
    ("name", "table"), [(name, table) for name, named in TABLES.items() for table in named]
)
def test_the_tables_need_no_script(name: str, table: str) -> None:
    """Python puts them on the page."""
    assert f'```lesson-mission show="table-{table}"' in SOURCES[name]


def test_the_page_names_every_field_of_the_file() -> None:
    """The table before the record has a row for each, so that nothing in the file surprises."""
    rows = re.findall(r"^\| `(\w+)` \|", MISSION, re.MULTILINE)

    assert list(schema()["properties"]) == rows


def test_no_answer_stands_above_its_question() -> None:
    """Neither size of Adam's state nor any share of the baseline can be read before the locks."""
    before_the_first_part, *others = MISSION.partition("## Record")[0].split("<div class=")
    parts = before_the_first_part + "".join(part.partition("</div>")[2] for part in others)
    open_text = re.sub(r"^(/{3,}) check \|.*?^\1\n", "", parts, flags=re.DOTALL | re.MULTILINE)

    spoilers = r"mission\.(?:state|static|baseline|all_three|prefetched|stored)|12 GB|35 %|table-"
    assert [] == re.findall(spoilers, open_text.partition("\n---\n")[2])


def test_no_question_is_called_what_its_heading_is_called() -> None:
    """Two lines one below the other say two things."""
    titles = re.findall(r"//// check \| (.+)", MISSION)

    assert 2 == len(titles)
    assert set() == {heading.title for heading in Source(MISSION).headings} & set(titles)


def test_the_questions_know_what_the_model_answers() -> None:
    """The right choice claims what Adam adds; 35 %, five points more or less, are accepted."""
    tax = optimizer_tax_bytes("fp32", ROUNDED_PARAMETERS)
    claims = [claimed * GB for claimed in PREDICTED_EXTRA_GB.values()]
    memory, share = check_of("adam-extra-memory"), check_of("gpu-compute-share")

    assert claims.index(tax) + 1 == int(memory.attributes["right"])
    assert all(
        f"{claimed / GB:.0f} GB" in choice
        for claimed, choice in zip(claims[1:], memory.choices[1:], strict=True)
    )
    right, tolerance = float(share.attributes["right"]), float(share.attributes["tolerance"])
    assert right == COMPUTE_UNITS
    assert 5 <= right * tolerance < 6
    assert [0, 29, 41, 69, 70, 95, 96, 100] == [
        float(end) for reply in share.replies for end in reply.to.split(":")
    ]


@pytest.mark.parametrize("device", ["node", "laptop"])
def test_budgets_stand_beside_capacities(device: str) -> None:
    """In the briefing: what we plan with, what is sold, and the power."""
    memory = DEVICES[device]  # type: ignore[index]
    digits = 1 if device == "node" else 2
    sold = f"{to_gib(memory.capacity_bytes):.0f} GiB, {to_gb(memory.capacity_bytes):.{digits}f} GB"

    row = f"| {to_gb(memory.budget_bytes):.1f} GB | {sold} | {memory.power_w} W |"
    assert row in MISSION


@pytest.mark.parametrize(("what", "pattern"), FORBIDDEN.items())
def test_nothing_untrue_is_said(built_site: Path, what: str, pattern: str) -> None:
    """Only the claims that a correction refutes may say it."""
    found = {
        name: [match[0] for match in re.finditer(pattern, text)]
        for name, text in everything_said(built_site).items()
    }

    assert {} == {name: matches for name, matches in found.items() if matches}, what


def test_the_chapters_percentages_are_not_called_mfu(built_site: Path) -> None:
    """45 % and 85 % share a sentence with MFU only where it says that they are none."""
    unexplained = [
        sentence
        for text in everything_said(built_site).values()
        for sentence in re.split(r"(?<=[.:?])\s|\n", text)
        if "MFU" in sentence
        and re.search(r"\b(?:45|85)(?:\.0)?\s%", sentence)
        and not any(word in sentence.lower() for word in EXPLAINED)
    ]

    assert [] == unexplained


def test_every_gib_is_labelled_and_every_budget_is_decimal(built_site: Path) -> None:
    """Budgets are 80.0 and 8.0 GB, never the capacity's GiB."""
    for text in everything_said(built_site).values():
        assert [] == re.findall(r"GiB budget|budget of [\d.]+.GiB", text)
        assert [] == re.findall(r"\b(?:Gb|GIB|Gib)\b", text)
