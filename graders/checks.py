"""How a check is written: a function with a decorator, that requires what should hold."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

# --8<-- [start:checks]
Run = Callable[[Any], None]
CHECK_S = 20.0

advice_given: list[str] = []


@dataclass(frozen=True)
class Check:
    """One question to an answer.

    Attributes:
        todo: The number of the TODO that it decides; several checks may decide one.
        title: What it is about.
        run: Gets the answer, and raises if something does not hold.
        gpu: Whether it needs a CUDA GPU.
        limit_s: How long it may take, in seconds.
    """

    todo: str
    title: str
    run: Run
    gpu: bool = False
    limit_s: float = CHECK_S


class WrongAnswerError(Exception):
    """Something does not hold; the message says what was expected, what came, and gives a hint."""


class NotYetError(Exception):
    """Something of the learner's is missing; the message says what."""

    def _render_traceback_(self) -> list[str]:
        return [f"✗ {self}"]  # Jupyter shows this in place of a traceback


class CannotJudgeError(Exception):
    """Nothing can be said here; the message says what is missing."""


def todo(
    number: str, title: str, gpu: bool = False, limit_s: float = CHECK_S
) -> Callable[[Run], Run]:
    """Make a function a check of a TODO."""

    def mark(run: Run) -> Run:
        run.check = Check(number, title, run, gpu, limit_s)  # type: ignore[attr-defined]
        return run

    return mark


def require(holds: bool, expected: str, found: object, hint: str) -> None:
    """Go on only if something holds.

    Args:
        holds: Whether it does.
        expected: What should be, such as ``"37, the most that the simulated GPU fits"``.
        found: What is.
        hint: Where to look; one sentence without its full stop, and never the answer.

    Raises:
        WrongAnswerError: If it does not.
    """
    if not holds:
        raise WrongAnswerError(f"expected {expected}, got {found} ({hint})")


def advise(text: str) -> None:
    """Say what an answer could do better, without failing it."""
    advice_given.append(text)


def checks_in(module: object) -> list[Check]:
    """The checks of a module, in order."""
    found = [getattr(made, "check", None) for made in vars(module).values()]
    return [check for check in found if isinstance(check, Check)]


# --8<-- [end:checks]


def unit(name: str) -> ModuleType:
    """The module with the checks of a unit, such as ``"lab.exercise_1"``."""
    return importlib.import_module(f"graders.{name}")
