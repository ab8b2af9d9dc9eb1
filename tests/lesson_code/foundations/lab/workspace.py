"""The lab as a learner has it: a folder with the starter's files, and the checker run on it."""

import importlib
import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.building import REPOSITORY

STARTER = REPOSITORY / "lesson_code" / "foundations" / "lab" / "starter"
SOLUTIONS = REPOSITORY / "tests" / "foundations_lab_solutions"
STEPS = ("1", "2", "3", "4", "5", "6")


@dataclass(frozen=True)
class Checked:
    """What the checker said about one step."""

    status: int
    text: str
    failed: frozenset[str]
    states: dict[str, str]


def import_file(path: Path, name: str) -> ModuleType:
    """Import a file that belongs to no package of the project."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def check(step: str, folder: Path, *more: str) -> Checked:
    """Run the checks of one step on a folder, in this process, with more options for pytest."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.syspath_prepend(str(STARTER))
        checker = import_file(STARTER / "check.py", "lab_checker")
        report = importlib.import_module("checks.report")
        kept: list[Any] = []

        def keep(step: str) -> Any:
            kept.append(made := plain(step))
            return made

        plain = report.Report
        patched.setattr(report, "Report", keep)
        status = checker.run_step(step, *more)
    states = {text: point.state() for text, point in kept[0].points.items()}
    return Checked(status, kept[0].text(), frozenset(kept[0].failed), states)


def points(step: str) -> list[str]:
    """The texts of a step's points, in their order, without running a check."""
    return list(check(step, STARTER, "--collect-only").states)


def starter_folder(folder: Path) -> Path:
    """Copy the starter's own files into a fresh folder of the right name."""
    return Path(shutil.copytree(STARTER, folder / "pytorch-training-lab", ignore=_bytecode))


def solved_folder(folder: Path) -> Path:
    """The same with the reference solutions over it."""
    workspace = starter_folder(folder)
    for path in SOLUTIONS.iterdir():
        if path.is_file():
            shutil.copy(path, workspace)
    return workspace


def _bytecode(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]
