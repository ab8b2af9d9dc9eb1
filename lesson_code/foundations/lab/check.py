"""Check one step of the lab, or all: `python check.py 1` to `python check.py 6`, or `all`.

Each point of the lab's lists is passed, wrong (with what was expected, what came, and what to
reread), not done yet, or can't be judged here. Nothing in your folder changes.
"""

from __future__ import annotations  # so that an older Python comes as far as `main`

import argparse
import io
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST = (3, 11)  # the first Python that has all that the graders import
FILES = {
    "1": "your workspace",
    "2": "explore_gradients.py",
    "3": "train_mnist.py",
    "4": "debug_model.py",
    "5": "benchmark_devices.py",
    "6": "training-readiness.md",
}


def main(arguments: list[str] | None = None) -> int:
    """Grade what the command line asks for.

    Returns:
        0 if everything passes that can be judged here, 1 if not, 2 for a wrong call or Python.
    """
    running = sys.version_info[:2]
    if running < OLDEST:
        needed, found = (".".join(map(str, version)) for version in (OLDEST, running))
        print(
            f"error: check.py needs Python {needed} or newer, and {sys.executable} is {found}; "
            "remove .venv, and make it anew with a newer one",
            file=sys.stderr,
        )
        return 2
    parser = argparse.ArgumentParser(prog="python check.py", description=__doc__)
    parser.add_argument("step", choices=(*FILES, "all"), help="the step, or all of them")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each point")
    parser.add_argument("--seed", type=int, help="ask the same cases again; it is in every report")
    options = parser.parse_args(arguments)
    from graders import door

    steps = FILES if options.step == "all" else (options.step,)
    grades = []
    for step in steps:
        title = f"Step {step}: {FILES[step]}"
        unit = f"foundations.step_{step}"
        grades.append(door.grade(unit, title, HERE, options.json, options.seed))
    return max(grades)


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A script's error may contain what the terminal has no character for.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
