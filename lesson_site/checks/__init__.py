"""The check: an open question, an answer that can be opened, and a prediction before it.

An author writes, with more slashes around the check than around its answer::

    //// check | Predict the error
        id: mismatch-error
        kind: choice
        choices:
          - a `RuntimeError`
          - nothing: The images meet the weights in the first layer, and they are on two devices.
        right: 1
    Question in Markdown.

    /// answer
    Answer in Markdown.
    ///
    ////

    /// after | mismatch-error
    What answers the question too, such as an output: closed until a prediction is made.
    ///

CONTRIBUTING lists the options of the kinds. The HTML is complete without JavaScript; the
custom element ``lesson-check`` adds the prediction, and reads all that it needs from attributes.
"""

import re
import xml.etree.ElementTree as etree
from html import escape
from typing import Any

import yaml
from markdown import Markdown
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from pymdownx.blocks import BlocksExtension, BlocksProcessor
from pymdownx.blocks.block import Block, type_integer

from lesson_site.checks.options import Check, read_check
from lesson_site.errors import PageError
from lesson_site.highlighting import highlighted_lines
from lesson_site.markdown_source import in_fences, read_yaml
from lesson_site.numbering import WHOLE
from lesson_site.page import Page, current_page, line_of
from lesson_site.sections import Section, SectionError

START = re.compile(
    r"^(?P<indent>\s*)(?P<slashes>/{3,})\s*(?P<name>check|answer|after)\b(?P<rest>.*)$",
    re.IGNORECASE,
)
OPTION_LINE = re.compile(r"^ {4,}\S")
REPLIES = {"number": "If you had another number", "match": "Each and why", "place": "Why there?"}


class ReadChecks(Preprocessor):
    """Find the checks of a page, refuse bad ones, and leave only a number for the block to read.

    The blocks of pymdownx turn into plain text where their options are wrong, and no build fails;
    therefore everything that can be wrong is looked for here.

    Attributes:
        checks: The page's checks in order; each block takes out its own.
        answered: Whether the page shows every answer, as the whole lesson does.
    """

    def __init__(self, md: Markdown) -> None:
        """Start without any check."""
        super().__init__(md)
        self.checks: dict[int, Check] = {}
        self.answered = False

    def run(self, lines: list[str]) -> list[str]:
        """Replace each check's options by its number."""
        self.checks.clear()
        self.answered = WHOLE in _source(current_page(self.md))
        result: list[str] = []
        options_end = check_end = 0
        for index, (line, (fenced, _)) in enumerate(zip(lines, in_fences(lines), strict=True)):
            start = None if fenced else START.match(line)
            if index < options_end:
                continue
            result.append(line)
            if start is None:
                continue
            try:
                if _answers(start):
                    if index >= check_end:
                        raise PageError("is outside a check")
                    continue
                if start["name"].lower() == "after":
                    self._find(start["rest"])
                    _end(lines, index + 1, start["slashes"])
                    continue
                options_end, check_end = self._read(lines, index, start)
            except (PageError, SectionError) as problem:
                where = line_of(current_page(self.md), line.strip())
                raise PageError(f"{where}: {start['name']}: {problem}") from None
            result.append(f"{start['indent']}    number: {len(self.checks)}")
        return result

    def _find(self, rest: str) -> None:
        """Refuse what is to wait for a check that is not above it."""
        name = rest.strip().removeprefix("|").strip()
        known = [check.id for check in self.checks.values()]
        if name not in known:
            raise PageError(
                f"no check above it has the id {name!r}; it waits for one of "
                f"{', '.join(known) or 'none: there is no check above it'}"
            )

    def _read(self, lines: list[str], first: int, start: re.Match[str]) -> tuple[int, int]:
        """Read one check; return the first line after its options, and the line that ends it."""
        indent = len(start["indent"])
        last = first + 1
        while last < len(lines) and OPTION_LINE.match(lines[last][indent:]):
            last += 1
        try:
            text = "\n".join(line[indent:] for line in lines[first + 1 : last])
            options = read_yaml(text)
        except yaml.YAMLError as problem:
            raise PageError(f"its options are no YAML: {' '.join(str(problem).split())}") from None
        check = read_check(start["rest"].strip().removeprefix("|").strip(), options)
        if check.id in {other.id for other in self.checks.values()}:
            raise PageError(f"the id {check.id!r} is taken by another check; give each its own")
        end = _end(lines, last, start["slashes"])
        _require_answer(lines[last:end], start["slashes"])
        self.checks[len(self.checks) + 1] = check
        return last, end


def _source(page: Page) -> str:
    try:
        return page.source.read_text(encoding="utf-8")
    except OSError:
        return ""


def _end(lines: list[str], first: int, slashes: str) -> int:
    """The line, from ``first`` on, that consists of ``slashes``."""
    for index in range(first, len(lines)):
        if lines[index].strip() == slashes:
            return index
        start = START.match(lines[index])
        if start and start["name"].lower() == "check":
            break
    raise PageError(f"has no end: close it with a line {slashes}")


def _require_answer(lines: list[str], slashes: str) -> None:
    """Refuse a check without exactly one closed answer that says something."""
    starts = [(i, m) for i, line in enumerate(lines) if (m := START.match(line)) and _answers(m)]
    if len(starts) != 1:
        raise PageError(f"has {len(starts)} answers; give it one: /// answer, its text, ///")
    index, start = starts[0]
    if len(start["slashes"]) >= len(slashes) or start["rest"].strip():
        raise PageError(
            "its answer must start with fewer slashes than the check, and nothing behind the word: "
            "/// answer"
        )
    end = _end(lines, index + 1, start["slashes"])
    if not any(line.strip() for line in lines[index + 1 : end]):
        raise PageError("its answer is empty")


def _answers(start: re.Match[str]) -> bool:
    return start["name"].lower() == "answer"


class CheckBlock(Block):
    """The open question; its answer moves to its end."""

    NAME = "check"
    ARGUMENT = None
    OPTIONS = {"number": (0, type_integer)}  # noqa: RUF012 - Block's own interface

    def on_create(self, parent: etree.Element) -> etree.Element:
        """The element, with its title and a place for the question."""
        reader: ReadChecks = self.config["reader"]
        check = reader.checks.pop(self.options["number"])
        self.answered = reader.answered
        self.check = check
        element = etree.SubElement(
            parent,
            "lesson-check",
            {
                "class": "check admonition question",
                "id": check.id,
                "kind": check.kind,
                **check.attributes,
                **({"answered": ""} if reader.answered else {}),
                "role": "group",
                "aria-labelledby": f"{check.id}-title",
            },
        )
        title = etree.SubElement(
            element, "p", {"class": "admonition-title", "id": f"{check.id}-title"}
        )
        title.text = check.title
        self.question = etree.SubElement(element, "div", {"class": "check-question"})
        return element

    def on_add(self, block: etree.Element) -> etree.Element:  # noqa: ARG002 - Block's interface
        """Everything inside belongs to the question at first."""
        return self.question

    def on_end(self, block: etree.Element) -> None:
        """Put what to choose from below the question, and the answer last."""
        answers = self.question.findall("details[@class='check-answer']")
        if len(answers) != 1:
            where = line_of(current_page(self.md), f"id: {self.check.id}")
            raise PageError(f"{where}: check: its answer must not be in a list or a box")
        if self.check.rows:
            block.append(_rows(self.check))
        elif self.check.choices:
            choices = etree.SubElement(block, "ol", {"class": "check-choices"})
            for choice in self.check.choices:
                etree.SubElement(choices, "li").text = choice
        if self.check.missing:
            self._add_lines(block, "check-missing", "\n".join(map(str.strip, self.check.missing)))
        if self.check.section:
            self._add_code(block, self.check.section)
        self.question.remove(answers[0])
        if self.check.must:
            answers[0].append(_ticks(self.check.must))
        if self.check.replies:
            answers[0].append(_others(self.check))
        if self.answered:
            answers[0].set("open", "")
        block.append(answers[0])

    def _add_code(self, block: etree.Element, section: Section) -> None:
        box = self._add_lines(block, "check-code", section.text)
        caption = etree.SubElement(box, "p", {"class": "check-file"})
        href = current_page(self.md).code(section.file)
        caption.text = AtomicString(
            self.md.htmlStash.store(
                f'<a href="{escape(href)}">{escape(section.path.as_posix())}</a>'
            )
        )

    def _add_lines(self, block: etree.Element, name: str, text: str) -> etree.Element:
        box = etree.SubElement(block, "div", {"class": f"highlight {name}"})
        lines = etree.SubElement(box, "ol", {"class": "check-lines"})
        for html in highlighted_lines(text):
            item = etree.SubElement(lines, "li", {} if html.strip() else {"class": "check-blank"})
            code = etree.SubElement(item, "code")
            code.text = AtomicString(self.md.htmlStash.store(html)) if html.strip() else ""
        return box


def _rows(check: Check) -> etree.Element:
    """A list of the rows, and of what each may be; the element makes buttons of the latter."""
    box = etree.Element("div", {"class": "check-match"})
    rows = etree.SubElement(box, "ol", {"class": "check-rows"})
    for row in check.rows:
        etree.SubElement(rows, "li").text = row
    etree.SubElement(box, "p").text = "Each is one of these:"
    options = etree.SubElement(box, "ul", {"class": "check-options"})
    for choice in check.choices:
        etree.SubElement(options, "li").text = choice
    return box


def _ticks(must: tuple[str, ...]) -> etree.Element:
    """What a good sentence says; the element turns each into a box to tick."""
    box = etree.Element("div", {"class": "check-ticks"})
    etree.SubElement(box, "p").text = "A good sentence says:"
    ticks = etree.SubElement(box, "ul")
    for each in must:
        etree.SubElement(ticks, "li").text = each
    return box


def _others(check: Check) -> etree.Element:
    """All replies, closed; the element shows the one to what was chosen."""
    details = etree.Element("details", {"class": "check-others"})
    etree.SubElement(details, "summary").text = REPLIES.get(check.kind, "Why not the others?")
    pairs = etree.SubElement(details, "dl")
    for reply in check.replies:
        pair = etree.SubElement(pairs, "div", {"data-to": reply.to})
        etree.SubElement(pair, "dt").text = reply.said
        etree.SubElement(pair, "dd").text = reply.text
    return details


class AnswerBlock(Block):
    """The answer, closed until it is asked for."""

    NAME = "answer"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """A details element with a place for the text."""
        element = etree.SubElement(parent, "details", {"class": "check-answer"})
        etree.SubElement(element, "summary").text = "Answer"
        self.text = etree.SubElement(element, "div", {"class": "check-answer-text"})
        return element

    def on_add(self, block: etree.Element) -> etree.Element:  # noqa: ARG002 - Block's interface
        """Everything inside goes below the summary."""
        return self.text


class AfterBlock(Block):
    """What answers a check as well, closed until a prediction is made or somebody opens it."""

    NAME = "after"
    ARGUMENT = True

    def on_create(self, parent: etree.Element) -> etree.Element:
        """A details element that knows its check."""
        element = etree.SubElement(
            parent, "details", {"class": "check-after", "data-check": self.argument.strip()}
        )
        if self.config["reader"].answered:
            element.set("open", "")
        etree.SubElement(element, "summary").text = "What came out. Predict first, or open it."
        return element


class AllRead(Treeprocessor):
    """Notice a check that is where Markdown does not read blocks."""

    def __init__(self, md: Markdown, reader: ReadChecks) -> None:
        """Remember who found the checks."""
        super().__init__(md)
        self.reader = reader

    def run(self, root: etree.Element) -> None:  # noqa: ARG002 - Treeprocessor's interface
        """Refuse the page if a check was found and not built."""
        for check in self.reader.checks.values():
            where = line_of(current_page(self.md), f"id: {check.id}")
            raise PageError(
                f"{where}: check: no block can begin here; put an empty line before it, and "
                "keep it out of HTML"
            )


class ChecksExtension(BlocksExtension):
    """The two blocks and what watches over them."""

    def extendMarkdownBlocks(  # noqa: N802 - pymdownx' name
        self, md: Markdown, block_mgr: BlocksProcessor
    ) -> None:
        """Register the blocks."""
        reader = ReadChecks(md)
        # after the whole lesson (40) is put together, before fences (25) are taken out
        md.preprocessors.register(reader, "lesson-checks", 34)
        md.treeprocessors.register(AllRead(md, reader), "lesson-checks", 30)
        block_mgr.register(CheckBlock, {"reader": reader})
        block_mgr.register(AnswerBlock, {})
        block_mgr.register(AfterBlock, {"reader": reader})
        # so that an author may write it into a page, like a paragraph
        md.block_level_elements.append("learner-record")


def makeExtension(**options: Any) -> ChecksExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.checks]`` find the extension."""
    return ChecksExtension(**options)
