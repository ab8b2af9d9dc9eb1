"""Programs that need not import PyTorch: they are forked from a process that has it.

A start of PyTorch and torchvision takes a processor two or three seconds, and some hundred tests
start a program. One that is forked has arguments, environment, folder, streams and signals of its
own, and is `__main__`; only what it finds imported differs. A test of what a start takes, or of
what is imported, starts a process in the usual way.
"""

import atexit
import contextlib
import gc
import json
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self, TextIO, cast

FLAGS = {"-P", "-B"}
STREAMS = 3


class Parent:
    """The process that forks. It is started when the first program is, and ends with ``close``."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="warm-")
        self.address = f"{self.folder.name}/parent"

    def close(self) -> None:
        """End it, without regard to programs that still run."""
        if self.process and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()
        self.folder.cleanup()

    def start(self, command: Sequence[str | Path], **settings: Any) -> "Program":
        """Start ``[sys.executable, …]``, with the words of ``subprocess.Popen``."""
        if not self.process:
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__, self.address],
                env={**environment, "OMP_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert self.process.stderr is not None
            with self.process.stderr as errors:  # it closes its own when it listens
                said = errors.read()
            assert not said, said
        return Program(self.address, [str(word) for word in command], **settings)

    def run(
        self,
        command: Sequence[str | Path],
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``[sys.executable, …]`` to its end.

        Returns:
            Its status, and what it has written to both streams.
        """
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8") as err,
        ):
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            with self.start(command, cwd=cwd, env=env, **streams) as program:
                status = program.wait()
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(program.args, status, out.read(), err.read())


class Program:
    """What ``subprocess.Popen`` gives, as far as tests and the graders ask for it."""

    def __init__(
        self,
        address: str,
        command: list[str],
        *,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        start_new_session: bool = False,
        encoding: str = "utf-8",
        errors: str = "strict",
        text: bool = True,
    ) -> None:
        assert text
        assert sys.executable == command[0]
        self.args = command
        self.returncode: int | None = None
        self.stdout: TextIO | None = None
        self.stderr: TextIO | None = None
        asked = {
            "words": command[1:],
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "session": start_new_session,
        }
        with contextlib.ExitStack() as ours:
            given = []
            for number, stream in enumerate((stdin, stdout, stderr)):
                if stream is None:
                    given.append(number)
                elif stream == subprocess.DEVNULL:
                    given.append(os.open(os.devnull, os.O_RDWR))
                    ours.callback(os.close, given[-1])
                elif stream == subprocess.PIPE:
                    here, there = os.pipe()
                    reader = os.fdopen(here, encoding=encoding, errors=errors)
                    if number == 1:
                        self.stdout = reader
                    else:
                        self.stderr = reader
                    given.append(there)
                    ours.callback(os.close, there)
                else:
                    given.append(stream.fileno())
            self.connection = socket.socket(socket.AF_UNIX)
            self.connection.connect(address)
            socket.send_fds(self.connection, [b"!"], given)
            self.answers = self.connection.makefile("rw", encoding="utf-8")
            print(json.dumps(asked), file=self.answers, flush=True)
            self.pid = int(self.answers.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.close()
        self.wait()

    def wait(self) -> int:
        """Wait for its end.

        Returns:
            Its status; minus the number of a signal that ended it.
        """
        if self.returncode is None:
            self.returncode = int(self.answers.readline())
            self.answers.close()
            self.connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it has not ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def serve(address: str) -> Callable[[], object]:
    """Fork a process for each connection, and tell its number and status, until stdin ends.

    Returns:
        In a forked process, what it is to do; at the end nothing.
    """
    import torch  # noqa: F401
    import torchvision  # noqa: F401

    gc.freeze()  # or each program goes through all of PyTorch, and copies it
    running: dict[int, socket.socket] = {}

    def reap(_number: int, _frame: FrameType | None) -> None:
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with running.pop(pid) as asker, contextlib.suppress(OSError):
                asker.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # is for the tests; each program hears its own
    signal.signal(signal.SIGCHLD, reap)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    os.dup2(1, 2)  # the end of this stream tells who started us that we listen
    while listener in select.select([listener, 0], [], [])[0]:
        asker, _ = listener.accept()
        _, streams, _, _ = socket.recv_fds(asker, 1, STREAMS)
        with asker.makefile(encoding="utf-8") as lines:
            asked = json.loads(lines.readline())
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        pid = os.fork()
        if not pid:
            for connection in (listener, asker, *running.values()):
                connection.close()
            return program(asked, streams)
        running[pid] = asker
        for stream in streams:
            os.close(stream)
        with contextlib.suppress(OSError):
            asker.sendall(f"{pid}\n".encode())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    return int  # nothing


def program(asked: dict[str, Any], streams: list[int]) -> Callable[[], object]:
    """Make this process as a new one is, and find what it is to run."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number in (signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    if asked["session"]:
        os.setsid()
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    random.seed()
    words = cast("list[str]", asked["words"])
    safe = "-P" in words
    while words[0] in FLAGS:
        sys.dont_write_bytecode |= words.pop(0) == "-B"
    first, *rest = words
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    own = str(Path(first).resolve().parent) if first not in ("-m", "-c") else str(Path.cwd())
    sys.path[:0] = [*([] if safe else [own]), *paths]
    sys.argv = words if first not in ("-m", "-c") else [first, *rest[1:]]
    if first == "-m":
        return lambda: runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    if first == "-c":
        sys.modules["__main__"] = types.ModuleType("__main__")
        code = compile(rest[0], "<string>", "exec")
        return lambda: exec(code, sys.modules["__main__"].__dict__)
    return lambda: runpy.run_path(first, run_name="__main__")


def follow(run: Callable[[], object]) -> int:
    """Run to the end, and have nothing taken apart then: of PyTorch that takes a second.

    What a program asked to be done at its end is done before.

    Returns:
        Its status.
    """
    status = 0

    def leave() -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        if status == -signal.SIGINT:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        os._exit(status)

    atexit.register(leave)  # what is registered later comes first
    try:
        run()
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException as problem:
        traceback.print_exc()
        status = -signal.SIGINT if isinstance(problem, KeyboardInterrupt) else 1
    return status


if __name__ == "__main__":
    sys.exit(follow(serve(sys.argv[1])))
