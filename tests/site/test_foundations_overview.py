"""The overview of the foundations: each question, outcome and tick leads to where it is taught."""

import itertools
import re
from pathlib import Path

import pytest
from torch import nn

from lesson_code.foundations.modules import DigitClassifier
from lesson_code.models import MNISTClassifier

PAGE = Path("docs/foundations/index.md")
TEXT = PAGE.read_text(encoding="utf-8")
LESSON = Path("docs/gpu-training")


def section(name: str) -> str:
    """The text under the heading with this anchor."""
    return TEXT.split(f"{{ #{name} }}\n")[1].split("\n## ")[0]


def links(text: str) -> list[str]:
    """Where the links of a text lead."""
    return re.findall(r"\]\(([^)]+)\)", text)


def rows(name: str) -> list[str]:
    """The rows of the first table under a heading, without its head."""
    return [line for line in section(name).splitlines() if line.startswith("| ")][2:]


def test_each_outcome_leads_to_its_parts_and_lab_steps() -> None:
    """A row of the outcomes links to every part that teaches it and every step that uses it."""
    expected = [
        ({"tensors", "autograd", "modules"}, {2, 3}),
        ({"autograd", "modules", "training-loop", "debugging"}, {4}),
        ({"acceleration", "profiling"}, {5}),
        ({"training-loop", "learning-or-memorising", "debugging"}, {3, 6}),
        ({"training-loop", "data-of-your-own", "rate-and-batch", "fine-tuning"}, {3, 6}),
    ]

    assert [
        {f"{part}.md" for part in parts} | {f"lab.md#step-{n}" for n in steps}
        for parts, steps in expected
    ] == [set(links(row)) for row in rows("outcomes")]


def test_each_question_of_the_night_has_its_answer() -> None:
    """The five questions are linked to where they are answered, its two causes among them."""
    assert [
        ["modules.md#registration"],
        ["losses.md"],
        ["autograd.md#gradients-not-reset"],
        ["graphs-and-memory.md#two-switches", "training-loop.md#loop"],
        ["graphs-and-memory.md#what-keeps-memory"],
    ] == [links(row) for row in rows("incident")]


TASKS = {
    "tensors.md": ["device-fundamentals", "device-mismatch"],
    "tensors.md#dtypes": ["why-mixed-precision"],
    "autograd.md#accumulation": ["automatic-mixed-precision"],
    "modules.md#registration": ["device-aware-loop"],
    "training-loop.md#loop": ["device-aware-loop", "gpu-training-in-practice"],
    "training-loop.md#loader": ["check-predict-the-error"],
    "graphs-and-memory.md#two-switches": ["gpu-training-in-practice"],
    "optimizers-and-checkpoints.md#checkpoints": ["device-aware-checkpoints"],
    "debugging.md#probes": [
        *("check-predict-the-error", "check-the-slow-gpu", "check-the-loss-scale"),
    ],
    "acceleration.md#cost-not-contract": ["when-a-gpu-helps"],
}


def test_each_thing_that_the_lesson_assumes_can_be_ticked() -> None:
    """A row of the list links to where it is taught and to where the lesson uses it."""
    ready = section("ready-for-the-gpu-lesson").splitlines()
    tasks = [line for line in ready if line.startswith("- [ ] ")]

    assert [[taught] for taught in TASKS] == [links(task) for task in tasks]
    assert list(TASKS.values()) == [re.findall(r"\[\[section:([\w-]+)", task) for task in tasks]


def test_whoever_ticks_all_ten_is_sent_to_the_lesson() -> None:
    """The way on is below the list."""
    _, after = section("ready-for-the-gpu-lesson").split("</kept-tasks>")

    assert 10 == len(TASKS)
    assert "../gpu-training/context-and-constraints.md" in links(after)


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


def sizes(model: nn.Module) -> list[int]:
    """The inputs of the first layer, and the outputs of each."""
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    return [layers[0].in_features, *(layer.out_features for layer in layers)]


def test_the_two_models_are_what_the_table_says() -> None:
    """Their layers have the sizes of its first row, and neither loads what the other saved."""
    models = DigitClassifier(), MNISTClassifier()
    _, *told = rows("two-models")[0].strip("|").split("|")

    assert [sizes(model) for model in models] == [
        [int(size) for size in re.findall(r"\d+", cell)] for cell in told
    ]
    for ours, theirs in itertools.permutations(models):
        with pytest.raises(RuntimeError):
            ours.load_state_dict(theirs.state_dict())


def test_after_the_foundations_comes_the_lesson() -> None:
    """No link leads to a part that this site does not have."""
    assert links(section("after")) == ["../gpu-training/index.md"]
