"""Tests in pieces: what passed is kept in a file, and the next call goes on with the rest.

``pytest -p tests.in_pieces --passed FILE --within SECONDS`` begins no test after that time, and
ends with exit code 3 if any is left.
"""

import time
from pathlib import Path

import pytest

LEFT = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to keep what passed, and how long to go on."""
    parser.addoption("--passed", type=Path, required=True, help="file of the tests that passed")
    parser.addoption("--within", type=float, required=True, help="seconds")


def pytest_configure(config: pytest.Config) -> None:
    """Watch this run."""
    config.pluginmanager.register(Pieces(config.getoption("passed"), config.getoption("within")))


class Pieces:
    """One piece: the tests that have not passed yet, until the time is over."""

    def __init__(self, passed: Path, within_s: float) -> None:
        self.passed = passed
        self.ends = time.monotonic() + within_s
        self.stopped = False

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what passed."""
        known = set(self.passed.read_text("utf-8").splitlines()) if self.passed.exists() else set()
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in known])
        items[:] = [item for item in items if item.nodeid not in known]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a test that passed."""
        if report.when == "call" and report.passed:
            self.passed.parent.mkdir(parents=True, exist_ok=True)
            with self.passed.open("a", encoding="utf-8") as file:
                file.write(report.nodeid + "\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Leave a test for the next piece once the time is over."""
        if time.monotonic() < self.ends:
            return None
        self.stopped = True
        return True

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Say by the exit code whether any is left; none at all means that all have passed."""
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = LEFT if self.stopped else pytest.ExitCode.OK
