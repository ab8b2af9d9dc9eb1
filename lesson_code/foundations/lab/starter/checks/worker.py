"""Runs the learner's scripts, one after the other, in a process that imports PyTorch once.

A job comes in as a line of JSON and its result goes out as another.
"""

import contextlib
import io
import json
import os
import queue
import runpy
import subprocess
import sys
import threading
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path


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
        """End the process, if there is one."""
        if self.process:
            self.process.kill()
            self.process.communicate()
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
            )
            arguments = (self.process, self.answers)
            threading.Thread(target=_listen, args=arguments, daemon=True).start()
        return self.process


def _listen(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    """Pass on every line, and an empty one at the end."""
    if process.stdout:
        with contextlib.suppress(ValueError):  # closed while it was read
            for line in process.stdout:
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
    answers = sys.stdout
    for line in sys.stdin:
        job = json.loads(line)
        result = run_script(Path(job["folder"]), job["script"], job["arguments"])
        print(json.dumps(vars(result)), file=answers, flush=True)


if __name__ == "__main__":
    main()
