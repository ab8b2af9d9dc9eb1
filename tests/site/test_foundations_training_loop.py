"""Part 4 of the foundations keeps its tables, drawings, phrases and corrections."""

import re
from pathlib import Path

import pytest

FOLDER = Path("docs/foundations")
PAGES = ("training-loop", "mnist-script", "optimizers-and-checkpoints")
TEXT = {page: (FOLDER / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}

ROWS = {
    "training-loop": [
        *("`batch_size`", "`shuffle=True`", "`shuffle=False`", "`num_workers`"),
        *("`pin_memory=True`", "your own `Dataset`", "`drop_last=True`"),
        *("`model.train()`", "`optimizer.zero_grad()`", "`loss.backward()`", "`optimizer.step()`"),
        "`@torch.no_grad()`, `model.eval()`",
    ],
    "optimizers-and-checkpoints": [
        *("SGD", "SGD with momentum", "Adam", "AdamW", "learning-rate scheduler"),
        "gradient clipping",
    ],
    "mnist-script": [
        *("`train-images-idx3-ubyte`", "`train-labels-idx1-ubyte`"),
        *("`t10k-images-idx3-ubyte`", "`t10k-labels-idx1-ubyte`"),
    ],
}
PHRASES = {
    "training-loop": [
        "same heartbeat, new instruments",
        "snapshot of all the knobs",
        "clear, forward, loss, backward, update",
        "no accelerator is found",
        "[[mnist_epoch.loader_share]]",
        "[[mnist_epoch.resident_cuda]]",
        "[[loader.pinned_speedup]]",
    ],
    "mnist-script": [
        "`torch.manual_seed` covers every device",
        "It never trains on made-up digits instead",
        "Two loader workers change nothing",
        "47,040,016",
        "2646ac647ad5339dbf082846283269ea",
    ],
    "optimizers-and-checkpoints": [
        "snapshot of all the knobs",
        "From the second step on.",
        "the norm *before* clipping",
        "after `unscale_`",
        "`decoupled_weight_decay=True`",
        "Never answer a refused load by switching the protection off.",
        "CVE-2025-32434",
        "CVE-2026-24747",
        "safetensors",
        "judgement, as of 2026",
    ],
}
ANCHORS = {
    "training-loop": ["loop", "order", "script", "loader", "shuffling"],
    "mnist-script": ["data"],
    "optimizers-and-checkpoints": [],
}
BOTH_HALVES = ["optimizers", "checkpoints", "safe-loading"]
EDGES = [
    'improved{"Metric improved?"}',
    'improved -->|"yes"| save',
    'improved -->|"no"| epochs',
    "save --> epochs",
    'epochs -->|"yes"| start',
    'batches -->|"yes"| load',
    'batches -->|"no"| eval',
]
MESSAGES = [
    "loader->>model: batch on the chosen device",
    "model->>loss: logits",
    "loss->>autograd: scalar with graph",
    "autograd->>model: gradients on parameters",
    "optimizer->>model: update",
    "model->>loader: ready for the next batch",
]
NOT_SAID = [
    r"torch\.cuda\.manual_seed",  # redundant
    r"accuracy_from_logits",  # never called
    r"torch\.cuda\.amp",  # deprecated
    r"best_accuracy = 0",  # a first accuracy of zero would save nothing
    r"weights_only=False",
    r"adds little",  # pinning without a GPU warns and does nothing
    r"trains quickly",
    r"torch\.load\((?![^)]*weights_only=True)",
]


def words(page: str) -> str:
    """A page's text without its line breaks."""
    return " ".join(TEXT[page].split())


@pytest.mark.parametrize("page", PAGES)
def test_the_tables_have_their_rows(page: str) -> None:
    """Each row of the tables begins with its key."""
    first_cells = re.findall(r"^\| ([^|]+?) \|", TEXT[page], flags=re.MULTILINE)

    assert [] == [row for row in ROWS[page] if row not in first_cells]


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_say_what_they_must(page: str) -> None:
    """Named ideas, corrected statements and figures stand there word for word."""
    assert [] == [phrase for phrase in PHRASES[page] if phrase not in words(page)]


@pytest.mark.parametrize("page", PAGES)
def test_the_headings_that_others_link_to_are_there(page: str) -> None:
    """Both halves answer to the anchors of optimizers, checkpoints and safe loading."""
    wanted = ANCHORS[page] + ([] if page == "mnist-script" else BOTH_HALVES)
    headings = re.findall(r"^##+ .+ \{ #([\w-]+) \}$", TEXT[page], flags=re.MULTILINE)

    assert [] == [anchor for anchor in wanted if anchor not in headings]


def test_the_loop_is_drawn_with_both_decisions() -> None:
    """The drawing asks whether the metric improved, and leads back to the next epoch."""
    assert [] == [edge for edge in EDGES if edge not in TEXT["training-loop"]]


def test_one_batch_is_drawn_message_by_message() -> None:
    """Six messages in their order."""
    places = [TEXT["training-loop"].find(message) for message in MESSAGES]

    assert -1 not in places
    assert sorted(places) == places


@pytest.mark.parametrize("statement", NOT_SAID)
def test_what_was_wrong_is_not_repeated(statement: str) -> None:
    """Neither a page nor the code behind it says it."""
    code = [
        Path("lesson_code/foundations", f"{name}.py").read_text(encoding="utf-8")
        for name in ("training_loop", "train_mnist", "optimizers_and_checkpoints")
    ]

    assert [] == [text for text in (*TEXT.values(), *code) if re.search(statement, text)]


@pytest.mark.parametrize("page", PAGES)
def test_predictions_come_before_what_they_predict(page: str) -> None:
    """The first question of a page stands above the output that answers it."""
    checks = [match.start() for match in re.finditer(r"^//// check", TEXT[page], re.MULTILINE)]
    answers = {
        "training-loop": ["print_orders", "print_sorted_digits"],
        "mnist-script": [],
        "optimizers-and-checkpoints": ["print_one_step", "print_resumes"],
    }[page]

    assert len(answers) == len(checks)
    for check, output in zip(checks, answers, strict=True):
        assert check < TEXT[page].index(output)


def test_the_three_pages_follow_each_other() -> None:
    """Each ends with a link to the next."""
    last = [text.strip().splitlines()[-1] for text in TEXT.values()]

    assert "(mnist-script.md){ .next-step }" in last[0]
    assert "(optimizers-and-checkpoints.md){ .next-step }" in last[1]
    assert "(acceleration.md){ .next-step }" in last[2]
