"""The check: a question that stands open, an answer that can be opened, and a prediction before it.

An author writes, with more slashes around the check than around its answer::

    //// check | Predict the error
        id: mismatch-error
        kind: choice
        choices: ["a `RuntimeError`", "nothing"]
        right: 1
    Question in Markdown.

    /// answer
    Answer in Markdown.
    ///
    ////

CONTRIBUTING lists the options of the four kinds. The HTML is complete without JavaScript; the
custom element ``lesson-check`` adds the prediction, and reads all that it needs from attributes.
"""

import math
import re
import xml.etree.ElementTree as etree
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import yaml
from markdown import Markdown
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer
from pymdownx.blocks import BlocksExtension, BlocksProcessor
from pymdownx.blocks.block import Block, type_integer

from lesson_site.errors import PageError
from lesson_site.page import current_page, line_of
from lesson_site.sections import Section, SectionError, read_section

START = re.compile(
    r"^(?P<indent>\s*)(?P<slashes>/{3,})\s*(?P<name>check|answer)\b(?P<rest>.*)$", re.IGNORECASE
)
OPTION_LINE = re.compile(r"^ {4,}\S")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
SLUG = re.compile(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")

# Each kind's options besides id and kind; True for those that must be given.
KINDS: dict[str, dict[str, bool]] = {
    "choice": {"choices": True, "right": True},
    "number": {"right": True, "unit": False, "tolerance": False},
    "line": {"code": True, "right": True},
    "sentence": {},
}


@dataclass(frozen=True)
class Check:
    """A check whose options are known to be good.

    Attributes:
        title: Its title, plain text.
        id: Its id on the page, under which the learner's prediction is kept.
        kind: ``choice``, ``number``, ``line`` or ``sentence``.
        attributes: What a prediction is judged by: ``right``, ``unit``, ``tolerance``.
        choices: The choices in Markdown, for kind ``choice``.
        section: The lines to choose from, for kind ``line``.
    """

    title: str
    id: str
    kind: str
    attributes: Mapping[str, str]
    choices: tuple[str, ...] = ()
    section: Section | None = None


def read_check(title: str, options: object) -> Check:
    """Turn what an author wrote into a check.

    Args:
        title: What stands behind the bar in the first line.
        options: The lines below it, read as YAML.

    Raises:
        PageError: If an option is missing, unknown or wrong; the message says which and why.
        SectionError: If ``code`` names a section that does not exist.
    """
    if not title:
        raise PageError("needs a title: //// check | Title")
    if not isinstance(options, dict):
        raise PageError("needs its options right below its first line, indented by four spaces")
    identity, kind = options.get("id"), options.get("kind")
    if not isinstance(identity, str) or not SLUG.match(identity):
        raise PageError(f"id is {identity!r}; give one in small letters, like mismatch-error")
    if kind not in KINDS:
        raise PageError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    known = {"id": True, "kind": True, **KINDS[kind]}
    for name in options:
        if name not in known:
            raise PageError(f"kind {kind} takes no option {name!r}; it takes {', '.join(known)}")
    for name, needed in known.items():
        if needed and name not in options:
            raise PageError(f"kind {kind} needs the option {name!r}")
    if kind == "choice":
        choices, right = _choices(options["choices"], options["right"])
        return Check(title, identity, kind, {"right": right}, choices=choices)
    if kind == "line":
        section = read_section(str(options["code"]))
        right = _line(section, options["right"])
        return Check(title, identity, kind, {"right": right}, section=section)
    return Check(title, identity, kind, _number(options) if kind == "number" else {})


def _choices(choices: object, right: object) -> tuple[tuple[str, ...], str]:
    """The choices, and the number of the right one, counted from one."""
    if not isinstance(choices, list) or not all(isinstance(c, str) and c.strip() for c in choices):
        raise PageError('choices must be a list of texts: choices: ["one", "another"]')
    if len(choices) < 2 or len(set(choices)) < len(choices):
        raise PageError("choices must be at least two, and all different")
    if not isinstance(right, int) or isinstance(right, bool) or not 1 <= right <= len(choices):
        raise PageError(f"right is {right!r}; give the number of a choice, 1 to {len(choices)}")
    return tuple(choices), str(right)


def _line(section: Section, right: object) -> str:
    """The number of the only line that contains ``right``, counted from one in the section."""
    part = str(right)
    found = [number for number, line in enumerate(section.lines, start=1) if part in line]
    if len(found) != 1 or not part.strip():
        raise PageError(
            f"right is {part!r}, found in {len(found)} lines of the code; name one line"
        )
    return str(found[0])


def _number(options: dict[str, Any]) -> dict[str, str]:
    """The attributes of a number: ``right``, and ``unit`` and ``tolerance`` where given."""
    attributes = {"right": str(options["right"])}
    right = _float("right", options["right"])
    if "tolerance" in options:
        tolerance = _float("tolerance", options["tolerance"])
        if not 0 < tolerance < 1 or right == 0:
            raise PageError(
                f"tolerance is {tolerance} for the right number {right}; it is a share of that "
                "number: give one between 0 and 1, and none where the right number is 0"
            )
        attributes["tolerance"] = str(tolerance)
    if "unit" in options:
        attributes["unit"] = str(options["unit"])
    return attributes


def _float(name: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise PageError(f"{name} is {value!r}, which is no number")
    return number


class ReadChecks(Preprocessor):
    """Find the checks of a page, refuse bad ones, and leave only a number for the block to read.

    The blocks of pymdownx turn into plain text where their options are wrong, and no build fails;
    therefore everything that can be wrong is looked for here.

    Attributes:
        checks: The page's checks in order; each block takes out its own.
    """

    def __init__(self, md: Markdown) -> None:
        """Start without any check."""
        super().__init__(md)
        self.checks: dict[int, Check] = {}

    def run(self, lines: list[str]) -> list[str]:
        """Replace each check's options by its number."""
        self.checks.clear()
        result: list[str] = []
        fenced = False
        options_end = check_end = 0
        for index, line in enumerate(lines):
            fenced ^= bool(FENCE.match(line))
            start = None if fenced else START.match(line)
            if index < options_end:
                continue
            result.append(line)
            if start is None:
                continue
            try:
                if start["name"].lower() == "answer":
                    if index >= check_end:
                        raise PageError("stands outside a check")
                    continue
                options_end, check_end = self._read(lines, index, start)
            except (PageError, SectionError) as problem:
                where = line_of(current_page(self.md), line.strip())
                raise PageError(f"{where}: {start['name']}: {problem}") from None
            result.append(f"{start['indent']}    number: {len(self.checks)}")
        return result

    def _read(self, lines: list[str], first: int, start: re.Match[str]) -> tuple[int, int]:
        """Read one check; return the first line after its options, and the line that ends it."""
        indent = len(start["indent"])
        last = first + 1
        while last < len(lines) and OPTION_LINE.match(lines[last][indent:]):
            last += 1
        try:
            text = "\n".join(line[indent:] for line in lines[first + 1 : last])
            options = yaml.safe_load(text)
        except yaml.YAMLError as problem:
            raise PageError(f"its options are no YAML: {' '.join(str(problem).split())}") from None
        check = read_check(start["rest"].strip().removeprefix("|").strip(), options)
        if check.id in {other.id for other in self.checks.values()}:
            raise PageError(f"the id {check.id!r} is taken by another check; give each its own")
        end = _end(lines, last, start["slashes"])
        _require_answer(lines[last:end], start["slashes"])
        self.checks[len(self.checks) + 1] = check
        return last, end


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
    starts = [(i, m) for i, line in enumerate(lines) if (m := START.match(line))]
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


class CheckBlock(Block):
    """The open question; its answer moves to its end."""

    NAME = "check"
    ARGUMENT = None
    OPTIONS = {"number": (0, type_integer)}  # noqa: RUF012 - Block's own interface

    def on_create(self, parent: etree.Element) -> etree.Element:
        """The element, with its title and a place for the question."""
        check: Check = self.config["checks"].pop(self.options["number"])
        self.check = check
        element = etree.SubElement(
            parent,
            "lesson-check",
            {
                "class": "check admonition question",
                "id": check.id,
                "kind": check.kind,
                **check.attributes,
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
            raise PageError(f"{where}: check: its answer must not stand in a list or a box")
        if self.check.choices:
            choices = etree.SubElement(block, "ol", {"class": "check-choices"})
            for choice in self.check.choices:
                etree.SubElement(choices, "li").text = choice
        if self.check.section:
            self._add_code(block, self.check.section)
        self.question.remove(answers[0])
        block.append(answers[0])

    def _add_code(self, block: etree.Element, section: Section) -> None:
        box = etree.SubElement(block, "div", {"class": "highlight check-code"})
        lines = etree.SubElement(box, "ol", {"class": "check-lines"})
        for html in _highlighted_lines(section):
            item = etree.SubElement(lines, "li", {} if html.strip() else {"class": "check-blank"})
            code = etree.SubElement(item, "code")
            code.text = AtomicString(self.md.htmlStash.store(html)) if html.strip() else ""
        caption = etree.SubElement(box, "p", {"class": "check-file"})
        href = current_page(self.md).code(section.file)
        caption.text = AtomicString(
            self.md.htmlStash.store(
                f'<a href="{escape(href)}">lesson_code/{escape(section.file)}</a>'
            )
        )


def _highlighted_lines(section: Section) -> list[str]:
    """One piece of HTML for each line; the formatter closes its elements at every line's end."""
    html = highlight(
        section.text, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)
    )
    return html.rstrip("\n").split("\n")


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


class AllRead(Treeprocessor):
    """Notice a check that stands where Markdown does not read blocks."""

    def __init__(self, md: Markdown, reader: ReadChecks) -> None:
        """Remember who found the checks."""
        super().__init__(md)
        self.reader = reader

    def run(self, root: etree.Element) -> None:  # noqa: ARG002 - Treeprocessor's interface
        """Refuse the page if a check was found and not built."""
        for check in self.reader.checks.values():
            where = line_of(current_page(self.md), f"id: {check.id}")
            raise PageError(
                f"{where}: check: it stands where no block can; put an empty line before it, and "
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
        block_mgr.register(CheckBlock, {"checks": reader.checks})
        block_mgr.register(AnswerBlock, {})
        # so that an author may write it into a page, like a paragraph
        md.block_level_elements.append("learner-record")


def makeExtension(**options: Any) -> ChecksExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.checks]`` find the extension."""
    return ChecksExtension(**options)
