"""Part 2 of the foundations keeps its table, its phrases and its way on, and repeats no error."""

import re
from pathlib import Path

import pytest

from tests.building import REPOSITORY

FOUNDATIONS = REPOSITORY / "docs" / "foundations"
AUTOGRAD = (FOUNDATIONS / "autograd.md").read_text(encoding="utf-8")
MEMORY = (FOUNDATIONS / "graphs-and-memory.md").read_text(encoding="utf-8")

SITUATIONS = [
    "training a batch",
    "validation accuracy",
    "logging the loss",
    "frozen pretrained encoder",
    "adversarial examples",
    "exporting predictions",
]
ANCHORS = {
    "autograd.md": ["accumulation", "gradients-not-reset", "dynamic-graphs"],
    "graphs-and-memory.md": ["what-keeps-memory", "two-switches"],
}
PHRASES = [
    (AUTOGRAD, "not magic -- automation"),
    (AUTOGRAD, "a missing reset is SGD with momentum 1.0"),
    (AUTOGRAD, "469 batches, and groups of four leave one over"),
    (AUTOGRAD, "It cuts this function into two graphs"),
    (MEMORY, "A graph lives as long as something points at its end"),
    (MEMORY, "a missing `no_grad` and something that keeps the outputs"),
]
LINKS = [
    (AUTOGRAD, "index.md#replay"),
    (AUTOGRAD, "acceleration.md#compile"),
    (AUTOGRAD, "graphs-and-memory.md){ .next-step }"),
    (MEMORY, "modules.md){ .next-step }"),
]
# FC1, FC9, FC10, FC11, FC27, FC44: what is not so, and the belief that may say it.
UNTRUE = [
    r"nodes? (?:correspond to|are) (?:the )?cached values",
    r"norm is the sum of",
    r"NaN after (?:several )?hundred",
    r"gradients grow until",
    r"no_grad`? (?:is|makes it) (?:faster|slower)",
    r"retain_graph",
]


def prose(text: str) -> str:
    """A page without the beliefs that it breaks, in one line."""
    return " ".join(re.sub(r"^!!! belief.*$", "", text, flags=re.MULTILINE).split())


def test_the_table_of_switches_has_its_situations() -> None:
    """Six situations, each with a word on gradients, both modes, and the reason."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in MEMORY.splitlines()
        if line.startswith("| ")
    ]

    assert ["Situation", "Track gradients?", "`train()`?", "`eval()`?", "Reason"] == rows[0]
    assert SITUATIONS == [row[0] for row in rows[2:]]
    assert all(len(row) == 5 and all(row) for row in rows)


@pytest.mark.parametrize(("page", "anchors"), ANCHORS.items())
def test_other_pages_find_their_anchors(page: str, anchors: list[str]) -> None:
    """Headings that other pages link to keep their ids."""
    text = (FOUNDATIONS / Path(page)).read_text(encoding="utf-8")

    for anchor in anchors:
        assert re.search(rf"^## .+ {{ #{anchor} }}$", text, flags=re.MULTILINE)


@pytest.mark.parametrize(("text", "phrase"), PHRASES)
def test_a_page_says_what_others_lean_on(text: str, phrase: str) -> None:
    """The named model and the rules stand word for word."""
    assert phrase in " ".join(text.split())


@pytest.mark.parametrize(("text", "link"), LINKS)
def test_a_page_leads_on(text: str, link: str) -> None:
    """Links to the replay, to compilation and to the next page."""
    assert link in text


@pytest.mark.parametrize("untrue", UNTRUE)
def test_what_older_tutorials_get_wrong_is_not_repeated(untrue: str) -> None:
    """No page states it, except as the belief that it breaks."""
    assert not re.search(untrue, prose(AUTOGRAD) + prose(MEMORY))


def test_the_diagram_leads_back_to_the_leaf() -> None:
    """Forward from x by y to the loss, and back by backward, which adds."""
    diagram = AUTOGRAD.split("```lesson-diagram")[1].split("```")[0]

    edges = re.findall(r"^  (\w+)\S* (?:\[.*?\] )?-->(?:\|\"(.*?)\"\|)? (\w+)", diagram, re.M)
    assert {("y", "", "loss"), ("loss", "backward adds into x.grad", "x")} <= set(edges)
    assert re.search(r'x\[.*requires grad"\] --> y\[.*recorded', diagram)
    assert 'text="' in diagram.splitlines()[0]


def test_the_prediction_stands_before_its_sample() -> None:
    """The reader guesses before the table of norms, and the answer's numbers are named figures."""
    check, output = (
        AUTOGRAD.index("id: foundations-missing-reset"),
        AUTOGRAD.index('of="foundations/autograd:print_missing_reset"'),
    )
    answer = AUTOGRAD.split("/// answer")[1].split("///")[0]

    assert check < output
    assert 5 == answer.count("[[foundations.no_reset.norm_")
    assert not re.search(r"\d\.\d", re.sub(r"\[\[.*?\]\]", "", answer))


def test_memory_kept_on_a_gpu_comes_from_the_record() -> None:
    """What kept losses cost on a GPU is named, never typed."""
    assert 3 == MEMORY.count("[[kept_losses.cuda_")
