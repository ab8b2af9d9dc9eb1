"""The Markdown extension: lines for errors, untested code kept out, math."""

import re
import xml.etree.ElementTree as etree
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert as to_mathml
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from lesson_site.errors import PageError
from lesson_site.page import current_page

OUR_FENCE = re.compile(r"^(?P<head>\s*`{3,}\s*lesson-(?P<kind>[a-z]+))(?P<options>.*)$")
CLOSING = re.compile(r"^\s*`{3,}\s*$")
PYTHON_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(\{[^}]*\.)?(python|py|python3|pycon)\b")


class LineNumbers(Preprocessor):
    """Tell each of our fences the line on which it is, and refuse Python typed by hand."""

    def run(self, lines: list[str]) -> list[str]:
        """Add ``line="…"`` to our fences' first lines, and ``after="code"`` to code's output."""
        page = current_page(self.md)
        offset = _lines_before(page.source, lines)
        result = []
        kind, inside = "", False  # of the last fence, if nothing but empty lines came after it
        for number, line in enumerate(lines, start=offset + 1):
            if PYTHON_FENCE.match(line):
                raise PageError(
                    f"{page.source}:{number}: Python typed into a page; put it into a section of "
                    "lesson_code and show it with a lesson-code fence"
                )
            fence = OUR_FENCE.match(line)
            if fence:
                after = ' after="code"' if (kind, fence["kind"]) == ("code", "output") else ""
                result.append(f'{fence["head"]}{fence["options"]}{after} line="{number}"')
                kind, inside = fence["kind"], True
                continue
            result.append(line)
            if inside:
                inside = not CLOSING.match(line)
            elif line.strip():
                kind = ""
        return result


def _lines_before(source: Path, lines: list[str]) -> int:
    """How many lines of ``source`` (its front matter) come before ``lines``."""
    try:
        return max(0, source.read_text(encoding="utf-8").rstrip().count("\n") - _last(lines))
    except OSError:
        return 0


def _last(lines: list[str]) -> int:
    return "\n".join(lines).rstrip().count("\n")


class Math(Treeprocessor):
    """Turn the TeX that arithmatex found into MathML, which needs no script and no font."""

    def run(self, root: etree.Element) -> None:
        """Replace the content of each ``.arithmatex`` element."""
        for element in root.iter():
            if "arithmatex" not in element.get("class", "").split():
                continue
            tex = (element.text or "").strip()
            block = tex.startswith("\\[")
            try:
                mathml = to_mathml(tex[2:-2], display="block" if block else "inline")
            except Exception as problem:
                page = current_page(self.md).source
                raise PageError(f"{page}: can't set the formula {tex!r}: {problem!r}") from problem
            element.text = self.md.htmlStash.store(mathml)


class HeadingLinks(Treeprocessor):
    """Keep the sign beside each heading to those who point at it.

    Otherwise every heading's name ends in "¶" where it is read aloud; the table of contents has the
    same links, by words.
    """

    def run(self, root: etree.Element) -> None:
        """Take each link of a heading from keyboard and screen reader."""
        for link in root.iter("a"):
            if link.get("class") == "headerlink":
                link.set("aria-hidden", "true")
                link.set("tabindex", "-1")


class LessonExtension(Extension):
    """Everything above, in the order in which it has to happen."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Register the processors."""
        # superfences reads its blocks at 25; the whole lesson is there before, at 40
        md.preprocessors.register(LineNumbers(md), "lesson-lines", 35)
        md.treeprocessors.register(Math(md), "lesson-math", 1)
        md.treeprocessors.register(HeadingLinks(md), "lesson-heading-links", 2)  # toc is at 5


def makeExtension(**options: Any) -> LessonExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.extension]`` find the extension."""
    return LessonExtension(**options)
