"""What a check says, and how it gets at the learner's files."""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@dataclass(frozen=True)
class Finding:
    """What does not hold yet: what is wrong to the eye, and what was measured."""

    symptom: str
    evidence: str


class OpenPointError(Exception):
    """A point that is still open."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("; ".join(finding.symptom for finding in findings))
        self.findings = findings


def point(text: str, part: str) -> Callable[[Callable[..., Any]], Any]:
    """Say which point of the lab's list a check decides, and what to reread if it is open."""
    return pytest.mark.point(text, part)


def require(holds: bool, symptom: str, evidence: str) -> None:
    """Leave the point open unless something holds."""
    if not holds:
        raise OpenPointError(Finding(symptom, evidence))


def read(name: str) -> str:
    """The text of a file in the learner's folder."""
    path = Path.cwd() / name
    require(not path.is_dir(), f"{name} is a folder", f"the file {name} belongs in {path.parent}")
    require(path.is_file(), f"{name} is missing", f"there is no such file in {path.parent}")
    return path.read_text(encoding="utf-8")


def load(name: str) -> ModuleType:
    """Import a script from the learner's folder afresh, without running its main part."""
    read(name)
    spec = importlib.util.spec_from_file_location(f"learner_{Path(name).stem}", Path.cwd() / name)
    if spec is None or spec.loader is None:
        raise OpenPointError(
            Finding(f"{name} is no Python module", "Python finds no way to import it")
        )
    module = importlib.util.module_from_spec(spec)
    modules = set(sys.modules)
    sys.modules[spec.name] = module  # data classes look themselves up
    writes_bytecode = sys.dont_write_bytecode
    sys.path.insert(0, str(Path.cwd()))
    sys.dont_write_bytecode = True  # a file that was saved twice in a second is read twice
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(Path.cwd()))
        sys.dont_write_bytecode = writes_bytecode
        forget(modules, Path.cwd())
    return module


def forget(modules: set[str], folder: Path) -> None:
    """Drop what was newly imported from a folder, so that the next import sees a changed file."""
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).parent == folder:
            del sys.modules[name]


def part_of(module: ModuleType, name: str) -> Any:
    """A function, class or constant of the learner's script."""
    found = getattr(module, name, None)
    require(
        found is not None,
        f"{name} is missing",
        f"{Path(str(module.__file__)).name} defines no {name}",
    )
    return found
