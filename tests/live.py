"""The live server as people start it: in a process of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.building import REPOSITORY
from tests.processes import hear_signals

PATIENCE_S = 60.0
ADDRESS = re.compile(r"http://127\.0\.0\.1:(?P<port>\d+)/lesson/\?token=(?P<token>\w+)")


@dataclass
class Live:
    """A running server.

    Attributes:
        process: Its process.
        port: Where it listens.
        token: What opens it.
    """

    process: subprocess.Popen[str]
    port: int
    token: str

    @property
    def origin(self) -> str:
        """Its origin."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def opened(self) -> str:
        """The whole address that it printed."""
        return f"{self.origin}/lesson/?token={self.token}"

    def kernels(self) -> list[psutil.Process]:
        """The processes that it has started."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def started_since(self, before: list[psutil.Process]) -> list[psutil.Process]:
        """The processes that have come, as soon as there is one; none if none comes in time."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if new := [each for each in self.kernels() if each not in before]:
                return new
            time.sleep(0.1)
        return []

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send it a signal, and wait for its end; its exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def live(site: Path, *options: str) -> Iterator[Live]:
    """A live server of ``site``, stopped at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lesson_site", "live", str(site), "--no-browser", *options],
        cwd=REPOSITORY,
        # what a killed server can't remove lies beside the site, which the test's folder holds
        env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(site.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=hear_signals,
    )
    assert process.stdout is not None
    too_long = threading.Timer(PATIENCE_S, process.kill)
    too_long.start()
    said = process.stdout.readline()
    too_long.cancel()
    found = ADDRESS.search(said)
    try:
        assert found, said + process.stdout.read()
        yield Live(process, int(found["port"]), found["token"])
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE_S)
        process.stdout.close()
