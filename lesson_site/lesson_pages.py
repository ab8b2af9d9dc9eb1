"""What the lesson's pages say of each other, filled in from the navigation.

- A section's title gets its number.
- ``[[section:device-mismatch]]`` becomes a link that reads "section 4", and
  ``[[section:device-mismatch#traceback]]`` one to that heading.
- ``[sections]`` on a line of its own lists all sections under their parts.
- ``[whole lesson]`` puts all of them on one page, their headings one level lower.
"""

import os.path
import re
from pathlib import PurePath
from typing import Any
from xml.etree import ElementTree

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

from lesson_site.errors import PageError
from lesson_site.markdown_source import in_fences
from lesson_site.numbering import SETTINGS, WHOLE, Section, section_of, sections
from lesson_site.page import current_page, line_of
from lesson_site.reading_time import minutes

REFERENCE = r"\[\[section:(?P<slug>[\w-]+)(?P<anchor>#[\w-]+)?\]\]"


class Numbers(Preprocessor):
    """Put a section's number before its title."""

    def run(self, lines: list[str]) -> list[str]:
        """Change the title's line, on a section."""
        section = section_of(current_page(self.md).source)
        return _numbered(section, "\n".join(lines)).split("\n") if section else lines


class WholeLesson(Preprocessor):
    """Put all sections in the place of ``[whole lesson]``."""

    def run(self, lines: list[str]) -> list[str]:
        """Replace the line by the pages."""
        result = []
        for line in lines:
            if line == WHOLE:
                for section in _all():
                    result += [*_as_chapter(section), ""]
            else:
                result.append(line)
        return result


class ListOfSections(Preprocessor):
    """List all sections, with their minutes, in the place of ``[sections]``."""

    def run(self, lines: list[str]) -> list[str]:
        """Replace the line by the list."""
        return [new for line in lines for new in (_listed() if line == "[sections]" else [line])]


class References(InlineProcessor):
    """Link to a section by its slug, and call it by its number."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 - Python-Markdown's name
        self,
        m: re.Match[str],
        data: str,  # noqa: ARG002 - the base class hands it over
    ) -> tuple[ElementTree.Element, int, int]:
        """A link with the Markdown file as its target, which MkDocs turns into an address."""
        page = current_page(self.md)
        section = next((each for each in sections() if each.slug == m["slug"]), None)
        if section is None:
            known = ", ".join(each.slug for each in sections())
            raise PageError(
                f"{line_of(page, m[0])}: the lesson has no section {m['slug']!r}; it has {known}"
            )
        file = PurePath(os.path.relpath(section.source, page.source.parent)).as_posix()
        link = ElementTree.Element("a", {"href": file + (m["anchor"] or "")})
        link.text = f"section {section.number}"
        return link, m.start(0), m.end(0)


def _all() -> tuple[Section, ...]:
    found = sections()
    if not found:
        raise PageError(f"{SETTINGS}: the navigation has no sections; add one, or take this out")
    return found


def _numbered(section: Section, text: str) -> str:
    return re.sub(r"^# ", f"# {section.number}. ", text, count=1, flags=re.MULTILINE)


def _as_chapter(section: Section) -> list[str]:
    """A section without its front matter, and with every heading one level lower."""
    lines = _numbered(section, section.markdown.body).splitlines()
    return [
        f"#{line}" if line.startswith("#") and not fenced else line
        for line, (fenced, _) in zip(lines, in_fences(lines), strict=True)
    ]


def _listed() -> list[str]:
    lines = ['<div class="lesson-pages" markdown>']
    part = ""
    for section in _all():
        if section.part != part:
            part = section.part
            lines += ["", f"## {part}", ""]
        time = f'<span class="reading-time">{minutes(section.markdown)} min</span>'
        lines.append(f"- [{section.title}]({section.slug}.md) {time}")
        if section.milestone:
            lines += ["", section.milestone, "{ .milestone }"]
    return [*lines, "", "</div>"]


class LessonPagesExtension(Extension):
    """Everything above, in the order in which it has to happen."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Lines for errors are counted at 35, where a page has its own lines and no more."""
        md.preprocessors.register(WholeLesson(md), "lesson-whole", 40)
        md.preprocessors.register(Numbers(md), "lesson-numbers", 34)
        md.preprocessors.register(ListOfSections(md), "lesson-sections", 33)
        # Before figures (175), whose names have the same brackets
        md.inlinePatterns.register(References(REFERENCE, md), "lesson-references", 176)


def makeExtension(**options: Any) -> LessonPagesExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.lesson_pages]`` find the extension."""
    return LessonPagesExtension(**options)
