"""What a check is made of, and what it can come to."""

import importlib
import linecache
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from lesson_code.lab.checker.outcome import Outcome
from lesson_code.lab.tf32 import keeping_switches

Run = Callable[[Any], None]

ANSWER = "lab_answer"  # what an answer is called as a module, whatever its file is called
LONGEST = 600  # characters of an error's text; PyTorch lists signatures at length
_advice: list[str] = []


@dataclass(frozen=True)
class Check:
    """One question to an answer.

    Attributes:
        todo: The number of the TODO that it decides; several checks may decide one.
        title: What it is about.
        run: Gets the answer as a module, and raises if something does not hold.
        gpu: Whether it needs a CUDA GPU.
    """

    todo: str
    title: str
    run: Run
    gpu: bool


class WrongAnswerError(Exception):
    """Something does not hold; the message says what was expected, what came, and gives a hint."""


def todo(number: str, title: str, gpu: bool = False) -> Callable[[Run], Run]:
    """Make a function a check of a TODO."""

    def mark(run: Run) -> Run:
        run.check = Check(number, title, run, gpu)  # type: ignore[attr-defined]
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
    _advice.append(text)


def checks_of(exercise: int) -> list[Check]:
    """The checks of an exercise, in order."""
    module = importlib.import_module(f"lesson_code.lab.checks.exercise_{exercise}")
    return [made.check for made in vars(module).values() if hasattr(made, "check")]


def judge(check: Check, answer: ModuleType) -> Outcome:
    """What a check says of an answer; whatever the answer raises ends here."""
    outcome = Outcome(check.todo, check.title, "pass")
    if check.gpu and not torch.cuda.is_available():
        return replace(outcome, state="skipped", message="needs a CUDA GPU")
    _advice.clear()
    torch.manual_seed(0)
    # An answer may leave other defaults behind; the next check is none the worse.
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    with (
        warnings.catch_warnings(record=True) as warned,
        torch.enable_grad(),
        keeping_switches(),
    ):
        warnings.simplefilter("always")
        try:
            check.run(answer)
        except WrongAnswerError as wrong:
            outcome = replace(outcome, state="fail", message=str(wrong))
        except BaseException as problem:  # the answer may raise anything, SystemExit too
            outcome = _stopped(outcome, problem, answer)
    outdated = {str(w.message).strip() for w in warned if issubclass(w.category, FutureWarning)}
    return replace(outcome, advice=(*dict.fromkeys(_advice), *sorted(outdated)))


def _stopped(outcome: Outcome, problem: BaseException, answer: ModuleType) -> Outcome:
    text = text_of(problem)
    error = f"{type(problem).__name__}{text and f': {text}'}"
    if isinstance(problem, NotImplementedError) and text.startswith("TODO"):
        return replace(outcome, state="not done yet")
    if isinstance(problem, AttributeError) and problem.obj is answer:
        message = f"the file has no {problem.name}; keep the names that the starter gives"
    elif place := place_in(problem, answer):
        message = f"your code stopped with {error}{place}"
    else:
        message = (
            f"the check could not go on with what your code gives it, {error}; "
            "keep the names, arguments and results that the starter has"
        )
    return replace(outcome, state="fail", message=message)


def text_of(problem: BaseException) -> str:
    """What an error says, in one line that is not too long; nothing if it can't be asked."""
    try:
        text = " ".join(str(problem).split())
    except Exception:
        return ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def place_in(problem: BaseException, answer: ModuleType) -> str:
    """The last line of the answer that an error went through."""
    file = str(answer.__file__)
    lines = [f.lineno for f in traceback.extract_tb(problem.__traceback__) if f.filename == file]
    if not lines or lines[-1] is None:
        return ""
    code = linecache.getline(file, lines[-1]).strip()
    return f" ({Path(file).name}, line {lines[-1]}: {code})"
