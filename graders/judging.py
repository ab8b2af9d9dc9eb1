"""What a check says of an answer; whatever the answer raises or changes ends here."""

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from graders.answers import ANSWER, AnswerError, error_text, place_in
from graders.checks import (
    CannotJudgeError,
    Check,
    NotYetError,
    WrongAnswerError,
    advice_given,
)
from graders.outcome import Outcome


# --8<-- [start:judging]
def judge(check: Check, answer: Any, home: Path, seed: int = 0) -> Outcome:
    """What a check says.

    Args:
        check: What is asked.
        answer: What the check gets.
        home: The learner's file, or the folder of several: errors are placed in it.
        seed: For the cases that the check draws with ``random``. Random numbers of PyTorch begin
            the same way every time: whether a training succeeds is no matter of luck.
    """
    outcome = Outcome(check.todo, check.title, "passed", seed=seed)
    if check.gpu and not torch.cuda.is_available():
        return replace(outcome, state="cannot be judged here", says="needs a CUDA GPU")
    advice_given.clear()
    random.seed(f"{seed} {check.todo} {check.run.__name__}")
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as warned, fresh_defaults():
        warnings.simplefilter("always")
        try:
            check.run(answer)
        except (WrongAnswerError, AnswerError) as wrong:
            outcome = replace(outcome, state="wrong", says=str(wrong))
        except NotYetError as empty:
            outcome = replace(outcome, state="not done yet", says=str(empty))
        except CannotJudgeError as reason:
            outcome = replace(outcome, state="cannot be judged here", says=str(reason))
        except BaseException as problem:  # the answer may raise anything, SystemExit too
            outcome = _stopped(outcome, problem, answer, home)
    outdated = {str(w.message).strip() for w in warned if issubclass(w.category, FutureWarning)}
    return replace(outcome, advice=(*dict.fromkeys(advice_given), *sorted(outdated)))


@contextmanager
def fresh_defaults() -> Iterator[None]:
    """PyTorch as it starts, whatever an answer before has left, and as it was afterwards."""
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    backends: Any = torch.backends
    switches = (backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn)
    switches = tuple(switch for switch in switches if hasattr(switch, "fp32_precision"))
    precisions = [switch.fp32_precision for switch in switches]
    try:
        with torch.enable_grad():
            yield
    finally:
        for switch, precision in zip(switches, precisions, strict=True):
            switch.fp32_precision = precision


def _stopped(outcome: Outcome, problem: BaseException, answer: Any, home: Path) -> Outcome:
    if isinstance(problem, NotImplementedError) and str(problem).startswith("TODO"):
        return replace(outcome, state="not done yet")
    error = error_text(problem)
    if isinstance(problem, AttributeError) and _is_answer(problem.obj, answer):
        says = f"the file has no {problem.name}; keep the names that the starter gives"
    elif place := place_in(problem, home):
        says = f"your code stopped with {error}{place}"
    else:
        says = (
            f"the check could not go on with what your code gives it, {error}; "
            "keep the names, arguments and results that the starter has"
        )
    return replace(outcome, state="wrong", says=says)


def _is_answer(thing: object, answer: Any) -> bool:
    """Whether something is what the learner wrote, or one file of it."""
    return thing is answer or getattr(thing, "__name__", "") == ANSWER


# --8<-- [end:judging]
