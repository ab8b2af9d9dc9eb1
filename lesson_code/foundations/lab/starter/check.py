"""Check one step of the lab, or all: `python check.py 1` to `python check.py 6`, or `all`.

Each point of the lab's lists is passed, still open (with what was seen and what to reread), or not
checkable here (with the reason). Run it in your own folder; it changes nothing there.
"""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

STEPS = ("1", "2", "3", "4", "5", "6")
CHECKS = Path(__file__).resolve().parent / "checks"


def main(arguments: list[str] | None = None) -> int:
    """Run the checks: 0 if everything that can be checked passed, 1 if not, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python check.py", description=__doc__)
    parser.add_argument("step", choices=(*STEPS, "all"), help="the step, or all of them")
    wanted = parser.parse_args(arguments).step
    if find_spec("pytest") is None:
        print(f"open: pytest is not installed for {sys.executable}; see Step 1", file=sys.stderr)
        return 1
    return max([run_step(step) for step in (STEPS if wanted == "all" else (wanted,))])


def run_step(step: str, *more: str) -> int:
    """Run the checks of one step, with more options for pytest if need be, and print the report."""
    import pytest

    sys.path.insert(0, str(CHECKS.parent))
    try:
        from checks.report import Report

        report = Report(step)
        options = [f"--config-file={CHECKS / 'pytest.ini'}", "--capture=sys"]
        plugins = ["-pno:terminal", "-pno:cacheprovider"]
        with patch.dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_ADDOPTS=""):
            pytest.main([*options, *plugins, *more, str(CHECKS / f"step_{step}.py")], [report])
    finally:
        sys.path.remove(str(CHECKS.parent))
    print(report.text())
    return report.status()


if __name__ == "__main__":
    sys.exit(main())
