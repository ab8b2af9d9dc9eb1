"""Where a page stands in its lesson and how long it takes to read, said under its title.

Also the same for the list of all pages: inside ``<div class="lesson-pages" markdown>`` every link
to a numbered page gets its minutes. The estimate comes from the page's Markdown, so that a page and
the list always agree.
"""

import math
import re
import xml.etree.ElementTree as etree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

from lesson_site import recordings
from lesson_site.errors import PageError
from lesson_site.page import current_page
from lesson_site.recordings import RecordingError
from lesson_site.sections import SectionError, read_section

WORDS_PER_MINUTE = 200
SECONDS_PER_LINE_OF_CODE = 2
SECONDS_PER_FIGURE = 15

NUMBERED = re.compile(r"\d\d-[\w-]+\.md")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<kind>[\w-]*)(?P<options>.*)\n"
    r"(?P<body>(?:.*\n)*?)(?P=indent)(?P=ticks) *$",
    re.MULTILINE,
)
LINK_TARGET = re.compile(r"\]\([^)]*\)|\{[^}\n]*\}")
WORD = re.compile(r"\w[\w’'.-]*")


def minutes(markdown: str) -> int:
    """How long a page takes to read: its words, and a little for each line of code and figure."""
    lines, figures, words = 0, 0, 0
    text = FRONT_MATTER.sub("", markdown)
    for fence in FENCE.finditer(text):
        shown, said, drawn = _weigh(fence["kind"], _options(fence["options"]), fence["body"])
        lines, words, figures = lines + shown, words + said, figures + drawn
    words += _words(LINK_TARGET.sub("", FENCE.sub("", text)))
    seconds = (
        words * 60 / WORDS_PER_MINUTE
        + lines * SECONDS_PER_LINE_OF_CODE
        + figures * SECONDS_PER_FIGURE
    )
    return max(1, math.ceil(seconds / 60))


def _options(text: str) -> dict[str, str]:
    return dict(re.findall(r'(\w+)="([^"]*)"', text))


def _weigh(kind: str, options: dict[str, str], body: str) -> tuple[int, int, int]:
    """Lines of code, words, and figures of one fence. What is wrong with it, the fence will say."""
    try:
        if kind == "lesson-code":
            return len(read_section(options["show"]).lines), 0, 0
        if kind == "lesson-compare":
            content = yaml.safe_load(body)
            reasons = " ".join(reason["why"] for reason in content["reasons"])
            # The other column says almost the same, and is read at a glance
            return len(read_section(content["after"]).lines), _words(reasons), 0
        if kind == "lesson-output":
            recording = recordings.read(options["of"], _device(options))
            return len(recording.text.splitlines()) if recording else 0, 0, 0
    except (KeyError, TypeError, yaml.YAMLError, SectionError, RecordingError):
        return 0, 0, 0
    if kind in ("lesson-chart", "lesson-drawing"):
        return 0, _words(body), 1
    return len(body.splitlines()), 0, 0


def _device(options: dict[str, str]) -> recordings.Device:
    return "cuda" if options.get("device") == "cuda" else "cpu"


def _words(text: str) -> int:
    return len(WORD.findall(text))


@dataclass(frozen=True)
class Lesson:
    """The numbered pages of one folder, in their order."""

    pages: list[Path]

    @classmethod
    def around(cls, page: Path) -> "Lesson":
        """The lesson in whose folder ``page`` lies."""
        return cls(sorted(p for p in page.parent.glob("*.md") if NUMBERED.fullmatch(p.name)))

    def minutes(self, page: Path) -> int:
        """How long one of them takes to read."""
        return minutes(page.read_text(encoding="utf-8"))

    @property
    def total_minutes(self) -> int:
        """How long all of them take."""
        return sum(self.minutes(page) for page in self.pages)


class ReadingTime(Treeprocessor):
    """Say under the title where a page stands and how long it takes; in a list of pages, too."""

    def run(self, root: etree.Element) -> None:
        """Add the line after the first h1, and the minutes to the links of a list of pages."""
        page = current_page(self.md).source
        lesson = Lesson.around(page)
        if page in lesson.pages:
            number, of = lesson.pages.index(page) + 1, len(lesson.pages)
            said = f"Section {number} of {of} · {_in_words(lesson.minutes(page))}"
            _after_title(root, _position(said, scale(number, of), self.md))
        elif page.name == "index.md" and lesson.pages:
            said = f"{len(lesson.pages)} sections · about {_in_words(lesson.total_minutes)}"
            _after_title(root, _position(said, scale(0, len(lesson.pages)), self.md))
        for block in root.iter("div"):
            if "lesson-pages" in block.get("class", "").split():
                _say_minutes(block, page, lesson)


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


def _say_minutes(block: etree.Element, page: Path, lesson: Lesson) -> None:
    """Put the minutes behind each link to a numbered page."""
    parents = {child: parent for parent in block.iter() for child in parent}
    for link in list(block.iter("a")):
        target = page.parent / link.get("href", "").partition("#")[0]
        if not NUMBERED.fullmatch(target.name):
            continue
        if target not in lesson.pages:
            raise PageError(f"{page}: the list of pages names {target}, which does not exist")
        time = etree.Element("span", {"class": "reading-time"})
        time.text, time.tail, link.tail = f"{lesson.minutes(target)} min", link.tail, " "
        parent = parents[link]
        parent.insert(list(parent).index(link) + 1, time)


def _in_words(count: int) -> str:
    return "1 minute" if count == 1 else f"{count} minutes"


class ReadingTimeExtension(Extension):
    """Registers the above."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Run before MkDocs turns links to pages into addresses, which it does last."""
        md.treeprocessors.register(ReadingTime(md), "lesson-reading-time", 2)


def makeExtension(**options: Any) -> ReadingTimeExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.reading_time]`` find the extension."""
    return ReadingTimeExtension(**options)
