"""The inline form ``[[name]]``: a figure by its name, with its unit, its kind and its source.

A cell of a table that nothing has filled yet holds a dash, and counts in the build's log. An
unknown name stops the build, and so does a sentence with a hole. Every page ends with a list of the
figures on it, to which each of them links. The style sheet marks what was measured, what others
published and what is forecast.
"""

import logging
import re
from typing import Any
from xml.etree import ElementTree

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from lesson_site.errors import PageError
from lesson_site.page import current_page, line_of
from lesson_site.reader_card import place_reader_card
from results.reader_card import NAME
from results.store import Figure, FigureError, Store, open_store

NAMED = r"\[\[([^\[\]\s]+)\]\]"
DASH = "–"
KINDS = {"measured": "measured", "published": "published by others", "forecast": "forecast"}
LOG = logging.getLogger("mkdocs.lesson_site.figures")  # a child of MkDocs' own, so that it shows


class Figures(InlineProcessor):
    """Put the value in the place of its name."""

    def __init__(self, md: Markdown, used: dict[str, Figure]) -> None:
        super().__init__(NAMED, md)
        self.used = used
        self.store: Store | None = None  # opened once a page: asking all files takes its time

    def handleMatch(  # type: ignore[override]  # noqa: N802 - Python-Markdown's name
        self,
        m: re.Match[str],
        data: str,  # noqa: ARG002 - the base class hands it over
    ) -> tuple[ElementTree.Element, int, int]:
        """A ``span`` with the text, and in it a link to the line that says where it comes from."""
        name = m[1]
        page = current_page(self.md)
        try:
            self.store = self.store or open_store()
            figure = self.store.figure(name)
        except FigureError as problem:
            raise PageError(f"{line_of(page, m[0])}: {problem}") from problem
        self.used[name] = figure
        return _shown(figure), m.start(0), m.end(0)


class Sources(Treeprocessor):
    """End the page with a list of its figures."""

    def __init__(self, md: Markdown, used: dict[str, Figure]) -> None:
        super().__init__(md)
        self.used = used

    def run(self, root: ElementTree.Element) -> None:
        """Append the list, and log what nobody has measured.

        Raises:
            PageError: If a figure without a value is part of a sentence.
        """
        place_reader_card(root, self.used, _told, open_store(), self.md)
        if not self.used:
            return
        self._refuse_holes(root)
        details = ElementTree.SubElement(root, "details", {"class": "figure-sources"})
        details.set("data-search-exclude", "")
        ElementTree.SubElement(details, "summary").text = "Where the numbers on this page come from"
        rows = ElementTree.SubElement(details, "ul")
        for name, figure in self.used.items():
            if name == NAME:
                continue
            row = ElementTree.SubElement(rows, "li", {"id": f"from-{name}"})
            value = ElementTree.SubElement(row, "strong")
            value.text = AtomicString(figure.text if figure.known else DASH)
            value.tail = AtomicString(_told(figure))
        missing = [name for name, figure in self.used.items() if not figure.known]
        if missing:
            page = current_page(self.md).source
            count = "1 figure" if len(missing) == 1 else f"{len(missing)} figures"
            LOG.info("%s: %s not measured yet: %s", page, count, ", ".join(missing))

    def _refuse_holes(self, root: ElementTree.Element) -> None:
        """A dash may fill a table's cell; a sentence would be left with a hole."""
        in_cells = {span for cell in root.iter("td") for span in cell.iter("span")}
        for span in root.iter("span"):
            if "not-measured" in span.get("class", "").split() and span not in in_cells:
                named = f"[[{span.get('data-figure')}]]"
                raise PageError(
                    f"{line_of(current_page(self.md), named)}: {named} has no value yet, so this "
                    "sentence has a hole; put it into a `/// measured` block and write an "
                    "`/// otherwise` beside it"
                )


def _shown(figure: Figure) -> ElementTree.Element:
    """The figure's text as a link to its source; a forecast with its band, a hole as a dash."""
    attributes = {"class": _classes(figure), "data-figure": figure.name, "data-kind": figure.kind}
    span = ElementTree.Element("span", attributes)
    if figure.name == NAME:
        span.text = AtomicString(figure.text)
        return span
    link = ElementTree.SubElement(
        span, "a", {"href": f"#from-{figure.name}", "title": _title(figure)}
    )
    link.text = AtomicString(figure.text if figure.known else DASH)
    if figure.band:
        link.tail = AtomicString(f" (forecast, {figure.band})")
    return span


def _classes(figure: Figure) -> str:
    extra = "" if figure.known else " not-measured"
    return f"figure{extra}{' noisy' if figure.noisy else ''}"


def _told(figure: Figure) -> str:
    """What follows a figure in the list of sources: its kind, and where it comes from."""
    kind = KINDS.get(figure.kind) if figure.known else None
    return f"{f', {kind}' if kind else ''}: {_title(figure)}."


def _title(figure: Figure) -> str:
    return f"{figure.what}: {figure.source}".replace("`", "")


class FiguresExtension(Extension):
    """Figures by name, and the list of their sources."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """After code spans (190) and escapes (180), before links (170); the list before toc (5)."""
        self.used: dict[str, Figure] = {}
        md.registerExtension(self)
        self.figures = Figures(md, self.used)
        md.inlinePatterns.register(self.figures, "lesson-figures", 175)
        md.treeprocessors.register(Sources(md, self.used), "lesson-figure-sources", 10)

    def reset(self) -> None:
        """Begin a new page."""
        self.used.clear()
        self.figures.store = None


def makeExtension(**options: Any) -> FiguresExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.figures]`` find the extension."""
    return FiguresExtension(**options)
