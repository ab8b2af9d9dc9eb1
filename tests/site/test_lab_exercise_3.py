"""The page of Exercise 3 has its parts, and asks for what the starter has."""

import ast
import re

import pytest

from lesson_site.markdown_source import Source
from tests.building import REPOSITORY
from tests.graders.kept import starter

PAGE = (REPOSITORY / "docs" / "lab" / "exercise-3.md").read_text(encoding="utf-8")
STARTER = starter("lab.exercise_3")

CAUSES = [
    "the batch is too large",
    "the optimizer makes its state",
    "one batch is larger",
    "the model is too large",
    "activations pile up",
    "something keeps graphs",
    "the cache is in pieces",
    "another process",
    "validation without `no_grad`",
]
LINKS = [
    "bonus-checkpointing.md#steps",
    "key-concepts.md#accumulation",
    "pitfalls-and-tips.md#out-of-memory",
    "pitfalls-and-tips.md#leaks",
    "memory-mathematics.md#state",
    "exercise-4.md){ .next-step }",
]


def test_every_todo_is_a_box() -> None:
    """The kept list names each function of the starter that is left to write, with its number."""
    tasks = re.search(r'<kept-tasks id="lab-exercise-3" markdown>(.*?)</kept-tasks>', PAGE, re.S)
    assert tasks is not None
    boxes = re.findall(r"^- \[ \] \*\*(3\.\d)\*\* `(\w+)\(", tasks[1], re.MULTILINE)
    functions = [node for node in ast.parse(STARTER).body if isinstance(node, ast.FunctionDef)]
    marks = {f.name: re.findall(r"'TODO (3\.\d) ", ast.unparse(f)) for f in functions}

    assert [(number, name) for name, found in marks.items() for number in found] == boxes


def test_signatures_are_those_of_the_starter() -> None:
    """What is between the brackets of a box can be typed as it is."""
    for node in ast.parse(STARTER).body:
        if isinstance(node, ast.FunctionDef) and "NotImplementedError" in ast.unparse(node):
            defaults = [""] * (len(node.args.args) - len(node.args.defaults)) + [
                f"={ast.unparse(default)}" for default in node.args.defaults
            ]
            names = [a.arg + d for a, d in zip(node.args.args, defaults, strict=True)]

            assert f"`{node.name}({', '.join(names)})`" in PAGE


def test_parts_come_in_their_order() -> None:
    """The task, the hints in steps, the solution out of sight, the report."""
    anchors = [each.anchor for each in Source(PAGE).headings if each.level == 2]
    hints, solution = (PAGE.split(f"{{ #{name} }}")[1].split("\n## ")[0] for name in anchors[2:4])

    assert ["start", "todos", "hints", "solution", "report", "checkpointing", "causes"] == anchors
    assert {f"3.{n}" for n in range(1, 7)} == set(re.findall(r'^\?\?\? tip "(3\.\d)', hints, re.M))
    assert 6 == len(re.findall(r'^\?\?\? success "3\.\d', solution, re.M))
    assert "lesson-code" not in hints
    assert not re.search(r"^```lesson-code", solution, re.MULTILINE)


def test_the_seven_causes_are_there() -> None:
    """Each with what shows it and what helps."""
    table = PAGE.split("{ #causes }")[1]
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", table, re.MULTILINE)

    assert CAUSES == [cause for cause, _, _ in rows[2:]]


@pytest.mark.parametrize("link", LINKS)
def test_the_page_leads_on(link: str) -> None:
    """To the table of segments, the equality, the levers, and the next exercise."""
    assert link in PAGE


def test_prices_and_measurements_are_figures() -> None:
    """Rents with their year, and what a GPU measured, by name."""
    for name in (
        "lab_exercise_3.rent_a100",
        "largest_batch.cuda_float32_best_rate",
        "accumulation.resnet50.cuda_accumulated_peak",
        "checkpointing.resnet50.cuda_checkpointed_peak",
    ):
        assert f"[[{name}]]" in PAGE
    assert "$" not in Source(PAGE).prose


def test_predictions_stand_before_the_report() -> None:
    """Two guesses come before the numbers, and one question after."""
    report = PAGE.index('of="lab/solution/03_memory_optimization:print_report"')
    places = [match.start() for match in re.finditer(r"^    id: lab-", PAGE, re.MULTILINE)]

    assert [True, True, False] == [place < report for place in places]
