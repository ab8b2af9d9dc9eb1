"""`mkdocs serve` shows what was changed, without being asked."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.site.conftest import LOOP_CPU, PAGE, Copy

RELOAD_S = 3.0
START_S = 60.0


def read(address: str) -> str:
    """The page, or nothing while the server is not there."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def wait_for(text: str, address: str, patience_s: float) -> float:
    """How long it took until the page had ``text``, in seconds."""
    start = time.monotonic()
    while text not in read(address):
        if time.monotonic() - start > patience_s:
            pytest.fail(f"{text!r} was not on {address} after {patience_s} s")
        time.sleep(0.1)
    return time.monotonic() - start


def test_a_change_in_lesson_code_shows_within_three_seconds(copy: Copy) -> None:
    """Plain `mkdocs serve` rebuilds when a file that a page shows was saved.

    The best of three changes counts: on a busy machine, everything takes longer now and then.
    """
    copy.write("lesson_code/tiny/alone.py", LOOP_CPU)
    copy.write("docs/tiny/01-first.md", PAGE.replace("loop_cpu", "alone"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"],
        cwd=copy.root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_URL": f"http://127.0.0.1:{port}/"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/tiny/01-first/"
    took_s = []
    try:
        wait_for("First", address, START_S)
        for name in ("one_name", "another_name", "a_third_name"):
            copy.write("lesson_code/tiny/alone.py", LOOP_CPU.replace("batches", name))
            took_s.append(wait_for(name, address, START_S))
    finally:
        server.terminate()
        server.wait(START_S)

    assert RELOAD_S > min(took_s), took_s
