"""An answer of several files: a learner's folder, its scripts imported, read or run."""

import contextlib
import importlib
import io
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from graders import answers
from graders.answers import AnswerError

OPEN = ("NotImplementedError: TODO", "stopped: TODO")  # how the last line of an open script begins


@dataclass(frozen=True)
class Result:
    """How a script ended: its exit status, and what it printed to both streams."""

    status: int
    output: str
    error: str

    def last_words(self) -> str:
        """The status and the last line on stderr, for a message."""
        lines = self.error.strip().splitlines()
        return f"exit status {self.status}; on stderr: {lines[-1] if lines else 'nothing'}"


@dataclass
class Folder:
    """A learner's folder.

    Attributes:
        path: Where it is.
        kept: What checks have found out once and ask for again.
    """

    path: Path
    kept: dict[str, Any] = field(default_factory=dict)

    def read(self, name: str) -> str:
        """The text of a file.

        Raises:
            AnswerError: If it is missing, or is a folder.
        """
        self._require_file(name)
        return (self.path / name).read_text(encoding="utf-8")

    def load(self, name: str) -> ModuleType:
        """Import a script afresh, and what it imports from the folder, without its main part.

        Raises:
            AnswerError: If that fails, with the line at fault.
        """
        self._require_file(name)
        with forgetting(self.path):
            return answers.load(self.path / name)

    def run(self, name: str, *arguments: str) -> Result:
        """Run a script in this process, as ``python NAME ARGUMENTS…`` would in the folder.

        Raises:
            AnswerError: If there is no such file.
            NotImplementedError: If it stops at a TODO.
        """
        self._require_file(name)
        output, error = io.StringIO(), io.StringIO()
        with (
            forgetting(self.path),
            patch.object(sys, "argv", [name, *arguments]),
            patch.object(sys, "path", [str(self.path), *sys.path]),
            contextlib.chdir(self.path),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(error),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default")
            status = _status_of(self.path / name)
        result = Result(status, output.getvalue(), error.getvalue())
        lines = result.error.strip().splitlines()
        if status and lines and lines[-1].startswith(OPEN):
            raise NotImplementedError(lines[-1].partition(": ")[2])
        return result

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What ``make`` gave the first time."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def _require_file(self, name: str) -> None:
        path = self.path / name
        if path.is_dir():
            raise AnswerError(f"{name} is a folder; the file {name} belongs in {self.path}")
        if not path.is_file():
            raise AnswerError(f"{name} is missing; there is no such file in {self.path}")


@contextmanager
def forgetting(folder: Path) -> Iterator[None]:
    """Import what lies in a folder afresh, and drop it at the end: a file may change."""
    modules = set(sys.modules)
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_bytecode
        for name in set(sys.modules) - modules - {answers.ANSWER}:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == folder:
                del sys.modules[name]


def _status_of(path: Path) -> int:
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as leaving:
        if leaving.code is None or isinstance(leaving.code, int):
            return leaving.code or 0
        print(leaving.code, file=sys.stderr)
        return 1
    except BaseException:  # a script may raise anything
        traceback.print_exc()
        return 1
    return 0
