"""What learners' own graders wrote, and whether it is what came of their answers."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.outcome import Outcome
from graders.submissions import unfit


@dataclass(frozen=True)
class Report:
    """What a learner handed in as the report on one unit.

    Attributes:
        states: Of each TODO, the way it was said.
    """

    sha256: str
    states: dict[tuple[str, str], str]


def reports_in(files: Iterable[Path]) -> dict[str, Report]:
    """The reports by their units; of several on one unit the last. What is no report is left."""
    found: dict[str, Report] = {}
    for path in files:
        states: dict[tuple[str, str], str] = {}
        for line in _objects(path):
            if "todo" in line:
                states[str(line["todo"]), str(line.get("title"))] = str(line.get("state"))
            elif "unit" in line:
                found[str(line["unit"])] = Report(str(line.get("sha256")), states)
                states = {}
    return found


def _objects(path: Path) -> list[dict[str, Any]]:
    if unfit(path):
        return []
    try:
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [line for line in lines if isinstance(line, dict)]
    except (OSError, ValueError, RecursionError):
        return []


def compared(report: Report | None, sha256: str, outcomes: Iterable[Outcome]) -> str:
    """Whether a report agrees with what came of the answer here; empty without a report.

    A TODO that one of both machines could not judge is no difference.
    """
    if report is None:
        return ""
    if report.sha256 != sha256:
        return "differs: it is about another file"
    unknown = "cannot be judged here"
    other = [
        f"{found.todo} was {said} there and is {found.state} here"
        for found in outcomes
        if (said := report.states.get((found.todo, found.title), "missing")) != found.state
        and unknown not in (said, found.state)
    ]
    return f"differs: {', '.join(other)}" if other else "agrees"
