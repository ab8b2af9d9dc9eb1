"""Ctrl-C while PyTorch is still being loaded."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.stopping import STOPPED
from tests.building import REPOSITORY
from tests.processes import hear_signals

SLOW = 'import time\nprint("loading", flush=True)\ntime.sleep(600)\n'


def test_it_ends_in_a_sentence(tmp_path: Path) -> None:
    """A PyTorch that takes for ever is given up at once, and without a traceback."""
    (tmp_path / "torch.py").write_text(SLOW)
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks", "run"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    ) as run:
        assert run.stdout
        assert "loading\n" == run.stdout.readline()
        run.send_signal(signal.SIGINT)
        said = run.communicate()[1]

    assert STOPPED == run.returncode
    assert 1 == len(said.splitlines()), said
