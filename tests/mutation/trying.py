"""What a unit's checks say of each mutant."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graders.answers import AnswerError, load
from graders.checks import Check
from graders.judging import judge
from tests.graders.kept import lay_out
from tests.mutation.mutants import Mutant
from tests.mutation.processes import forked
from tests.mutation.table import Fate
from tests.mutation.units import Unit
from tests.simulated_gpu.machine import install

BY_CODE: dict[int, Fate] = {40: "survived", 41: "killed on a GPU"}  # any other end is a death


@dataclass(frozen=True)
class Trial:
    """A mutant, and the TODO that should notice it."""

    mutant: Mutant
    todo: str


def fates(
    unit: Unit,
    checks: list[Check],
    trials: Iterable[Trial],
    jobs: int,
    opened: Callable[[Path], Any] = load,
) -> Iterator[tuple[Trial, Fate]]:
    """What becomes of each, in the order in which that is known.

    Args:
        unit: Whose mutants they are.
        checks: What is asked of them.
        trials: The mutants.
        jobs: How many are tried at a time.
        opened: What the checks get of a file or folder.

    Raises:
        ValueError: If the solution itself does not pass.
    """
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:

        def judged(trial: Trial) -> int:
            """The code that says what the checks make of a mutant."""
            own = Path(folder) / str(os.getpid())
            own.mkdir()
            path = lay_out(unit.name, trial.mutant.source, own)
            return _code_of(path, sorted(checks, key=lambda check: _far(check, trial)), opened)

        whole = Trial(Mutant("", "", "", 0, unit.source), "")
        lay_out(unit.name, unit.source, Path(folder))  # what answers share is made once
        for _, code in forked([whole], judged, 1):
            if BY_CODE.get(code) != "survived":
                raise ValueError(f"the solution of {unit.name} does not pass its own checks")
        for trial, code in forked(trials, judged, jobs):
            yield trial, BY_CODE.get(code, "killed")


def _far(check: Check, trial: Trial) -> tuple[bool, bool]:
    """How unlikely it is that a check notices a mutant; what is likely is asked first."""
    return check.todo != trial.todo, check.todo[:1] != trial.todo[:1]


def _code_of(path: Path, checks: list[Check], opened: Callable[[Path], Any]) -> int:
    if not _all_pass([check for check in checks if not check.gpu], path, opened):
        return 1
    of_gpu = [check for check in checks if check.gpu]
    if of_gpu:
        install()  # from here on there is a simulated GPU, in this process alone
    return 40 if _all_pass(of_gpu, path, opened) else 41


def _all_pass(checks: list[Check], path: Path, opened: Callable[[Path], Any]) -> bool:
    try:
        answer = opened(path)
    except AnswerError:
        return False
    states = (judge(check, answer, path).state for check in checks)
    return all(state in ("passed", "cannot be judged here") for state in states)
