"""The process in which an answer runs: one line of JSON for each step, in order.

First the list of checks, then whether the file could be imported, then what each check came to.
"""

import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Check a file: the exercise, the file's path, and the number of the first check to run."""
    import torch  # here, since PyTorch takes seconds, and the parent is watched before

    from lesson_code.lab.checker.loading import AnswerError, load
    from lesson_code.lab.checker.points import checks_of, judge

    exercise, path, first = int(arguments[0]), Path(arguments[1]), int(arguments[2])
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        # What the answer prints must not come between our lines.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)

        def tell(what: object) -> None:
            print(json.dumps(what), file=out, flush=True)

        torch.set_num_threads(1)
        checks = checks_of(exercise)
        tell([[check.todo, check.title] for check in checks])
        try:
            answer = load(path)
        except AnswerError as problem:
            tell(str(problem))
            return
        tell("")
        for check in checks[first:]:
            tell(asdict(judge(check, answer)))


def end_with_parent() -> None:
    """End within a second of the process that asked, even where an answer never returns."""
    parent = os.getppid()

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os.killpg(0, signal.SIGKILL)  # what the answer has started is in the same group

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)


if __name__ == "__main__":
    end_with_parent()
    main(sys.argv[1:])
