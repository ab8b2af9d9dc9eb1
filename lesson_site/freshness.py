"""Say on which pages newer versions of what the lesson needs change something.

The workflow ``freshness.yml`` tries each version by itself and keeps a folder for it:
``version.txt`` says what was tried, and ``report.xml`` is what pytest wrote. From all of them comes
the text of one issue, which is empty if nothing changed.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from lesson_site.markdown_source import PAGES, Source, sources
from lesson_site.sections import CODE_FOLDER, SectionError, read_section
from lesson_site.snippets import SHOWN

VERSION, REPORT = "version.txt", "report.xml"
ENDED = "The tests ended before they could report; the run of the workflow shows what it said."
SAID_AT_MOST = 200  # characters of what a test said
TEXT_AT_MOST = 60_000  # GitHub takes 65,536
PARAMETER = re.compile(r"\[(?P<all>(?P<first>[^\]]*?)(?:-[^\]]*)?)\]$")
LINE = re.compile(rf"\b{CODE_FOLDER}/(?P<file>[\w/]+\.py):(?P<line>\d+)")
MIRRORED = re.compile(r"^tests\.lesson_code\.(?P<rooms>(?:\w+\.)*)test_(?P<name>\w+)$")


class FreshnessError(ValueError):
    """A folder without anything that was tried; the message says what to do."""


@dataclass(frozen=True)
class Failure:
    """A test that failed.

    Attributes:
        module: Where it is, as in ``tests.recorded.test_recorded_outputs``.
        name: Its function, with its parameters in brackets.
        said: The first line of what it said.
        trace: All that it said.
    """

    module: str
    name: str
    said: str
    trace: str


def failures(report: Path) -> list[Failure] | None:
    """The tests that failed, by pytest's report; None where it wrote none, or half of one."""
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None
    return [
        Failure(
            case.get("classname", ""),
            case.get("name", ""),
            next(iter(problem.get("message", "").strip().splitlines()), "no message"),
            problem.text or "",
        )
        for case in cases
        for problem in case
        if problem.tag in ("failure", "error")
    ]


class Pages:
    """Where pages show what tests are about.

    Args:
        pages: The folder of the pages.
        code: The folder of lesson code.
    """

    def __init__(self, pages: Path = PAGES, code: Path = CODE_FOLDER) -> None:
        self._sources = sources(pages)
        self._pages, self._code = pages, code

    def of(self, failure: Failure) -> list[str]:
        """What a failed test leads to, as ``docs/page.md:line``; nothing if to no page.

        A recording, a page or a counted step by the test's parameter, else the section that was
        run, else the module that the test mirrors.
        """
        found = PARAMETER.search(failure.name)
        named = list(self._of_parameter(found["all"], found["first"])) if found else []
        ran = [
            place
            for match in LINE.finditer(failure.trace)
            for place in self._of_code(match["file"], int(match["line"]))
        ]
        mirrored = MIRRORED.match(failure.module)
        file = f"{mirrored['rooms'].replace('.', '/')}{mirrored['name']}.py" if mirrored else ""
        return list(dict.fromkeys(named or ran or list(self._of_code(file))))

    def _of_parameter(self, whole: str, first: str) -> Iterator[str]:
        graded = first.replace(".", "/").replace("_", "-")  # lab.exercise_1
        for path, source in self._sources.items():
            page = path.relative_to(self._pages).with_suffix("").as_posix()
            if page.removesuffix("/index") in (whole.strip("/"), graded):
                yield f"{path}:1"
            for fence in source.fences:
                if fence.kind == "lesson-output" and fence.options.get("of") == whole:
                    yield f"{path}:{fence.line}"
            yield from self._lines(path, source, rf"\[\[forecast\.{re.escape(whole)}\.")

    def _of_code(self, file: str, line: int | None = None) -> Iterator[str]:
        """Where the sections of a module are shown that have a line; all of them if none has."""
        shown = [
            (match["target"], f"{path}:{number}")
            for path, source in self._sources.items()
            for number, text in enumerate(source.text.splitlines(), start=1)
            for match in SHOWN.finditer(text)
            if match["target"].partition(":")[0] == file
        ]
        having = [place for target, place in shown if line in self._numbers(target)]
        yield from having or [place for _, place in shown]

    def _numbers(self, target: str) -> tuple[int, ...]:
        try:
            return read_section(target, self._code).numbers
        except SectionError:  # the build refuses such a page
            return ()

    def _lines(self, path: Path, source: Source, pattern: str) -> Iterator[str]:
        for number, text in enumerate(source.text.splitlines(), start=1):
            if re.search(pattern, text):
                yield f"{path}:{number}"


def issue(tries: Path, pages: Pages) -> str:
    """The text of the issue; empty if every version that was tried changes nothing.

    Args:
        tries: The folder that has one for each version.
        pages: Where the pages show what.

    Raises:
        FreshnessError: If the folder has none.
    """
    folders = sorted(path.parent for path in tries.glob(f"*/{VERSION}"))
    if not folders:
        raise FreshnessError(
            f"{tries} has no folder with a {VERSION}; download what the workflow kept into it"
        )
    parts = filter(None, (_part(folder, pages) for folder in folders))
    text = "\n".join(parts)
    if not text:
        return ""
    opening = "With newer versions than those that were tried together, tests fail.\n"
    return f"{opening}\n{text}"[:TEXT_AT_MOST]


def _part(folder: Path, pages: Pages) -> str:
    version = _code((folder / VERSION).read_text(encoding="utf-8"))
    found = failures(folder / REPORT)
    if found is None:
        return f"## {version}\n\n{ENDED}\n"
    if not found:
        return ""
    lines = [f"## {version}", ""]
    for failure in found:
        lines.append(f"- {_code(f'{failure.module}::{failure.name}')}: {_code(failure.said)}")
        lines += [f"  - {place}" for place in pages.of(failure) or ["no page shows it"]]
    return "\n".join([*lines, ""])


def _code(text: str) -> str:
    """A text that Markdown takes as it is, so that it can call nobody and link nowhere."""
    short = " ".join(text.replace("`", "'").split())
    return f"`{short[:SAID_AT_MOST]}`" if short else "`?`"


def main(arguments: list[str] | None = None) -> int:
    """Print the text of the issue, and nothing where nothing changed."""
    parser = argparse.ArgumentParser(prog="python -m lesson_site.freshness", description=__doc__)
    parser.add_argument("tries", type=Path, help="a folder with one for each version")
    parsed = parser.parse_args(arguments)
    try:
        text = issue(parsed.tries, Pages())
    except FreshnessError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
