"""A program that is forked behaves as one that is started."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.building import REPOSITORY
from tests.warm import Parent

SAYS = """
import json, os, sys
print(json.dumps([sys.argv[1:], os.getcwd(), os.environ.get("MINE"), __name__, sys.stdin.read()]))
print("aside", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("way", ["-c", "-m", "path"])
def test_a_program_runs_as_a_started_one_does(way: str, tmp_path: Path, warm: Parent) -> None:
    """Arguments, folder, environment, name, streams and status are its own."""
    (tmp_path / "says.py").write_text(SAYS, encoding="utf-8")
    named = {"-c": ["-c", SAYS], "-m": ["-m", "says"], "path": ["says.py"]}[way]
    command = [sys.executable, *named, "one", "--two"]
    environment = {**os.environ, "MINE": way}

    forked = warm.run(command, cwd=tmp_path, env=environment)

    started = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    found = forked.returncode, forked.stdout, forked.stderr
    assert (started.returncode, started.stdout, started.stderr) == found
    assert [["one", "--two"], str(tmp_path), way, "__main__", ""] == json.loads(forked.stdout)


def test_it_finds_modules_where_a_started_one_does(tmp_path: Path, warm: Parent) -> None:
    """In its folder and in PYTHONPATH; with -P not in its folder."""
    code = "import sys; print(sys.path)"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}
    (tmp_path / "module.py").write_text(code, encoding="utf-8")
    for words in (["-m", "module"], ["-P", "-m", "module"], ["module.py"]):
        command = [sys.executable, *words]

        forked = warm.run(command, cwd=tmp_path, env=environment)

        started = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert started.stdout == forked.stdout


def test_what_ends_it_is_told(warm: Parent) -> None:
    """An error that nobody catches is status 1 and a traceback; a signal is minus its number."""
    failed = warm.run([sys.executable, "-c", "raise ValueError('mine')"])
    killed = warm.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])

    assert 1 == failed.returncode
    assert "ValueError: mine" == failed.stderr.splitlines()[-1]
    assert -9 == killed.returncode


def test_the_end_of_a_program_is_not_cut_off(warm: Parent) -> None:
    """Its threads end, what it asked to be done at its end is done, and all is written."""
    code = """
import atexit, sys, threading, time
atexit.register(print, "at last")
threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
sys.exit("why")
"""

    ended = warm.run([sys.executable, "-c", code])

    assert (1, "thread\nat last\n", "why\n") == (ended.returncode, ended.stdout, ended.stderr)


def test_a_signal_reaches_it_alone(warm: Parent) -> None:
    """Control-C interrupts the program; the one that forked it goes on."""
    waits = "print('here', flush=True)\nimport time\ntime.sleep(3600)"
    with warm.start(
        [sys.executable, "-c", waits],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as program:
        assert program.stdout is not None
        assert "here\n" == program.stdout.readline()
        assert program.pid == os.getsid(program.pid)
        program.send_signal(signal.SIGINT)

    assert -signal.SIGINT == program.returncode
    assert "again\n" == warm.run([sys.executable, "-c", "print('again')"]).stdout


def test_pytorch_is_there_before_the_program_begins(warm: Parent) -> None:
    """Which is what it is for; nothing of ours is."""
    code = (
        "import sys; print({'torch', 'torchvision', 'graders', 'lesson_code'} & set(sys.modules))"
    )

    said = warm.run([sys.executable, "-c", code]).stdout

    assert {"torch", "torchvision"} == eval(said)
