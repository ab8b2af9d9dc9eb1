"""What a unit's checks say of each mutant, each in a forked process that can be stopped."""

import contextlib
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import torch

from graders.answers import AnswerError, load
from graders.checks import Check
from graders.judging import judge
from tests.graders.kept import lay_out
from tests.mutation.mutants import Mutant
from tests.mutation.units import Unit
from tests.simulated_gpu.machine import install

Fate = Literal["killed", "killed on a GPU", "survived"]
FATES: tuple[Fate, ...] = ("killed", "killed on a GPU", "survived")
BY_CODE: dict[int, Fate] = {40: "survived", 41: "killed on a GPU"}  # any other end is a death
PROCESSOR_S, CLOCK_S = 20, 120.0
LOOK_S = 0.01


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
    running: dict[int, tuple[Trial, float]] = {}
    with tempfile.TemporaryDirectory() as folder:

        def start(trial: Trial) -> int:
            """Fork: the new process ends with a code, and this one goes on with its number."""
            child = os.fork()
            if not child:
                _be_judged(unit, trial, checks, Path(folder), opened)
            return child

        whole = Trial(Mutant("", "", "", 0, unit.source), "")
        lay_out(unit.name, unit.source, Path(folder))  # what answers share is made once
        if _ended({start(whole): (whole, time.monotonic())})[1] != "survived":
            raise ValueError(f"the solution of {unit.name} does not pass its own checks")
        for trial in trials:
            while len(running) >= jobs:
                yield _ended(running)
            running[start(trial)] = trial, time.monotonic()
        while running:
            yield _ended(running)


def _be_judged(
    unit: Unit,
    trial: Trial,
    checks: list[Check],
    folder: Path,
    opened: Callable[[Path], Any],
) -> NoReturn:
    """End this process with a code that says what the checks make of a mutant."""
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        own = folder / str(os.getpid())
        own.mkdir()
        path = lay_out(unit.name, trial.mutant.source, own)
        os._exit(_code_of(path, sorted(checks, key=lambda check: _far(check, trial)), opened))
    finally:
        os._exit(1)


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


def _ended(running: dict[int, tuple[Trial, float]]) -> tuple[Trial, Fate]:
    """Wait for one to end, or end one that takes too long."""
    while True:
        for child, (trial, since) in running.items():
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and time.monotonic() - since > CLOCK_S:
                os.kill(child, signal.SIGKILL)
                ended, status = os.waitpid(child, 0)
            if ended:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)  # whatever it has started
                del running[child]
                return trial, BY_CODE.get(os.waitstatus_to_exitcode(status), "killed")
        time.sleep(LOOK_S)


def progress(done: int, count: int) -> None:
    """Say how far it is, where somebody looks on."""
    if sys.stderr.isatty():
        print(f"\r{done} of {count}", end="", file=sys.stderr, flush=True)
