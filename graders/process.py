"""The driver for files: runs the checks in a process of its own, and stops what does not end."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graders.outcome import WORST_FIRST, Outcome, printable

FIRST_S = 60.0  # to import PyTorch and the answer
ENDING_S = 10.0  # for an answer's processes to be gone
ROOT = str(Path(__file__).resolve().parent.parent)  # where the child finds these modules
LONGEST_LINE, MOST_LINES = 1_000_000, 10_000  # of what is kept, should an answer write there


class CheckerError(Exception):
    """Why no check could run, in one sentence.

    Attributes:
        todos: The number and title of each TODO that was to be decided, as far as that is known.
    """

    def __init__(self, sentence: str, todos: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(sentence)
        self.todos = tuple(dict.fromkeys(todos))

    def outcomes(self, seed: int) -> list[Outcome]:
        """Every TODO as wrong, for this reason."""
        return [Outcome(*todo, "wrong", str(self), seed=seed) for todo in self.todos]


@dataclass(frozen=True)
class Deadlines:
    """How long the import may take, and no check may take longer than; in seconds."""

    first_s: float = FIRST_S
    check_s: float = float("inf")  # each check has a limit of its own


class Child:
    """The process in which an answer runs; it ends with ``with``, whatever it is doing."""

    def __init__(
        self, unit: str, path: Path, first: int = 0, seed: int = 0, home: Path | None = None
    ) -> None:
        command = [sys.executable, "-P", "-m", "graders.child"]
        roots = [ROOT, *filter(None, [os.environ.get("PYTHONPATH")])]
        confined = [str(home)] if home else []
        at_home = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), str(home)) if home else {}
        self.process = subprocess.Popen(
            [*command, unit, str(path.resolve()), str(first), str(seed), *confined],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(roots), **at_home},
            cwd=home,
            start_new_session=True,  # so that what the answer starts can be stopped with it
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.process.terminate()
        if hasattr(os, "killpg"):
            self.listener.join(ENDING_S)  # it ends what the answer has started, then itself
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.listener.join(ENDING_S)

    def _listen(self) -> None:
        if self.process.stdout:
            with self.process.stdout as lines:
                while line := lines.readline(LONGEST_LINE):
                    if self.lines.qsize() < MOST_LINES:
                        self.lines.put(line)
        self.lines.put("")

    def next(self, within_s: float) -> Any:
        """What it says next.

        Raises:
            TimeoutError: If it says nothing in time.
            EOFError: If it ended.
        """
        try:
            line = self.lines.get(timeout=within_s)
        except queue.Empty:
            raise TimeoutError from None
        try:
            return json.loads(line)
        except (ValueError, RecursionError):  # nothing more, or what an answer wrote in place of it
            raise EOFError from None


def examine(
    unit: str,
    path: Path,
    seed: int = 0,
    deadlines: Deadlines | None = None,
    home: Path | None = None,
) -> Iterator[Outcome]:
    """What each check says of an answer, as it becomes known.

    A check that takes too long, or takes its process down, has failed; the next ones run in a new
    process.

    Args:
        unit: What is graded, such as ``"lab.exercise_1"``.
        path: The learner's file or folder.
        seed: For the cases that checks draw.
        deadlines: Shorter ones than usual.
        home: For an answer of somebody else: the folder, with the answer in it, where it runs and
            to which ``graders.limits`` confines it.

    Raises:
        CheckerError: If the answer can't be opened.
    """
    limits = deadlines or Deadlines()
    done, count = 0, 1
    while done < count:
        with Child(unit, path, done, seed, home) as child:
            plan = _open(child, path, limits)
            count = len(plan)
            try:
                while done < count:
                    limit_s = min(plan[done][2], limits.check_s)
                    yield _outcome(child.next(limit_s), plan[done], seed)
                    done += 1
            except TimeoutError:
                says = f"did not finish in {limit_s:.0f} s; look for a loop without an exit"
            except EOFError:
                says = "took the whole process down; look for os._exit, or for a crash in C code"
            else:
                return
        todo, title, _ = plan[done]
        yield Outcome(todo, title, "wrong", says, seed=seed)
        done += 1


def _open(child: Child, path: Path, limits: Deadlines) -> list[tuple[str, str, float]]:
    plan: list[tuple[str, str, float]] = []
    try:
        plan = child.next(limits.first_s)
        problem: str = child.next(limits.first_s)
        if not isinstance(problem, str):  # an answer wrote the line
            raise EOFError
    except TimeoutError:
        problem = (
            f"{path.name} could not be imported in {limits.first_s:.0f} s; "
            "look for work outside functions"
        )
    except EOFError:
        problem = (
            f"{path.name} ends the process when it is imported; look for work outside functions"
        )
    if problem:
        raise CheckerError(printable(problem), [(todo, title) for todo, title, _ in plan])
    return plan


def _outcome(fields: Any, planned: tuple[str, str, float], seed: int) -> Outcome:
    """What a check came to, if that is what the line says.

    Raises:
        EOFError: If an answer wrote the line.
    """
    try:
        outcome = Outcome(**fields)
        asked = [outcome.todo, outcome.title, outcome.seed] == [*planned[:2], seed]
        if not asked or outcome.state not in WORST_FIRST:
            raise EOFError
        advice = tuple(map(printable, outcome.advice))
        return replace(outcome, says=printable(outcome.says), advice=advice)
    except (TypeError, AttributeError):
        raise EOFError from None
