"""Which snippets a reader can run in the page, what the page needs for that, and what they print.

A snippet runs in Pyodide, Python in WebAssembly, if everything that its module imports, directly or
not, is standard library or lesson code. The page fetches these modules one by one from ``code/``,
where the site serves them anyway: no archive has to be built, ``mkdocs serve`` works as the built
site does, and each runs as it lies in the repository, since the page carries the checksum of every
one.

What a snippet prints is on the page too, behind a summary: on paper, without JavaScript, and
for anyone who does not want to load Python. The build runs it for that, exactly as the page would.
"""

import ast
import base64
import hashlib
import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from html import escape
from pathlib import Path

from lesson_site import vendor
from lesson_site.errors import PageError
from lesson_site.remembered import remembered
from lesson_site.sections import CODE_FOLDER, Section, SectionError, read_section

RUN = Path(__file__).parents[1] / "docs" / "assets" / "elements" / "run" / "section.py"
# Runs each job in one process, as the page runs each in one worker.
PROGRAM = """\
import json, runpy, sys
harness = runpy.run_path(sys.argv[1])
results = []
for job in json.load(sys.stdin):
    said = []
    place = harness["Place"](job["file"], job["first"], job["last"])
    end = harness["run"](sys.argv[2], place, job["snippet"], job["lines"], said.append)
    results.append([end, "".join(said)])
sys.__stdout__.write(json.dumps(results))
"""
LOG = logging.getLogger("mkdocs.lesson_site.runnable")  # a child of MkDocs' own, so that it shows


@dataclass(frozen=True)
class Job:
    """A shown section to run, and what runs after it; as the page's worker is told.

    Attributes:
        file: The section's module, relative to the folder of lesson code.
        first: Its first line in the module, counted from one.
        last: Its last line.
        snippet: Its text.
        lines: What runs after it.
    """

    file: str
    first: int
    last: int
    snippet: str
    lines: str

    @classmethod
    def of(cls, section: Section, lines: str) -> "Job":
        """What a section and its ``lines`` come to."""
        return cls(section.file, section.numbers[0], section.numbers[-1], section.text, lines)


def printed(jobs: Sequence[Job], root: Path) -> list[tuple[bool, str]]:
    """Of each: whether it ran without an error, and what it printed in this Python.

    Args:
        jobs: What to run.
        root: The folder that the folder of lesson code lies in.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(RUN), str(root.resolve())],
        input=json.dumps([asdict(job) for job in jobs]),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return [(end == "finished", text) for end, text in json.loads(done.stdout)]


def prints_html(section: Section, run: str) -> str:
    """The lines that a fence's ``run`` names and what they print, behind a summary.

    Args:
        section: What is shown.
        run: The section of the same file that runs after it.

    Raises:
        PageError: If there is none, it stops with an error, or prints nothing.
    """
    text = run_lines(section, run)
    job, files = Job.of(section, text), _checksums(section.file)
    said = _printed_of(job, files, CODE_FOLDER.resolve().parent)
    return (
        '<details class="run-prints"><summary>What it prints</summary>'
        f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
        f'<pre class="run-output" tabindex="0">{escape(said)}</pre></details>'
    )


def _printed_of(job: Job, files: dict[str, str], root: Path) -> str:
    question = ["printed", asdict(job), files, sys.version]  # a build runs what has changed
    fine, text = remembered(question, lambda: printed([job], root)[0])
    if not fine:
        raise PageError(f"run stops with an error: {text.strip().splitlines()[-1]}")
    if not text.strip():
        raise PageError(
            "run prints nothing; end it with what it shows, its marks inside the function"
        )
    return text.rstrip()


def files_of(file: str, folder: Path = CODE_FOLDER) -> list[str]:
    """The modules that one module imports, itself and packages included, relative to ``folder``.

    Args:
        file: The module, relative to ``folder``.
        folder: That of lesson code, whose name is the package's.

    Raises:
        PageError: If one of them imports what is neither standard library nor lesson code.
    """
    found: set[str] = set()
    waiting = [file]
    while waiting:
        current = waiting.pop()
        if current in found or not (folder / current).is_file():
            continue
        found.add(current)
        waiting += [str(up / "__init__.py") for up in Path(current).parents]
        for name in _imports(folder / current):
            top, *rest = name.split(".")
            if top == folder.name:
                waiting += _file_of(rest, folder)
            elif top not in sys.stdlib_module_names:
                raise PageError(
                    f"{file} can't run in the page, since {current} imports {top}; leave out run"
                )
    return sorted(found)


def is_plain(file: str, folder: Path = CODE_FOLDER) -> bool:
    """Whether a module runs in the page."""
    try:
        files_of(file, folder)
    except PageError:
        return False
    return True


def attributes(section: Section, run: str) -> str:
    """What makes a figure of shown code runnable, as HTML attributes; nothing without Pyodide.

    Args:
        section: What is shown.
        run: The section of the same file that runs after it.

    Raises:
        PageError: If the module can't run in the page, or has no such section.
    """
    text = run_lines(section, run)
    files = _checksums(section.file)
    size_kb = vendor.compressed_kb(vendor.PYODIDE)
    if size_kb is None:
        _say_once("snippets have no Run button; `python -m lesson_site.vendor` fetches Python")
        return ""
    values = {
        "run": text,
        "run-of": f"{section.file}:{section.name}",
        "run-lines": f"{section.numbers[0]}-{section.numbers[-1]}",
        "run-files": json.dumps(files, separators=(",", ":")),
        "run-kb": str(size_kb),
    }
    return "".join(f' data-{name}="{escape(value)}"' for name, value in values.items())


def run_lines(section: Section, name: str) -> str:
    """The lines that readers run after a section: another section of the same file.

    Raises:
        PageError: If there is none of that name.
    """
    try:
        return read_section(f"{section.file}:{name}").text
    except SectionError as problem:
        raise PageError(f"run names a section of the same file: {problem}") from None


def _imports(path: Path) -> list[str]:
    """The full names of what a module imports, wherever in it."""
    return _imports_of(path.read_text(encoding="utf-8"))


@cache
def _imports_of(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{name.name}" for name in node.names]
    return found


def _file_of(parts: list[str], folder: Path) -> list[str]:
    """The file of a module, or of the one that has the name; its own package comes with it."""
    for count in range(len(parts), 0, -1):
        path = Path(*parts[:count])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if (folder / file).is_file():
                return [file.as_posix()]
    return []


def _checksums(file: str) -> dict[str, str]:
    """Of each module that one imports, itself included."""
    return {each: _integrity(CODE_FOLDER / each) for each in files_of(file)}


def _integrity(path: Path) -> str:
    """The checksum as ``fetch`` takes it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()}"


@lru_cache
def _say_once(sentence: str) -> None:
    LOG.info(sentence)
