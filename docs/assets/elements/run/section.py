"""Run a shown section, as a reader has changed it, at its place in its module; then further lines.

The page's worker calls this in Pyodide, and the tests call it in CPython. Everything else that the
section needs is imported from the untouched files, afresh in each run. What is printed is handed
on piece by piece.
"""

import ast
import importlib
import linecache
import sys
import textwrap
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "lesson_code"
LIMIT_BYTES = 100_000
SNIPPET, LINES = "<snippet>", "<run>"  # how a traceback calls the reader's two texts


@dataclass(frozen=True)
class Place:
    """Where a section stands: a file relative to the package, and its lines, counted from one."""

    file: str
    first: int
    last: int

    @property
    def module(self) -> str:
        """The name under which the file is imported."""
        return f"{PACKAGE}.{self.file.removesuffix('.py').replace('/', '.')}"


class Output(TextIOBase):
    """Hands on what is written, until that is enough for a page."""

    def __init__(self, emit: Callable[[str], object]) -> None:
        self.emit = emit
        self.left = LIMIT_BYTES

    def write(self, text: str) -> int:
        """Hand ``text`` on, or as much of it as there is room for."""
        if self.left > 0:
            size = len(text.encode(errors="replace"))
            self.emit(text if size <= self.left else text[: self.left])
            self.left -= size
            if self.left <= 0:
                self.emit(
                    f"\n… the rest is left out; {LIMIT_BYTES // 1000} kB are shown at most.\n"
                )
        return len(text)


def run(root: str, place: Place, snippet: str, lines: str, emit: Callable[[str], object]) -> str:
    """Run ``snippet`` in its module, and then ``lines`` with the module's names.

    Args:
        root: The folder of the package.
        place: Where the snippet stands.
        snippet: The section, changed or not, without its indentation.
        lines: What runs afterwards; of a final expression the value is shown.
        emit: Is given each piece of text as it is printed.

    Returns:
        ``finished``; ``failed`` where an error came up; ``missing NAME`` where that error is that
        Python here lacks the package NAME, which the page then says in place of a traceback.
    """
    if root not in sys.path:
        sys.path.insert(0, root)
    _forget()
    path = Path(root, PACKAGE, place.file)
    output = Output(emit)
    with redirect_stdout(output), redirect_stderr(output):
        try:
            names = vars(_module(place, path, snippet))
            _remember(LINES, lines)
            _run_lines(lines, names)
        except SystemExit:
            return "finished"
        except BaseException as problem:
            package = _missing(problem)
            if package:
                return f"missing {package}"
            output.write(_told(problem, Path(root), place, snippet))
            return "failed"
        return "finished"


def spliced(source: str, place: Place, snippet: str) -> str:
    """The module's text with the snippet, indented as before, in place of its section."""
    before = source.splitlines()
    old = [line for line in before[place.first - 1 : place.last] if line.strip()]
    indent = " " * min(len(line) - len(line.lstrip()) for line in old)
    new = textwrap.indent(snippet, indent).splitlines()
    return "\n".join([*before[: place.first - 1], *new, *before[place.last :]]) + "\n"


def _forget() -> None:
    """Let the next import read the files again, since a run may have changed anything."""
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


def _module(place: Place, path: Path, snippet: str) -> ModuleType:
    """Import the module as its file has it, but for the snippet."""
    source = spliced(path.read_text(encoding="utf-8"), place, snippet)
    _remember(str(path), source)
    parent, _, name = place.module.rpartition(".")
    package = importlib.import_module(parent)
    module = ModuleType(place.module)
    module.__file__ = str(path)
    sys.modules[place.module] = module
    setattr(package, name, module)
    exec(compile(source, str(path), "exec"), vars(module))
    return module


def _run_lines(lines: str, names: dict[str, Any]) -> None:
    """Run the lines; of a final expression, show the value."""
    tree = ast.parse(lines, LINES)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    exec(compile(tree, LINES, "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), LINES, "eval"), names)
        if value is not None:
            print(repr(value))


def _missing(problem: BaseException) -> str:
    """The package that Python lacks, if that is the problem; neither its own nor the lesson's."""
    name = (problem.name or "") if isinstance(problem, ModuleNotFoundError) else ""
    package = name.partition(".")[0]
    return "" if package == PACKAGE or package in sys.stdlib_module_names else package


def _remember(name: str, text: str) -> None:
    """Let tracebacks show the lines of a text that is in no file."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def _told(problem: BaseException, root: Path, place: Place, snippet: str) -> str:
    """The traceback without what runs the snippet, and with the reader's own line numbers."""
    told = traceback.TracebackException.from_exception(problem)
    own = root / PACKAGE / place.file
    lines_now = range(place.first, place.first + max(1, len(snippet.splitlines())))

    def shown(name: str, number: int) -> tuple[str, int]:
        if Path(name) == own and number in lines_now:
            return SNIPPET, number - place.first + 1
        return name.removeprefix(f"{root}/"), number

    one: traceback.TracebackException | None = told
    while one is not None:
        frames = [frame for frame in one.stack if frame.lineno and not _is_ours(frame.filename)]
        one.stack = traceback.StackSummary.from_list(
            [(*shown(f.filename, f.lineno or 0), f.name, f.line) for f in frames]
        )
        if isinstance(problem, SyntaxError) and one is told and told.filename and told.lineno:
            told.filename, number = shown(told.filename, int(told.lineno))
            told.lineno = str(number)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return "".join(told.format())


def _is_ours(file: str) -> bool:
    """Whether a frame belongs to what runs the snippet."""
    here = _told.__code__.co_filename
    return file in (here, ast.__file__) or file.startswith(("<frozen importlib", "<frozen runpy"))
