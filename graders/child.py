"""The process in which an answer runs: one line of JSON for each step, in order.

First the list of checks, then whether the answer could be opened, then what each check came to.
Where the system can fork there are two processes: one runs the answer, the other ends it.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from graders.keeper import keep_house


def main(arguments: list[str]) -> None:
    """Check an answer.

    Args:
        arguments: The unit, the answer's path, the number of the first check to run, the seed; and
            for an answer of somebody else the folder to which it is confined.
    """
    try:
        import torch  # here, since PyTorch takes seconds, and a fork comes before
    except Exception as problem:  # builds that do not fit raise more than ImportError
        said = " ".join(str(problem).split())
        print("[]", json.dumps(f"{sys.executable} can't import PyTorch: {said}"), sep="\n")
        return
    from graders.answers import AnswerError, load
    from graders.checks import checks_in, unit
    from graders.judging import judge
    from graders.limits import confine

    name, path, first, seed = arguments[0], Path(arguments[1]), int(arguments[2]), int(arguments[3])
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        # What the answer prints must not come between our lines, and it has nothing to read.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        speaker, voice = os.getpid(), out.fileno()
        if hasattr(os, "register_at_fork"):  # what an answer forks keeps nobody listening
            os.register_at_fork(after_in_child=lambda: os.dup2(nowhere, voice))

        def tell(what: object) -> None:
            if os.getpid() != speaker:  # an answer forked, and came back twice
                os._exit(0)
            print(json.dumps(what), file=out, flush=True)

        torch.set_num_threads(1)
        module = unit(name)
        checks = checks_in(module)
        tell([[check.todo, check.title, check.limit_s] for check in checks])
        for home in arguments[4:]:
            confine(Path(home))
        try:
            answer = getattr(module, "opened", load)(path)
        except AnswerError as problem:
            tell(str(problem))
            return
        tell("")
        for check in checks[first:]:
            tell(asdict(judge(check, answer, path, seed)))


if __name__ == "__main__":
    if hasattr(os, "fork"):
        keep_house()
    main(sys.argv[1:])
