"""The snippets that pages let readers run, and what each prints in this Python."""

import re
from dataclasses import dataclass
from pathlib import Path

from lesson_site.runnable import Job, run_lines
from lesson_site.runnable import printed as run_all
from lesson_site.sections import Section, read_section
from tests.building import REPOSITORY

FENCE = re.compile(r"^\s*`{3,}\s*lesson-code\s+(?P<options>\S.*)$", re.MULTILINE)
OPTION = re.compile(r"""(?P<key>\w+)=(?P<quote>["'])(?P<value>.*?)(?P=quote)""")


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
    jobs = [Job.of(each.section, each.lines or "") for each in snippets]
    return run_all(jobs, REPOSITORY)
