"""The snippets that pages let readers run, and what each prints in this Python."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lesson_site.runnable import run_lines
from lesson_site.sections import Section, read_section
from tests.building import REPOSITORY

FENCE = re.compile(r"^\s*`{3,}\s*lesson-code\s+(?P<options>\S.*)$", re.MULTILINE)
OPTION = re.compile(r"""(?P<key>\w+)=(?P<quote>["'])(?P<value>.*?)(?P=quote)""")
HARNESS = REPOSITORY / "docs" / "assets" / "elements" / "run" / "section.py"
# Runs each job in one process, as the page runs each in one worker.
PROGRAM = """\
import json, runpy, sys
harness = runpy.run_path(sys.argv[1])
results = []
for job in json.load(sys.stdin):
    said = []
    place = harness["Place"](job["file"], job["first"], job["last"])
    fine = harness["run"](sys.argv[2], place, job["snippet"], job["lines"], said.append)
    results.append([fine, "".join(said)])
sys.__stdout__.write(json.dumps(results))
"""


@dataclass(frozen=True)
class Shown:
    """A lesson-code fence: its page in docs, the section it shows, and its lines to run, if any."""

    page: Path
    target: str
    lines: str | None

    @property
    def address(self) -> str:
        """The page's address in the site."""
        return f"{self.page.relative_to(REPOSITORY / 'docs').with_suffix('').as_posix()}/"

    @property
    def section(self) -> Section:
        """What is shown."""
        return read_section(self.target, REPOSITORY / "lesson_code")


def shown_code() -> list[Shown]:
    """Every lesson-code fence of every page."""
    found = []
    for page in sorted((REPOSITORY / "docs").rglob("*.md")):
        for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
            options = {each["key"]: each["value"] for each in OPTION.finditer(fence["options"])}
            lines = run_lines(options["run"]) if "run" in options else None
            found.append(Shown(page, options["show"], lines))
    return found


def runnable() -> list[Shown]:
    """Those that have a Run button."""
    return [each for each in shown_code() if each.lines is not None]


def printed(snippets: list[Shown]) -> list[tuple[bool, str]]:
    """Of each: whether it ran without an error, and what it printed."""
    jobs = [
        {
            "file": each.section.file,
            "first": each.section.numbers[0],
            "last": each.section.numbers[-1],
            "snippet": each.section.text,
            "lines": each.lines,
        }
        for each in snippets
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(HARNESS), str(REPOSITORY)],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=True,
    )
    return [(fine, text) for fine, text in json.loads(done.stdout)]
