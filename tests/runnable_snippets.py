"""The snippets that pages let readers run, and what each prints in this Python."""

from dataclasses import dataclass
from pathlib import Path

from lesson_site.markdown_source import sources
from lesson_site.runnable import Job
from lesson_site.runnable import printed as run_all
from lesson_site.sections import Section, read_section
from tests.building import REPOSITORY


@dataclass(frozen=True)
class Shown:
    """A lesson-code fence: its page in docs, the section it shows, and the one to run, if any."""

    page: Path
    target: str
    run: str | None

    @property
    def lines(self) -> str:
        """What runs after the section; nothing where there is nothing to run."""
        code = REPOSITORY / "lesson_code"
        file = self.target.partition(":")[0]
        return read_section(f"{file}:{self.run}", code).text if self.run else ""

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
    for page, source in sources(REPOSITORY / "docs").items():
        for fence in source.fences:
            if fence.kind == "lesson-code":
                found.append(Shown(page, fence.options["show"], fence.options.get("run")))
    return found


def runnable() -> list[Shown]:
    """Those that have a Run button."""
    return [each for each in shown_code() if each.run]


def printed(snippets: list[Shown]) -> list[tuple[bool, str]]:
    """Of each: whether it ran without an error, and what it printed."""
    jobs = [Job.of(each.section, each.lines) for each in snippets]
    return run_all(jobs, REPOSITORY)
