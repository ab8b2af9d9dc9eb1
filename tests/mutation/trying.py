"""What a unit's checks say of each mutant, each in a forked process that can be stopped."""

import contextlib
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from graders.answers import AnswerError, load
from graders.checks import Check
from graders.judging import judge
from tests.mutation.mutants import Mutant
from tests.mutation.units import Unit
from tests.simulated_gpu.machine import install

Fate = Literal["killed", "killed on a GPU", "survived"]
FATES: tuple[Fate, ...] = ("killed", "killed on a GPU", "survived")
BY_CODE: dict[int, Fate] = {40: "survived", 41: "killed on a GPU"}  # any other end is a death
PROCESSOR_S, CLOCK_S = 10, 90.0
LOOK_S = 0.01


@dataclass(frozen=True)
class Trial:
    """A mutant, and the TODO that should notice it."""

    mutant: Mutant
    todo: str


def fates(
    unit: Unit, checks: list[Check], trials: Iterable[Trial], jobs: int
) -> Iterator[tuple[Trial, Fate]]:
    """What becomes of each, in the order in which that is known.

    Args:
        unit: Whose mutants they are.
        checks: What is asked of them.
        trials: The mutants.
        jobs: How many are tried at a time.

    Raises:
        ValueError: If the solution itself does not pass.
    """
    torch.set_num_threads(1)
    running: dict[int, tuple[Trial, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / unit.file
        whole = Trial(Mutant("", "", "", 0, unit.source), "")
        if _fate_of(whole, checks, file) != "survived":
            raise ValueError(f"the solution {unit.file} does not pass its own checks")
        for trial in trials:
            while len(running) >= jobs:
                yield _ended(running)
            running[_start(trial, checks, file)] = trial, time.monotonic()
        while running:
            yield _ended(running)


def _fate_of(trial: Trial, checks: list[Check], file: Path) -> Fate:
    return _ended({_start(trial, checks, file): (trial, time.monotonic())})[1]


def _start(trial: Trial, checks: list[Check], file: Path) -> int:
    """Fork: the new process ends with a code, and this one goes on with its number."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        path = file.with_name(str(os.getpid())) / file.name
        path.parent.mkdir()
        path.write_text(trial.mutant.source, encoding="utf-8")
        os._exit(_code_of(path, sorted(checks, key=lambda check: check.todo != trial.todo)))
    finally:
        os._exit(1)


def _code_of(path: Path, checks: list[Check]) -> int:
    if not _all_pass([check for check in checks if not check.gpu], path):
        return 1
    of_gpu = [check for check in checks if check.gpu]
    if of_gpu:
        install()  # from here on there is a simulated GPU, in this process alone
    return 40 if _all_pass(of_gpu, path) else 41


def _all_pass(checks: list[Check], path: Path) -> bool:
    try:
        answer = load(path)
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
