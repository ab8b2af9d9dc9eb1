"""What is said of an answer, whatever it does: one outcome, never an error of the checker's."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graders.checks import CannotJudgeError, Check, advise, require
from graders.judging import judge
from graders.outcome import Outcome


class UnaskableError(Exception):
    """An error that has no text."""

    def __str__(self) -> str:
        raise RuntimeError


def _raises(error: BaseException) -> Callable[[Any], None]:
    def run(_: Any) -> None:
        raise error

    return run


def _judged(run: Callable[[Any], None], gpu: bool = False) -> Outcome:
    return judge(Check("1.1", "a", run, gpu), SimpleNamespace(), Path("answer.py"), seed=7)


def _advises_twice(_: Any) -> None:
    advise("shorter")
    advise("shorter")


@pytest.mark.parametrize(
    ("run", "state", "says"),
    [
        (lambda _: None, "passed", ""),
        (lambda _: require(False, "2", 3, "count"), "wrong", "expected 2, got 3 (count)"),
        (_raises(NotImplementedError("TODO 1.1 do it")), "not done yet", ""),
        (_raises(CannotJudgeError("no data")), "cannot be judged here", "no data"),
        (lambda answer: answer.f(), "wrong", "the file has no f; keep the names"),
        (_raises(SystemExit(0)), "wrong", "it, SystemExit: 0; keep the names"),
        (_raises(UnaskableError()), "wrong", "it, UnaskableError; keep the names"),
        (_raises(ValueError("x" * 1000)), "wrong", f"ValueError: {'x' * 600} …; keep"),
    ],
)
def test_whatever_a_check_meets_is_one_outcome(
    run: Callable[[Any], None], state: str, says: str
) -> None:
    """With its seed, and with words that say what happened."""
    outcome = _judged(run)

    assert (state, 7) == (outcome.state, outcome.seed)
    assert says in outcome.says


def test_advice_is_given_once() -> None:
    """And not again with the next check."""
    first = _judged(_advises_twice)
    second = _judged(lambda _: None)

    assert [("shorter",), ()] == [first.advice, second.advice]


def test_what_needs_a_gpu_is_not_asked_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what is missing."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)

    outcome = _judged(_raises(AssertionError()), gpu=True)

    assert ("cannot be judged here", "needs a CUDA GPU") == (outcome.state, outcome.says)
