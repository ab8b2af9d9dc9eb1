"""The command: ``python -m tests.mutation lab.exercise_1 [--function NAME] [--jobs 2]``."""

import argparse
import os
import sys
import time

from graders.answers import load
from graders.checks import checks_in
from graders.checks import unit as module
from tests.mutation.accepted import accepted, as_listed
from tests.mutation.mutants import mutants
from tests.mutation.table import Row, write
from tests.mutation.trying import Trial, fates, progress
from tests.mutation.units import read

REAL_ONLY = {"is_faster_where_there_is_much_to_compute"}  # a simulated GPU is slower than a CPU


def main() -> int:
    """Try the mutants of a unit, and say which of them no check notices.

    Returns:
        0 if every survivor is listed with a reason, 1 if not, 2 for a unit that there is not.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("unit", help='such as "lab.exercise_1"')
    parser.add_argument("--function", help="the mutants of this function only")
    parser.add_argument("--gpu", action="store_true", help="ask a GPU's checks, on a simulated one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    try:
        unit = read(options.unit)
    except KeyError:
        print(f"error: there is no unit {options.unit!r}; name one of graders", file=sys.stderr)
        return 2
    trials = [
        Trial(mutant, unit.todos[mutant.line])
        for mutant in mutants(unit.source, unit.todos)
        if options.function in (None, mutant.function)
    ]
    asking = module(options.unit)
    asked = [check for check in checks_in(asking) if check.run.__name__ not in REAL_ONLY]
    checks = [check for check in asked if options.gpu or not check.gpu]
    opened = getattr(asking, "opened", load)
    listed = accepted(options.unit)
    start, came = time.monotonic(), []
    for trial, fate in fates(unit, checks, trials, options.jobs, opened):
        came.append((trial.mutant, fate))
        progress(len(came), len(trials))
        if fate == "survived" and trial.mutant.key not in listed:
            print(as_listed(trial.mutant.key), flush=True)
    left = [mutant for mutant, fate in came if fate == "survived"]
    unexplained = [mutant for mutant in left if mutant.key not in listed]
    row = Row(
        options.unit,
        mutants=len(came),
        killed=sum(fate == "killed" for _, fate in came),
        on_a_gpu=sum(fate == "killed on a GPU" for _, fate in came),
        equivalent=len(left) - len(unexplained),
        survivors=len(unexplained),
    )
    print(f"{row} in {(time.monotonic() - start) / 60:.1f} minutes")
    if not options.function:
        for key in sorted(listed.keys() - {mutant.key for mutant in left}):
            print(f"listed, and no survivor any more: {as_listed(key)}")
        write(row)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
