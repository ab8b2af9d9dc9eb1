"""The process in which an answer runs does not outlive the one that asked."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.building import REPOSITORY
from tests.processes import PATIENCE_S, gone

# Asks for the checks of a file, says which process does it, and waits for ever.
ASKER = """\
import sys, time
from pathlib import Path
from graders.process import Child
child = Child("lab.exercise_1", Path(sys.argv[1]))
print(child.process.pid, flush=True)
time.sleep(3600)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("waits_for_the_answer", [False, True])
def test_it_ends_where_its_parent_was_killed(tmp_path: Path, waits_for_the_answer: bool) -> None:
    """Be it while PyTorch is loaded, or in an answer that never returns."""
    begun = tmp_path / "begun"
    answer = tmp_path / "answer.py"
    answer.write_text(f"open({str(begun)!r}, 'w').close()\nwhile True: pass\n")
    asker = subprocess.Popen(
        [sys.executable, "-c", ASKER, str(answer)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert asker.stdout is not None
    child = psutil.Process(int(asker.stdout.readline()))
    end = time.monotonic() + PATIENCE_S
    while waits_for_the_answer and not begun.exists() and time.monotonic() < end:
        time.sleep(0.1)

    runs = [child, *child.children(recursive=True)]
    os.kill(asker.pid, signal.SIGKILL)
    asker.wait(PATIENCE_S)
    asker.stdout.close()

    assert begun.exists() == waits_for_the_answer
    assert gone(*runs)
