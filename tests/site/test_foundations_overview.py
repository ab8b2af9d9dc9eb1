"""The overview of the foundations says what the track is, tells the incident, and leads on."""

import re
from pathlib import Path

import pytest

PAGE = Path("docs/foundations/index.md")
TEXT = PAGE.read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
LESSON = Path("docs/gpu-training")


def section(name: str) -> str:
    """The text under the heading with this anchor."""
    return TEXT.split(f"{{ #{name} }}\n")[1].split("\n## ")[0]


def links(text: str) -> list[str]:
    """Where the links of a text lead."""
    return re.findall(r"\]\(([^)]+)\)", text)


@pytest.mark.parametrize(
    "row",
    [
        "Training Neural Networks",
        "AI/ML Engineering",
        "complex",
        "6 to 8 hours, an estimate",
        "NumPy arrays; matrix multiplication; gradient descent",
        "a neural network built from scratch",
        "PyTorch, torchvision, NumPy",
        "a CUDA GPU is optional",
    ],
)
def test_card_says(row: str) -> None:
    """The card has the track's title, family, time, prerequisites and tools."""
    assert row in section("card")


@pytest.mark.parametrize(
    ("outcome", "parts", "steps"),
    [
        ("write", {"tensors", "autograd", "modules"}, {2, 3}),
        ("debug", {"autograd", "modules", "training-loop", "debugging"}, {4}),
        ("weigh", {"acceleration"}, {5}),
        ("judge", {"training-loop", "debugging"}, {3, 6}),
        ("design", {"training-loop"}, {3, 6}),
    ],
)
def test_each_outcome_leads_to_its_parts_and_lab_steps(
    outcome: str, parts: set[str], steps: set[int]
) -> None:
    """A row of the outcomes links to every part that teaches it and every step that uses it."""
    [row] = [line for line in section("outcomes").splitlines() if f"**{outcome}**" in line]

    assert {f"{part}.md" for part in parts} | {f"lab.md#step-{n}" for n in steps} == set(links(row))


@pytest.mark.parametrize(
    "fact",
    [
        "03:12",
        "Tuesday night",
        "retraining job for fraud detection",
        "reported success",
        "almost at random",
        "on call",
        "Kubernetes",
        "health checks",
        "no Python exception",
        "for hours",
        "yesterday's baseline",
        "dropout switched on",
        "gradients added up",
    ],
)
def test_incident_keeps_its_facts(fact: str) -> None:
    """Hour, job, what was checked in vain, and the two causes are told."""
    assert fact in " ".join(section("incident").split())


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("visible to the optimizer", ["modules.md#registration"]),
        ("labels fit the loss", ["losses.md"]),
        (
            "inference behaviour before validation",
            ["graphs-and-memory.md#two-switches", "training-loop.md#loop"],
        ),
        ("graphs alive", ["graphs-and-memory.md#what-keeps-memory"]),
    ],
)
def test_each_question_of_the_night_has_its_answer(question: str, answers: list[str]) -> None:
    """The four questions are posed and linked to where they are answered."""
    [row] = [line for line in section("incident").splitlines() if question in line]

    assert answers == links(row)


def test_replay_separates_what_the_defects_do() -> None:
    """The reset ruins the weights and dropout the measurement; dropout gets no more blame."""
    replay = section("replay")

    assert "**The missing reset ruins the weights.**" in replay
    assert "**Dropout in validation ruins the measurement.**" in replay
    assert "The weights stay as they are" in replay
    assert 'of="foundations/incident:print_replay"' in replay
    assert "[[quiet_faults.sgd.never_reset.accuracy]]" in replay  # FV8
    assert replay.index("//// check") < replay.index("lesson-output")


@pytest.mark.parametrize(
    ("row", "here", "lesson"),
    [
        ("Tensors", "tensors.md", ["device-fundamentals", "device-mismatch"]),
        ("Dtypes", "tensors.md#dtypes", ["why-mixed-precision"]),
        ("Autograd", "autograd.md#accumulation", ["automatic-mixed-precision"]),
        ("`nn.Module`", "modules.md#registration", ["device-aware-loop"]),
        (
            "The training loop",
            "training-loop.md#loop",
            ["device-aware-loop", "gpu-training-in-practice"],
        ),
        ("`DataLoader`", "training-loop.md#loader", ["check-predict-the-error"]),
        (
            "`train()` and `eval()`",
            "graphs-and-memory.md#two-switches",
            ["gpu-training-in-practice"],
        ),
        (
            "Saving and loading",
            "optimizers-and-checkpoints.md#checkpoints",
            ["device-aware-checkpoints"],
        ),
        (
            "A debugging checklist",
            "debugging.md#probes",
            ["check-predict-the-error", "check-the-slow-gpu", "check-the-loss-scale"],
        ),
        ("GPU wins at scale", "acceleration.md#cost-not-contract", ["when-a-gpu-helps"]),
    ],
)
def test_each_thing_that_the_lesson_assumes_can_be_ticked(
    row: str, here: str, lesson: list[str]
) -> None:
    """A row of the list links to where it is taught and to where the lesson uses it."""
    ready = section("ready-for-the-gpu-lesson")
    [task] = [line for line in ready.splitlines() if line.startswith(f"- [ ] **{row}.**")]

    assert [here] == links(task)
    assert lesson == re.findall(r"\[\[section:([\w-]+)", task)


def test_the_list_has_ten_rows_and_leads_to_the_lesson() -> None:
    """Whoever ticks all ten is sent on."""
    ready = section("ready-for-the-gpu-lesson")

    assert 10 == ready.count("- [ ] ")
    assert "](../gpu-training/context-and-constraints.md)" in ready.split("All ten?")[1]


def test_the_lesson_leads_back_for_each_thing_that_it_assumes() -> None:
    """Section 3 names the same ten places; the error and the checkpoint sections lead back too."""
    ready = [
        links(line)[0]
        for line in section("ready-for-the-gpu-lesson").splitlines()
        if line.startswith("- [ ] ")
    ]
    pages = {path.stem: path.read_text(encoding="utf-8") for path in LESSON.glob("*.md")}

    back = [link.removeprefix("../foundations/") for link in links(pages["device-fundamentals"])]

    assert ready == back[:10]
    assert "../foundations/tensors.md#devices" in links(pages["device-mismatch"])
    assert "../foundations/modules.md#containers" in links(pages["device-mismatch"])
    assert "../foundations/optimizers-and-checkpoints.md#checkpoints" in links(
        pages["device-aware-checkpoints"]
    )


@pytest.mark.parametrize(
    "words",
    [
        "784, 128, 10, with dropout",
        "784, 256, 128, 10",
        "[[incident.parameters]]",
        "[[mnist_classifier.parameters]]",
        "a fraction | percent",
        "`validation_accuracy` | `loss`, `accuracy`",
        "what one of them saves the other cannot load",
    ],
)
def test_the_two_models_are_told_apart(words: str) -> None:
    """Layers, sizes, units and keys differ, and no checkpoint is offered across."""
    assert words in section("two-models")


def test_the_series_goes_on_without_a_dead_link() -> None:
    """Its next title is named, and no link stands on it; TensorBoard gets its one sentence."""
    assert "*Training Deep Networks*" in section("after")
    assert not re.search(r"\[[^\]]*Training Deep Networks[^\]]*\]\(", TEXT)
    assert 1 == WORDS.count("TensorBoard")


@pytest.mark.parametrize(
    "source",
    [
        "1912.01703",
        "Linnainmaa",
        "Automatic differentiation",
        "1710.03740",
        "Decoupled Weight Decay Regularization",
        "CrossEntropyLoss",
        "serialization",
        "automatic mixed precision",
        "`DataLoader`",
        "torch.compile",
        "reproducibility",
        "CVE-2025-32434",
        "CVE-2026-24747",
        "LeCun, Cortes and Burges",
    ],
)
def test_sources_are_named(source: str) -> None:
    """Everything that the track leans on is listed with what it supports."""
    assert source in section("sources")
