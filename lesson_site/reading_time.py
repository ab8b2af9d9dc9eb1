"""Which section of the lesson a page is and how long it takes to read, said under its title.

The estimate comes from the page's Markdown, so that a page and the list of pages always agree.
``[[minutes:foundations]]`` is the time for all pages of that folder,
``[[minutes:foundations/lab]]`` for that page, and ``[[minutes:notebook]]`` what the notebook says
of itself: its pages show its cells once more, and are no measure of it.
"""

import math
import re
import xml.etree.ElementTree as etree
from typing import Any

import yaml
from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.treeprocessors import Treeprocessor

from lesson_site import notebooks
from lesson_site.errors import PageError
from lesson_site.markdown_source import Source, read_yaml
from lesson_site.numbering import WHOLE, pages_below, section_of, sections
from lesson_site.page import current_page
from lesson_site.sections import SectionError, read_section
from results import recorded
from results.recorded import RecordingError

WORDS_PER_MINUTE = 200
SECONDS_PER_LINE_OF_CODE = 2
SECONDS_PER_FIGURE = 15

NOTEBOOK = "notebook"
MINUTES = r"\[\[minutes:(?P<folder>[\w/-]+)\]\]"
LINK_TARGET = re.compile(r"\]\([^)]*\)|\{[^}\n]*\}")
WORD = re.compile(r"\w[\w’'.-]*")


def minutes(page: Source) -> int:
    """How long a page takes to read: its words, and a little for each line of code and figure."""
    lines, figures, words = 0, 0, 0
    for fence in page.fences:
        shown, said, drawn = _weigh(fence.kind, fence.options, fence.body)
        lines, words, figures = lines + shown, words + said, figures + drawn
    words += _words(LINK_TARGET.sub("", page.prose))
    seconds = (
        words * 60 / WORDS_PER_MINUTE
        + lines * SECONDS_PER_LINE_OF_CODE
        + figures * SECONDS_PER_FIGURE
    )
    return max(1, math.ceil(seconds / 60))


def _weigh(kind: str, options: dict[str, str], body: str) -> tuple[int, int, int]:
    """Lines of code, words, and figures of one fence. What is wrong with it, the fence will say."""
    try:
        if kind == "lesson-code":
            return len(read_section(options["show"]).lines), 0, 0
        if kind == "lesson-compare":
            content = read_yaml(body)
            reasons = " ".join(reason["why"] for reason in content["reasons"])
            # The other column says almost the same, and is read at a glance
            return len(read_section(content["after"]).lines), _words(reasons), 0
        if kind == "lesson-output":
            recording = recorded.read(options["of"], _device(options))
            return len(recording.text.splitlines()) if recording else 0, 0, 0
    except (KeyError, TypeError, yaml.YAMLError, SectionError, RecordingError):
        return 0, 0, 0
    if kind in ("lesson-chart", "lesson-drawing"):
        return 0, _words(body), 1
    return len(body.splitlines()), 0, 0


def _device(options: dict[str, str]) -> recorded.Device:
    return "cuda" if options.get("device") == "cuda" else "cpu"


def _words(text: str) -> int:
    return len(WORD.findall(text))


class ReadingTime(Treeprocessor):
    """Say under the title which section a page is, how long it takes, and what one learns to do."""

    def run(self, root: etree.Element) -> None:
        """Add the line after the first h1, on a section and on the page that lists them."""
        source, all_sections = current_page(self.md).source, sections()
        section, of = section_of(source), len(all_sections)
        if section:
            if section.aim:
                aim = etree.Element("p", {"class": "page-aim"})
                aim.text = f"You learn to {section.aim}"
                _after_title(root, aim)
            said = f"Section {section.number} of {of} · {in_words(minutes(section.markdown))}"
            _after_title(root, _position(said, scale(section.number, of), self.md))
        elif all_sections and source == all_sections[0].source.with_name("index.md"):
            total = sum(map(minutes, pages_of(source.parent.name)))
            said = f"{of} sections · about {in_words(total)}"
            _after_title(root, _position(said, scale(0, of), self.md))


class Minutes(InlineProcessor):
    """How long all pages of a track take; the element also says how many they are, for a script."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 - Python-Markdown's name
        self,
        m: re.Match[str],
        data: str,  # noqa: ARG002 - the base class hands it over
    ) -> tuple[etree.Element, int, int]:
        """The words, in an element that names the track."""
        if m["folder"] == NOTEBOOK:
            element = etree.Element("span")
            element.text = in_words(notebooks.minutes())
            return element, m.start(0), m.end(0)
        pages = pages_of(m["folder"])
        if not pages:
            raise PageError(f"{m[0]}: the navigation has no page in {m['folder']!r}")
        counted = {"data-track": m["folder"], "data-pages": str(len(pages))}
        element = etree.Element("span", counted)
        element.text = in_words(sum(map(minutes, pages)))
        return element, m.start(0), m.end(0)


def pages_of(track: str) -> list[Source]:
    """The pages in a track's folder, but for the lesson on one page, which repeats them."""
    pages = [Source.read(page) for page in pages_below(track)]
    return [page for page in pages if WHOLE not in page.text.splitlines()]


def _position(text: str, svg: str, md: Markdown) -> etree.Element:
    paragraph = etree.Element("p", {"class": "page-position"})
    etree.SubElement(paragraph, "span").text = text
    # Stored as it is: Markdown would read the SVG's case-sensitive names as plain elements
    paragraph[0].tail = md.htmlStash.store(svg)
    return paragraph


def scale(number: int, of: int) -> str:
    """A ruler with one mark for each page: long where the reader is, bold for the pages before.

    Decoration beside a sentence that says the same, so it is hidden from assistive technology.
    """
    marks = []
    for mark in range(1, of + 1):
        kind = "here" if mark == number else "passed" if mark < number else "ahead"
        top = 0 if mark == number else 6
        marks.append(f'<path class="{kind}" d="M{mark * 8 - 6} {top}v{14 - top}"/>')
    return (
        f'<svg class="scale" viewBox="0 0 {of * 8 - 4} 14" width="{of * 8 - 4}" height="14" '
        f'aria-hidden="true" focusable="false">{"".join(marks)}</svg>'
    )


def _after_title(root: etree.Element, line: etree.Element) -> None:
    for index, element in enumerate(root):
        if element.tag == "h1":
            root.insert(index + 1, line)
            return


def in_words(count: int) -> str:
    """A number of minutes, as a reader says it."""
    return "1 minute" if count == 1 else f"{count} minutes"


class ReadingTimeExtension(Extension):
    """Registers the above."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Run before MkDocs turns links to pages into addresses, which it does last."""
        md.treeprocessors.register(ReadingTime(md), "lesson-reading-time", 2)
        # Before figures (175), whose names are in the same brackets
        md.inlinePatterns.register(Minutes(MINUTES, md), "lesson-minutes", 177)


def makeExtension(**options: Any) -> ReadingTimeExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.reading_time]`` find the extension."""
    return ReadingTimeExtension(**options)
