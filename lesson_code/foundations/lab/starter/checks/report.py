"""The report of one step: a pytest plugin that prints points in place of tests."""

import textwrap
import traceback
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .limit import EndlessError
from .points import Finding, OpenPointError

FILES = {
    "1": "your workspace",
    "2": "explore_gradients.py",
    "3": "train_mnist.py",
    "4": "debug_model.py",
    "5": "benchmark_devices.py",
    "6": "training-readiness.md",
}
WIDTH = 96


@dataclass
class Point:
    """One line of the lab's list, with what its checks came to."""

    part: str
    checks: int = 0
    held: int = 0
    findings: list[Finding] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def state(self) -> str:
        """Passed only if every check of it ran and found nothing."""
        if self.findings:
            return "open"
        return "passed" if 0 < self.checks == self.held else "not checkable here"


class Report:
    """Collects what the checks of a step found.

    Attributes:
        points: Each point by its text, in the order of the list.
        failed: The names of the checks that found something.
    """

    def __init__(self, step: str) -> None:
        self.step = step
        self.points: dict[str, Point] = defaultdict(lambda: Point(""))
        self.failed: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note every point first, so that none is lost."""
        for item in items:
            text, part = _mark(item)
            self.points.setdefault(text, Point(part)).checks += 1

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A step whose checks cannot even start is open."""
        if report.failed:
            reason = str(report.longrepr).strip().splitlines()[-1].removeprefix("E").strip()
            point = self.points.setdefault("the checks of this step start", Point("Lab, Step 1"))
            point.findings.append(Finding("the checks of this step cannot start", reason))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Put down what a check found."""
        point = self.points[_mark(item)[0]]
        if call.when == "call" and not call.excinfo:
            point.held += 1
        if call.excinfo:
            problem = call.excinfo.value
            if isinstance(problem, pytest.skip.Exception):
                point.reasons.append(str(problem.msg))
            else:
                self.failed.add(item.name)
                point.findings += findings_of(problem)
        return (yield)

    def status(self) -> int:
        """0 if at least one point passed and none is open."""
        states = [point.state() for point in self.points.values()]
        return 0 if "open" not in states and "passed" in states else 1

    def text(self) -> str:
        """The report as the learner reads it."""
        lines = [f"Step {self.step}: {FILES[self.step]}"]
        for text, point in self.points.items():
            lines.append(f"  {point.state()}: {text}")
            for finding in dict.fromkeys(point.findings):
                lines += _labelled("symptom", finding.symptom)
                lines += _labelled("evidence", finding.evidence)
            if point.findings:
                lines += _labelled("reread", point.part)
            else:
                for reason in dict.fromkeys(point.reasons):
                    lines += _labelled("reason", reason)
        return "\n".join([*lines, self._total()])

    def _total(self) -> str:
        states = [point.state() for point in self.points.values()]
        counts = [f"{states.count(state)} {state}" for state in ("open", "not checkable here")]
        return f"{states.count('passed')} of {len(states)} passed, {', '.join(counts)}\n"


def findings_of(problem: BaseException) -> Iterable[Finding]:
    """What a check found; an error out of the learner's code counts as one."""
    if isinstance(problem, OpenPointError | EndlessError):
        return problem.findings
    message = " ".join(str(problem).split()) or "without a message"
    symptom = f"the code stops with {type(problem).__name__}: {message}"
    here = Path(__file__).parent
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent == Path.cwd() != here]
    if isinstance(problem, SyntaxError) and problem.filename:
        place = f"{Path(problem.filename).name}, line {problem.lineno}"
    elif own:
        place = f"{Path(own[-1].filename).name}, line {own[-1].lineno}: {own[-1].line}"
    else:
        place = f"it was called by the check, {frames[-1].name}"
    return [Finding(symptom, place)]


def _mark(item: pytest.Item) -> tuple[str, str]:
    mark = item.get_closest_marker("point")
    return mark.args if mark else (item.name, "")


def printable(text: str) -> str:
    """The same in one line, with a number for every character that could steer a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in " ".join(text.split())
    )


def _labelled(label: str, text: str) -> list[str]:
    indent = " " * 16
    return textwrap.wrap(
        printable(text),
        WIDTH,
        initial_indent=f"      {label + ':':<10}",
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
