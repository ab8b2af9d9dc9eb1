"""GPU tests that run in pieces: each piece goes on with what has not passed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.building import REPOSITORY
from tests.in_pieces import LEFT

THREE_TESTS = """
import os, pathlib, time

def test_first():
    pathlib.Path("ran.txt").open("a").write("first ")

def test_second():
    pathlib.Path("ran.txt").open("a").write("second ")
    {second}

def test_third():
    pathlib.Path("ran.txt").open("a").write("third ")
"""


def piece(folder: Path, second: str, within_s: float = 60) -> tuple[int, str]:
    """The exit code of one piece of three tests, and which of them have been begun so far."""
    (folder / "test_three.py").write_text(THREE_TESTS.format(second=second), encoding="utf-8")
    options = ["-p", "tests.in_pieces", "--tried", "tried.txt", "--within", str(within_s)]
    # Without plugins that are installed: some take a second to import.
    alone = {"PYTHONPATH": str(REPOSITORY), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment = {**os.environ, **alone}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    ran = folder / "ran.txt"
    return done.returncode, ran.read_text(encoding="utf-8") if ran.exists() else done.stdout


def test_what_passed_does_not_run_again(tmp_path: Path) -> None:
    """What failed does, until nothing is left."""
    first, _ = piece(tmp_path, "assert False")
    second, _ = piece(tmp_path, "pass")
    third, ran = piece(tmp_path, "pass")

    assert (pytest.ExitCode.TESTS_FAILED, 0, 0) == (first, second, third)
    assert "first second third second " == ran


def test_time_that_is_over_leaves_tests_for_the_next_piece(tmp_path: Path) -> None:
    """The exit code says that some are left."""
    code, _ = piece(tmp_path, "pass", within_s=0)
    again, ran = piece(tmp_path, "pass")

    assert (LEFT, 0) == (code, again)
    assert "first second third " == ran


def test_a_test_that_ends_the_process_comes_last_the_next_time(tmp_path: Path) -> None:
    """So that it keeps no other from its turn."""
    died, _ = piece(tmp_path, "os._exit(9)")
    died_again, ran = piece(tmp_path, "os._exit(9)")

    assert (9, 9) == (died, died_again)
    assert "first second third second " == ran
