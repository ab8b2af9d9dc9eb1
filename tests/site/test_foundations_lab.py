"""The lab's page and the lab's checker say the same, and the page gives nothing away."""

import re
import tomllib

import pytest

from graders.checks import checks_in, unit
from graders.foundations import step_3
from lesson_code.foundations.lab import check, layout
from tests.building import REPOSITORY

PAGE = (REPOSITORY / "docs" / "foundations" / "lab.md").read_text(encoding="utf-8")
STEPS = ("1", "2", "3", "4", "5", "6")
STATUSES = {
    "nonfinite-input": "10",
    "nonfinite-loss": "10",
    "labels": "12",
    "empty-optimizer": "13",
    "partial-optimizer": "13",
    "unwritable": "14",
    "collapse": "15",
}
# What would be a remedy, in a form in which it could be copied.
GIVEN_AWAY = ("nn.ModuleList(", "nn.Sequential(", "optimizer.zero_grad()", "CrossEntropyLoss()")


def items(step: str) -> list[tuple[set[str], str]]:
    """The boxes of a step: who decides, and the text."""
    tasks = re.search(rf'<kept-tasks id="lab-step-{step}" markdown>(.*?)</kept-tasks>', PAGE, re.S)
    assert tasks is not None
    lines = re.findall(r"^- \[ \] ((?:\*\*(?:auto|self)\*\* )+)(.+)$", tasks[1], re.MULTILINE)
    return [(set(re.findall(r"auto|self", marks)), text) for marks, text in lines]


@pytest.mark.parametrize("step", STEPS)
def test_every_automatic_box_is_a_check(step: str) -> None:
    """The boxes marked auto are the points of the checker, in the same words and order."""
    checks = checks_in(unit(f"foundations.step_{step}"))
    points = dict.fromkeys((check.todo, check.title) for check in checks)

    texts = [text for marks, text in items(step) if "auto" in marks]
    assert list(points) == [(f"{step}.{n}", text) for n, text in enumerate(texts, 1)]


def test_no_box_is_missing() -> None:
    """Each step has its boxes, and what only the learner can judge is marked so."""
    assert [4, 4, 11, 7, 4, 7] == [len(items(step)) for step in STEPS]
    assert 8 == sum(marks == {"self"} for step in STEPS for marks, _ in items(step))
    assert 3 == sum(marks == {"self", "auto"} for step in STEPS for marks, _ in items(step))


def test_the_environment_is_created_by_the_system() -> None:
    """The first command uses the system's Python, and the rest names the environment's own."""
    commands = re.search(r"## Step 1\..*?```sh\n(.*?)```", PAGE, re.S)
    assert commands is not None
    lines = commands[1].splitlines()

    assert "python3 -m venv .venv" in lines
    assert all(line.startswith(("cd", "python3 -m venv", ".venv/bin/python")) for line in lines)
    assert ".venv/bin/python -m venv" not in PAGE
    assert "retain_graph" not in PAGE


def test_the_oldest_python_is_that_of_the_project() -> None:
    """The page names no older one than the checker asks for, which is what the project needs."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"\b(?:python)?3\.(\d+)", PAGE)

    assert check.OLDEST == (3, min(map(int, named)))
    assert project["requires-python"] == ">=" + ".".join(map(str, check.OLDEST))


def test_what_is_installed_is_what_the_project_needs() -> None:
    """The install line names packages that this project itself depends on."""
    line = re.search(r"pip install (torch.*)", PAGE)
    assert line is not None
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project["optional-dependencies"]
    names = {re.split(r"[<>=]", need)[0] for need in groups["lesson"]}

    assert ["torch", "torchvision", "numpy"] == line[1].split()
    assert set(line[1].split()) <= names


def test_the_table_has_the_statuses_of_the_checker() -> None:
    """The seven faults are on the page with the statuses that are checked."""
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (\d+) \|$", PAGE, re.MULTILINE))

    assert STATUSES == rows
    assert STATUSES == {fault: str(status) for fault, status in step_3.STATUSES.items()}


def test_no_solution_is_published() -> None:
    """The site has no file with solutions, and neither page nor starter holds one."""
    left_out = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    starters = "".join(layout.starter(name) for name in layout.WRITTEN)

    assert "  /code/foundations/lab/*\n  !/code/foundations/lab/expressions.py\n" in left_out
    assert [] == [text for text in GIVEN_AWAY if text in PAGE + starters]


def test_what_to_reread_exists() -> None:
    """Each part that the checker names is a heading of the module, or the beginning of one."""
    pages = (REPOSITORY / "docs" / "foundations").glob("*.md")
    headings = set(
        re.findall(
            r"^##+ (.+?)(?: \{ #.*)?$",
            "\n".join(page.read_text(encoding="utf-8") for page in pages),
            re.MULTILINE,
        )
    )
    modules = (REPOSITORY / "graders" / "foundations").glob("step_*.py")
    checks = "".join(path.read_text(encoding="utf-8") for path in modules)
    named = set(re.findall(r"“([A-Z].+?)”", checks))

    assert named
    assert [] == [name for name in sorted(named) if not any(h.startswith(name) for h in headings)]


def test_what_names_the_defects_of_step_4_is_folded() -> None:
    """A list of repairs says what is broken, so it comes after the script's own run, and closed."""
    step = PAGE.split("{ #step-4 }")[1].split("{ #step-5 }")[0]
    open_text, folded = step.split("<details", 1)

    assert "debug_model.py" in open_text
    assert '<kept-tasks id="lab-step-4"' in folded.split("</details>")[0]
