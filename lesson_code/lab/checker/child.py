"""The process in which an answer runs: one line of JSON for each step, in order.

First the list of checks, then whether the file could be imported, then what each check came to.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import torch

from lesson_code.lab.checker.loading import AnswerError, load
from lesson_code.lab.checker.points import checks_of, judge


def main(arguments: list[str]) -> None:
    """Check a file: the exercise, the file's path, and the number of the first check to run."""
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


if __name__ == "__main__":
    main(sys.argv[1:])
