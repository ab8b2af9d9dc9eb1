"""The page about debugging has its probes, its mistakes, where each fails, and its facts."""

import re
from pathlib import Path

import pytest

TEXT = Path("docs/foundations/debugging.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
PROBES = [
    "overfit one small batch",
    "gradient norms",
    "count optimizer parameters",
    "validate twice",
    "save and reload",
    "tiny run on CPU and GPU",
]
MISTAKES = {
    "No `zero_grad()`": "autograd.md#gradients-not-reset",
    "Softmax before `CrossEntropyLoss`": "losses.md#softmax-first",
    "A plain list of layers": "modules.md#registration",
    "Validation in training mode": "graphs-and-memory.md#two-switches",
    "Graphs built in validation": "graphs-and-memory.md#what-keeps-memory",
    "CPU and GPU tensors mixed": "tensors.md#devices",
    "Logging tensors": "graphs-and-memory.md#what-keeps-memory",
    "Only weights saved for a job that resumes": "optimizers-and-checkpoints.md#checkpoints",
}


def section(anchor: str) -> str:
    """The text of a section, down to the next heading of its level."""
    return re.split(r"^## ", TEXT.split(f"{{ #{anchor} }}")[1], flags=re.MULTILINE)[0]


@pytest.mark.parametrize("probe", PROBES)
def test_each_probe_has_its_row(probe: str) -> None:
    """The table of probes is complete, with four filled cells in each row."""
    [row] = [line for line in section("probes").splitlines() if line.startswith(f"| {probe} |")]

    assert 4 == len([cell for cell in row.strip("|").split("|") if cell.strip()])


@pytest.mark.parametrize(("mistake", "demonstration"), MISTAKES.items())
def test_each_mistake_leads_to_its_demonstration(mistake: str, demonstration: str) -> None:
    """A row names the mistake, links to where it fails, and has symptom, cause and cure."""
    link = f"[{mistake}]({demonstration})"
    [row] = [line for line in section("common-mistakes").splitlines() if link in line]

    assert 4 == len([cell for cell in row.strip("|").split("|") if cell.strip()])


def test_there_are_eight_mistakes_and_four_facts() -> None:
    """No row and no fact beyond those of the plan."""
    rows = [line for line in section("common-mistakes").splitlines() if line.startswith("| [")]
    facts = re.findall(r"^\*\*.+\*\*$", section("did-you-know"), flags=re.MULTILINE)

    assert (8, 4) == (len(rows), len(facts))


@pytest.mark.parametrize(
    "fact",
    [
        "Seppo Linnainmaa described reverse-mode automatic differentiation in his master's thesis"
        " of 1970",
        "the same as momentum 1.0",
        "exists since PyTorch 2.6",
        "usually without NaN",  # FC10
        "*grows* only if outputs are kept",  # FC27
        "-100 is the default of `ignore_index`",  # FC33
        "`min()` of no labels raises",  # FC33
        "never met `backward`",  # FC11
        'of="foundations/debugging:print_bad_label" device="cuda"',  # FM5
        "With `CUDA_LAUNCH_BLOCKING=1` in the environment",
    ],
)
def test_the_page_says_what_was_corrected(fact: str) -> None:
    """The facts that earlier material had wrong or left out stand on the page."""
    assert fact in WORDS


def test_five_conditions_end_a_run() -> None:
    """The list of what to fail on leads to the lab's script."""
    listed = re.findall(r"^- ", section("fail-fast"), flags=re.MULTILINE)

    assert 5 == len(listed)
    assert "lab.md#step-3" in section("fail-fast")


@pytest.mark.parametrize("anchor", ["fail-fast", "probes", "common-mistakes", "did-you-know"])
def test_other_pages_can_link_here(anchor: str) -> None:
    """The sections keep the names under which they are linked."""
    assert re.search(rf"^## .+ \{{ #{anchor} \}}$", TEXT, flags=re.MULTILINE)


@pytest.mark.parametrize("page", ["acceleration", "debugging"])
def test_one_sentence_a_line(page: str) -> None:
    """Prose has one sentence a line, so that a change reads well."""
    fenced = False
    lines = Path(f"docs/foundations/{page}.md").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        fenced ^= line.strip().startswith("```")
        if fenced or re.match(r"description:|[#|!\-\d *?]", line):
            continue

        assert not re.search(r"[a-z`)][.?] [A-Z]", line), f"{page}:{number}: {line}"
