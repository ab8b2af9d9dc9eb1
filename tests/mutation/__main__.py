"""The command: ``python -m tests.mutation lab.exercise_1 [--function NAME] [--jobs 2]``."""

import argparse
import os
import sys
import time

from graders.answers import load
from graders.checks import checks_in
from graders.checks import unit as module
from tests.mutation.mutants import mutants
from tests.mutation.processes import progress
from tests.mutation.table import Told
from tests.mutation.trying import Trial, fates
from tests.mutation.units import read

REAL_ONLY = {"computes_much_on_the_gpu"}  # a simulated GPU is long at it, for each mutant


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
    start, told = time.monotonic(), Told(options.unit)
    for trial, fate in fates(unit, checks, trials, options.jobs, opened):
        told.add(trial.mutant, fate)
        progress(len(told.fates), len(trials))
    return told.end((time.monotonic() - start) / 60, of_all=not options.function)


if __name__ == "__main__":
    sys.exit(main())
