"""Which sections of lesson code pages and notebook show, and whether tests run every line."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from lesson_site import notebooks
from lesson_site.markdown_source import PAGES, sources
from lesson_site.sections import (
    BESIDE,
    CODE_FOLDER,
    Section,
    SectionError,
    path_of,
    read_section,
    sections_of,
)

# In a fence's first line, in the body of lesson-compare, and in the options of a check.
SHOWN = re.compile(
    r"""\b(?:show|new_since|before|after|code)(?:\s*=\s*|\s*:\s+)["']?"""
    r"""(?P<target>[\w/-]+\.py(?::[\w-]+)?)"""
)


class CoverageError(ValueError):
    """A coverage report that cannot be read."""


@dataclass(frozen=True)
class Shown:
    """A section on a page.

    Attributes:
        target: ``"gpu_training/loop_gpu.py:loop"``, or a whole file without ``:name``.
        where: ``file:line`` of the first page that shows it.
    """

    target: str
    where: str


def shown_sections(pages: Path = PAGES) -> list[Shown]:
    """Every section that a page or the notebook shows, each once."""
    found: dict[str, str] = {}
    for page, source in sources(pages).items():
        for number, line in enumerate(source.text.splitlines(), start=1):
            for match in SHOWN.finditer(line):
                found.setdefault(match["target"], f"{page}:{number}")
        for fence in source.fences:
            if "run" in fence.options and "show" in fence.options:
                file, where = fence.options["show"].partition(":")[0], f"{page}:{fence.line}"
                found.setdefault(f"{file}:{fence.options['run']}", where)
    notebook = pages / notebooks.SOURCE.relative_to(PAGES)
    if notebook.exists():
        for target, number in notebooks.included_sections(notebook).items():
            if target.startswith((f"{CODE_FOLDER}/", BESIDE)):
                found.setdefault(target.removeprefix(f"{CODE_FOLDER}/"), f"{notebook}:{number}")
    return [Shown(target, where) for target, where in found.items()]


def orphans(pages: Path = PAGES, code: Path = CODE_FOLDER) -> list[str]:
    """Sections of lesson code that no page shows."""
    shown = {section.target for section in shown_sections(pages)}
    existing = [f"{file}:{name}" for file in _modules(code) for name in sections_of(file, code)]
    return [target for target in existing if target not in shown]


def _modules(code: Path) -> list[str]:
    """Every module that may have sections, as pages name it."""
    own = [path.relative_to(code).as_posix() for path in code.rglob("*.py")]
    beside = [
        path.relative_to(code.parent).as_posix() for path in path_of(BESIDE, code).rglob("*.py")
    ]
    return sorted([*own, *beside])


def recorded_targets(device: str, pages: Path = PAGES) -> list[str]:
    """What the ``lesson-output`` fences for ``device`` name, each once."""
    targets = [
        fence.options["of"]
        for page in sources(pages).values()
        for fence in page.fences
        if fence.kind == "lesson-output"
        and "of" in fence.options
        and fence.options.get("device", "cpu") == device
    ]
    return list(dict.fromkeys(targets))


def untested(report: Path, pages: Path = PAGES, code: Path = CODE_FOLDER) -> list[str]:
    """Each shown section that the tests did not run completely, as ``file:line: what, what to do``.

    Args:
        report: What ``coverage json`` wrote.
        pages: The folder of the pages.
        code: The folder of lesson code.

    Raises:
        CoverageError: If the report cannot be read.
    """
    missing = _missing_lines(report)
    problems = []
    for shown in shown_sections(pages):
        try:
            section = read_section(shown.target, code)
        except SectionError as problem:
            problems.append(f"{shown.where}: {problem}")
            continue
        lines = _untested_lines(section, missing.get(path_of(section.file, code).as_posix()))
        if lines:
            which = ", ".join(map(str, lines))
            problems.append(
                f"{path_of(section.file, code)}:{lines[0]}: {shown.where} shows {shown.target}, "
                f"but no test runs {'line' if len(lines) == 1 else 'lines'} {which}; add a test"
            )
    return problems


def _untested_lines(section: Section, missing: set[int] | None) -> list[int]:
    """The lines of a section that were not run; all of them if nothing imported the file."""
    if missing is None:
        return list(section.numbers[:1])
    return [number for number in section.numbers if number in missing]


def _missing_lines(report: Path) -> dict[str, set[int]]:
    """The lines that were not run, for each file that was measured."""
    try:
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
        return {
            Path(name).as_posix(): set(measured["missing_lines"])
            for name, measured in files.items()
        }
    except OSError:
        raise CoverageError(
            f"there is no report {report}; run `pytest --cov=lesson_code --cov-report=json`"
        ) from None
    except (ValueError, KeyError, TypeError) as problem:
        raise CoverageError(
            f"{report} is not a coverage report ({problem!r}); write it with `coverage json`"
        ) from None
