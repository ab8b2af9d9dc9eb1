"""Tests in pieces: what passed is kept in a file, and the next call goes on with the rest.

``pytest -p tests.in_pieces --tried FILE --within SECONDS`` begins no test after that time, and
ends with exit code 3 if any is left. A test that was begun before and did not pass comes last, so
that one which takes the process down does not keep others from their turn.
"""

import time
from pathlib import Path

import pytest

LEFT = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to keep what was tried, and how long to go on."""
    parser.addoption("--tried", type=Path, required=True, help="file of the tests that were tried")
    parser.addoption("--within", type=float, required=True, help="seconds")


def pytest_configure(config: pytest.Config) -> None:
    """Watch this run."""
    config.pluginmanager.register(Pieces(config.getoption("tried"), config.getoption("within")))


class Pieces:
    """One piece: the tests that have not passed yet, until the time is over."""

    def __init__(self, tried: Path, within_s: float) -> None:
        self.tried = tried
        self.ends = time.monotonic() + within_s
        self.stopped = False

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what passed."""
        known = set(self.tried.read_text("utf-8").splitlines()) if self.tried.exists() else set()
        passed = [item for item in items if f"passed {item.nodeid}" in known]
        config.hook.pytest_deselected(items=passed)
        items[:] = [item for item in items if item not in passed]
        items.sort(key=lambda item: f"began {item.nodeid}" in known)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a test that passed."""
        if report.when == "call" and report.passed:
            self._keep(f"passed {report.nodeid}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Leave a test for the next piece once the time is over."""
        if time.monotonic() < self.ends:
            self._keep(f"began {item.nodeid}")
            return None
        self.stopped = True
        return True

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Say by the exit code whether any is left; none at all means that all have passed."""
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = LEFT if self.stopped else pytest.ExitCode.OK

    def _keep(self, line: str) -> None:
        self.tried.parent.mkdir(parents=True, exist_ok=True)
        with self.tried.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
