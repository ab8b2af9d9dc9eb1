"""Runs printouts of lesson code, each in a process of its own; ``recordings`` starts this one.

It is the only part of the recordings that needs PyTorch. It imports it once, reads one job a line
from its standard input, and answers with one line of JSON. The instruction set is fixed when
PyTorch is loaded, so there is one such process for each; the number of threads comes with the job.
"""

import contextlib
import datetime
import gc
import importlib
import io
import json
import os
import platform
import subprocess
import sys
from typing import Any, TextIO

import torch
import torchvision  # noqa: F401, loaded once here rather than in every child

from lesson_code.devices import cpu_name, device_name


def main(once: bool) -> None:
    """Answer jobs until there are no more.

    Args:
        once: Answer one, in this process.
    """
    # What a target's own processes print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    gc.freeze()  # or each child looks through all of PyTorch for what can go
    for line in sys.stdin:
        if once:
            return _answer(json.loads(line), answers)
        # Elsewhere a fork of a process that has loaded PyTorch may fail to compute, or is unknown.
        child = _in_a_fork if sys.platform == "linux" else _in_a_process
        answer, status = child(line)
        problem = json.dumps({"error": f"its process ended with status {status}"})
        print(answer or problem, file=answers, flush=True)
    return None


def _in_a_fork(line: str) -> tuple[str, int]:
    """The answer to a job from a process that is gone afterwards, and how it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w", encoding="utf-8") as answer:
            _answer(json.loads(line), answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        said = answer.read()
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _in_a_process(line: str) -> tuple[str, int]:
    """The same, from a process that loads PyTorch again."""
    command = [sys.executable, "-P", "-W", "ignore", __file__, "--once"]
    done = subprocess.run(
        command, input=line, stdout=subprocess.PIPE, encoding="utf-8", check=False
    )
    return done.stdout, done.returncode


def _answer(job: dict[str, Any], answer: TextIO) -> None:
    try:
        json.dump(printed(**job), answer)
    except BaseException as problem:
        # SystemExit too: a child must never go on with what its parent was doing.
        json.dump({"error": f"{type(problem).__name__}: {problem}"}, answer)


def printed(module: str, function: str, device: str, threads: int) -> dict[str, Any]:
    """What a function prints and returns, and where and when.

    Args:
        module: Its module, as Python imports it.
        function: Its name.
        device: ``"cpu"`` or ``"cuda"``: what the output is said to come from.
        threads: How many threads PyTorch uses.

    Raises:
        RuntimeError: If there is no GPU, and ``device`` asks for one.
    """
    torch.set_num_threads(threads)
    if device == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("no CUDA GPU here; record this output on a machine that has one")
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        data = getattr(importlib.import_module(module), function)()
    return {
        "text": text.getvalue(),
        "data": data,
        "provenance": {
            "device": device,
            "device_name": device_name(torch.device(device)),
            "processor": cpu_name(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "python": platform.python_version(),
            "date": datetime.date.today().isoformat(),
        },
    }


if __name__ == "__main__":
    main("--once" in sys.argv)
