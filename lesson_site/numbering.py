"""The lesson's sections, in the order of the navigation, which is what numbers them.

A section is a page of the lesson's folder that is in a part of the navigation in
``mkdocs.yml``; the page itself has a name and a title, and no number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lesson_site.errors import PageError
from lesson_site.markdown_source import Source

SETTINGS = Path("mkdocs.yml")
FOLDER = "gpu-training"
WHOLE = "[whole lesson]"  # on a line of its own, where all sections go


@dataclass(frozen=True)
class Section:
    """One numbered page of the lesson.

    Attributes:
        number: Its place in the navigation, from 1.
        slug: The name of its file without ``.md``, by which other pages refer to it.
        part: The heading under which the navigation has it.
    """

    number: int
    slug: str
    part: str

    @property
    def source(self) -> Path:
        """Its Markdown file, relative to the repository's root."""
        return Path("docs") / FOLDER / f"{self.slug}.md"

    @property
    def markdown(self) -> Source:
        """What is in that file.

        Raises:
            PageError: If it is not there.
        """
        try:
            return Source.read(self.source)
        except FileNotFoundError:
            raise PageError(
                f"{SETTINGS}: the navigation has {FOLDER}/{self.slug}.md, and {self.source} is not "
                "there; write the page, or correct its name"
            ) from None

    @property
    def title(self) -> str:
        """Its title with its number: ``4. The device mismatch``."""
        return f"{self.number}. {self.markdown.title or self.slug}"

    @property
    def milestone(self) -> str:
        """What the list of sections says below it: the page's front matter has it, or nobody."""
        return str(self.markdown.front_matter.get("milestone", ""))

    @property
    def aim(self) -> str:
        """What its reader learns to do, as words that follow "to"; empty if nobody wrote them."""
        return str(self.markdown.front_matter.get("aim", ""))


class _Loader(yaml.SafeLoader):
    """Reads ``mkdocs.yml``, whose tags mean something to MkDocs alone."""


_Loader.add_multi_constructor("", lambda *_: None)


def sections() -> tuple[Section, ...]:
    """All sections of the lesson; none where the navigation has no lesson."""
    try:
        return _sections(SETTINGS.resolve(), SETTINGS.stat().st_mtime_ns)
    except OSError:
        return ()


def section_of(source: Path) -> Section | None:
    """The section whose Markdown file is ``source``; None for any other page."""
    return next((section for section in sections() if section.source == source), None)


def pages_below(folder: str) -> list[Path]:
    """The navigation's Markdown files in a folder of ``docs``, in order; or one, by its name."""
    listed = _every(settings().get("nav", []))
    return [
        Path("docs") / page for page in listed if page.startswith((f"{folder}/", f"{folder}.md"))
    ]


def tracks() -> dict[str, str]:
    """The name of each page's part of the site, by the page's file in ``docs``."""
    named = _named(settings().get("nav", []))
    return {
        page: name for name, pages in named if isinstance(pages, list) for page in _every(pages)
    }


def settings() -> dict[str, Any]:
    """What ``mkdocs.yml`` says, with None where it has a tag of MkDocs's own."""
    return _settings(SETTINGS.resolve(), SETTINGS.stat().st_mtime_ns)


def _every(entry: Any) -> Iterator[str]:
    """All pages of a part of the navigation, however deep."""
    if isinstance(entry, str):
        yield entry
    below = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
    for each in below:
        yield from _every(each)


@cache
def _settings(file: Path, _changed: int) -> dict[str, Any]:
    return yaml.load(file.read_text(encoding="utf-8"), _Loader) or {}


@cache
def _sections(file: Path, changed: int) -> tuple[Section, ...]:
    listed = [
        (part, Path(page).stem)
        for _, track in _named(_settings(file, changed).get("nav", []))
        for part, pages in _named(track)
        for page in _pages(pages)
        if Path(page).parent.name == FOLDER
    ]
    return tuple(Section(n, slug, part) for n, (part, slug) in enumerate(listed, start=1))


def _named(entries: Any) -> list[tuple[str, Any]]:
    """The entries that have a heading, and what is under it."""
    lists = entries if isinstance(entries, list) else []
    return [pair for entry in lists if isinstance(entry, dict) for pair in entry.items()]


def _pages(entries: Any) -> list[str]:
    """The pages of a part, with or without a title of their own."""
    lists = entries if isinstance(entries, list) else []
    return [page for e in lists for page in (e.values() if isinstance(e, dict) else [e])]
