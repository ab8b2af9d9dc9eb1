"""Runs the learner's scripts, one after the other, in a process that imports PyTorch once.

A job comes in as a line of JSON and its result goes out as another.
"""

import contextlib
import io
import json
import os
import queue
import runpy
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

ENDING_S = 10.0  # for all that a script has started to be gone


@dataclass(frozen=True)
class Result:
    """How a script ended: its exit status, and what it printed to both streams."""

    status: int
    output: str
    error: str

    def last_words(self) -> str:
        """The status and the last line on stderr, as evidence."""
        lines = self.error.strip().splitlines()
        return f"exit status {self.status}; on stderr: {lines[-1] if lines else 'nothing'}"


class Worker:
    """The process, from the side of the checks; it starts with the first job."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.answers: queue.Queue[str] = queue.Queue()
        self.listener = threading.Thread()

    def run(self, script: str, *arguments: str, timeout_s: float = 300) -> Result:
        """Run a script of the current folder as `python script arguments…` would.

        Raises:
            TimeoutError: If it runs longer than ``timeout_s``.
        """
        process = self._started()
        if process.stdin is None:  # pragma: no cover
            raise RuntimeError("the worker has no input")
        job = {"folder": str(Path.cwd()), "script": script, "arguments": arguments}
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        try:
            answer = self.answers.get(timeout=timeout_s)
        except queue.Empty:
            self.close()
            raise TimeoutError(f"{script} still ran after {timeout_s:.0f} s") from None
        if not answer:
            self.close()
            return Result(-1, "", "the process died")
        return Result(**json.loads(answer))

    def close(self) -> None:
        """End the process, if there is one, and all that its scripts have started."""
        if self.process is None:
            return
        if self.process.stdin:
            self.process.stdin.close()
        self.process.terminate()
        if hasattr(os, "killpg"):
            self.listener.join(ENDING_S)  # it ends the scripts, then itself
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def _started(self) -> subprocess.Popen[str]:
        if self.process and self.process.poll() is not None:
            self.close()
        if self.process is None:
            self.answers = queue.Queue()
            self.process = subprocess.Popen(
                [sys.executable, "-B", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # so that what a script starts can be stopped with it
            )
            arguments = (self.process, self.answers)
            self.listener = threading.Thread(target=_listen, args=arguments, daemon=True)
            self.listener.start()
        return self.process


def _listen(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    """Pass on every line, and an empty one at the end."""
    if process.stdout:
        with process.stdout as lines:
            for line in lines:
                answers.put(line)
    answers.put("")


def run_script(folder: Path, script: str, arguments: list[str]) -> Result:
    """Run a script in this process."""
    output, error = io.StringIO(), io.StringIO()
    modules = set(sys.modules)
    sys.argv = [script, *arguments]
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(error),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        status = _status_of(folder / script)
    sys.path.remove(str(folder))
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).parent == folder:
            del sys.modules[name]  # so that the next run reads the file again
    return Result(status, output.getvalue(), error.getvalue())


def _status_of(path: Path) -> int:
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as leaving:
        if leaving.code is None or isinstance(leaving.code, int):
            return leaving.code or 0
        print(leaving.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    """Do jobs until there are no more."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    with (
        os.fdopen(os.dup(0), encoding="utf-8") as jobs,
        os.fdopen(os.dup(1), "w", encoding="utf-8") as answers,
    ):
        # What a script's programs print must not come between our lines, nor read them.
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        worker, channels = os.getpid(), (jobs.fileno(), answers.fileno())
        if hasattr(os, "register_at_fork"):  # what a script forks keeps nobody listening
            os.register_at_fork(after_in_child=lambda: [os.dup2(nowhere, c) for c in channels])
        for line in jobs:
            job = json.loads(line)
            result = run_script(Path(job["folder"]), job["script"], job["arguments"])
            if os.getpid() != worker:  # a script forked, and came to its end twice
                os._exit(0)
            print(json.dumps(vars(result)), file=answers, flush=True)


if __name__ == "__main__":
    if hasattr(os, "fork"):
        from keeper import keep_house  # type: ignore[import-not-found]

        keep_house()
    main()
