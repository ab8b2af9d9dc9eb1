"""The pages of the foundations: their headings, their order, and guesses before their answers."""

import itertools
import re

import pytest

from lesson_site.markdown_source import Source
from lesson_site.mnist_files import CHECKSUMS
from tests.building import REPOSITORY

FOLDER = REPOSITORY / "docs" / "foundations"
TEXT = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}

# Headings that other pages, figures and the lab's checker lead to
ANCHORS = {
    "acceleration": ["cost-not-contract", "paths", "mixed-precision", "compile", "economics"],
    "autograd": ["accumulation", "gradients-not-reset", "dynamic-graphs", "what-a-node-keeps"],
    "data-of-your-own": ["look", "dataset", "split", "prepare", "workers", "speed"],
    "debugging": ["fail-fast", "probes", "records", "common-mistakes", "did-you-know"],
    "fine-tuning": ["load", "freeze", "train-all", "late-head", "larger"],
    "graphs-and-memory": ["what-keeps-memory", "two-switches"],
    "learning-or-memorising": ["overfitting", "early-stopping", "three-sets", "standard-error"],
    "losses": ["losses", "softmax-first", "regression"],
    "mnist-script": ["data"],
    "modules": ["registration", "containers", "batch-norm", "inspect"],
    "optimizers-and-checkpoints": ["optimizers", "checkpoints", "safe-loading"],
    "profiling": ["parts", "three-trainings", "rows", "on-a-gpu", "gain"],
    "rate-and-batch": ["updates", "rate", "critical-batch-size", "schedules"],
    "tensors": ["contract", "rank-and-shape", "sharing-memory", "dtypes", "devices"],
    "training-loop": ["loop", "order", "script", "loader", "shuffling", "loader-share"],
}
WAY = [
    *("index", "tensors", "autograd", "graphs-and-memory", "modules", "losses", "training-loop"),
    *("mnist-script", "data-of-your-own", "learning-or-memorising", "rate-and-batch"),
    *("optimizers-and-checkpoints", "fine-tuning", "acceleration", "profiling", "debugging"),
    *("quiz", "lab"),
]
# A check, and the outputs or listings that would answer it
GUESSES = {
    "foundations-flattened-shape": ["tensors.py:metadata"],
    "foundations-missing-reset": ["autograd:print_missing_reset"],
    "foundations-plain-list": ["modules:print_loud_failures"],
    "foundations-two-class-mse": ["losses:print_mse_of_indices", "losses:print_two_classes"],
    "foundations-order-step-first": ["training_loop:print_orders"],
    "foundations-sorted-loss": ["training_loop:print_sorted_digits"],
    "foundations-split-by-writer": ["own_data:study_split"],
    "foundations-worker-draws": ["own_data_loading:print_draws", "own_data_loading.py:own_seed"],
    "foundations-validation-loss": ["generalising:print_memorising", 'show="learning_curves"'],
    "foundations-best-guesser": ["generalising.py:guessers", "generalising:print_guessers"],
    "foundations-larger-batch": ["rate_and_batch:study_batches"],
    "foundations-adam-decay": ["optimizers_and_checkpoints:print_one_step"],
    "foundations-resume-first-step": ["optimizers_and_checkpoints:print_resumes"],
    "foundations-trained-start": ["fine_tuning:study_sizes"],
    "foundations-three-profiles": [
        *("profiling.py:compressed", "profiling.py:losses"),
        *("profiling:print_products", "profiling:print_mended"),
    ],
    "foundations-ignored-labels": ["debugging:print_spoiled_batches"],
    "foundations-incident": ["incident:print_replay"],
}


@pytest.mark.parametrize("page", ANCHORS)
def test_headings_keep_the_names_under_which_they_are_linked(page: str) -> None:
    """Each name belongs to one heading."""
    headings = Source(TEXT[page]).anchors

    assert [1] * len(ANCHORS[page]) == [headings.count(anchor) for anchor in ANCHORS[page]]


@pytest.mark.parametrize(("page", "following"), list(itertools.pairwise(WAY)))
def test_each_page_ends_with_the_way_to_the_next(page: str, following: str) -> None:
    """The parts are read in order, and the lab comes last."""
    assert f"({following}.md){{ .next-step }}" in TEXT[page].strip().splitlines()[-1]


def test_the_way_leads_through_every_page_and_on_to_the_lesson() -> None:
    """No page is left out."""
    assert set(TEXT) == set(WAY)
    assert TEXT["lab"].strip().endswith("(../gpu-training/index.md){ .next-step }")


@pytest.mark.parametrize("check", GUESSES)
def test_a_guess_comes_before_what_answers_it(check: str) -> None:
    """The check is above the listing or the output that would give it away."""
    [text] = [text for text in TEXT.values() if f"id: {check}\n" in text]
    asked = text.index(f"id: {check}\n")

    assert all(asked < text.index(answer) for answer in GUESSES[check])


@pytest.mark.parametrize("page", WAY)
def test_one_sentence_a_line(page: str) -> None:
    """Prose has one sentence a line, so that a change reads well."""
    fenced = False
    for number, line in enumerate(TEXT[page].splitlines(), start=1):
        fenced ^= line.strip().startswith("```")
        if fenced or re.match(r"description:|[#|!\-\d *?]", line):
            continue

        assert not re.search(r"[a-z`)][.?] [A-Z]", line), f"{page}:{number}: {line}"


@pytest.mark.parametrize("page", WAY)
def test_no_measured_number_is_typed_into_an_answer(page: str) -> None:
    """What a run gave is behind a name; rates and sizes of an exercise may be typed."""
    for answer in re.findall(r"^/// answer\n(.*?)^///$", TEXT[page], re.MULTILINE | re.DOTALL):
        plain = re.sub(r"\[\[.*?\]\]|`.*?`", "", answer)

        assert not re.search(r"\d\.\d{3}", plain), plain


def test_the_files_of_mnist_have_the_sizes_and_checksums_of_the_table() -> None:
    """An image takes 784 bytes and a label one, behind 16 and 8 bytes of header."""
    rows = re.findall(r"^\| `(\S+)` \| ([\d,]+) \| `(\w+)` \|$", TEXT["mnist-script"], re.MULTILINE)
    sizes = [16 + 784 * 60_000, 8 + 60_000, 16 + 784 * 10_000, 8 + 10_000]

    assert CHECKSUMS == {name: checksum for name, _, checksum in rows}
    assert sizes == [int(size.replace(",", "")) for _, size, _ in rows]
