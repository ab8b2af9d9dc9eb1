"""The mission's sentences, out of Markdown: ``lesson_site/mission/texts`` has a file for each part.

Under a heading are paragraphs, and a list of texts with their ids: ``- id: text``, or with a box
before the id, ticked or not, an answer and below it what is said to it. A text goes on in lines
that are indented. ``[[name]]`` is a number that the build puts in: a figure of the catalogue, or
one of ``values`` if its name has no dot. ``{name}`` is filled by the browser, from a row.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lesson_site.errors import PageError
from lesson_site.figures import NAMED
from lesson_site.mission.controls import COMPONENTS
from lesson_site.mission.values import values
from results.quantities import SPACE
from results.store import FigureError, open_store

FOLDER = Path("lesson_site/mission/texts")
REFLECTIONS, ISSUES = "reflections", "issues"  # files that have no messages
HEADING = re.compile(r"#+ (?P<title>.+)")
ITEM = re.compile(r"- (?:\[(?P<tick>[ x])\] )?(?P<id>[\w.]+): (?P<text>.+)")


@dataclass
class Section:
    """What is under a heading.

    Attributes:
        paragraphs: What is no list.
        items: The lines of each text, by id; an answer's first line is the answer.
        right: The ids that are ticked.
    """

    paragraphs: list[str] = field(default_factory=list)
    items: dict[str, list[str]] = field(default_factory=dict)
    right: list[str] = field(default_factory=list)

    @property
    def texts(self) -> dict[str, str]:
        """Each text by its id."""
        return {name: " ".join(lines) for name, lines in self.items.items()}


def files() -> list[Path]:
    """The files of texts."""
    return sorted(FOLDER.glob("*.md"))


def read(name: str, more: Mapping[str, str] | None = None) -> dict[str, Section]:
    """The sections of a file by their headings.

    Args:
        name: The file, without its suffix.
        more: Numbers that this file alone has.

    Raises:
        PageError: If there is no number of a name, or a text has no id of its own.
    """
    path = FOLDER / f"{name}.md"
    sections: dict[str, Section] = {}
    section, lines, ended = Section(), list[str](), True
    for line in _filled(path, values() | dict(more or {})):
        heading, item = HEADING.fullmatch(line), ITEM.fullmatch(line)
        if line.startswith("- ") and (item is None or item["id"] in section.items):
            raise PageError(f"{path}: needs an id of its own: {line}")
        if heading:
            section = sections[heading["title"]] = Section()
        elif item:
            lines = section.items[item["id"]] = [item["text"]]
            section.right += [item["id"]] * (item["tick"] == "x")
        elif line.startswith("  "):
            lines.append(line.strip())
        elif line and ended:
            section.paragraphs.append(line)
        elif line:
            section.paragraphs[-1] += f" {line}"
        ended = not line
    return sections


def _filled(path: Path, known: dict[str, str]) -> Iterator[str]:
    """The lines with numbers in place of their names."""
    store = open_store()

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if "." not in name and name in known:
            return known[name]
        # In plain text like the sentences around it, which the browser fills with such numbers.
        return store.figure(name).text.replace(SPACE, " ")

    for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            yield re.sub(NAMED, number, line)
        except FigureError as problem:
            raise PageError(f"{path}:{i}: {problem}") from None


def messages() -> dict[str, str]:
    """Every sentence by its id.

    Raises:
        PageError: If two have one id.
    """
    found = {f"part.{component}": _inside(label) for component, label in COMPONENTS.items()}
    for path in files():
        if path.stem in (REFLECTIONS, ISSUES):
            continue
        for section in read(path.stem).values():
            if twice := found.keys() & section.texts.keys():
                raise PageError(f"{path}: two texts are called {min(twice)}")
            found |= section.texts
    return found


def _inside(label: str) -> str:
    """A part's name in the middle of a sentence; FP32 and 16-bit stay as they are."""
    return label if label[1].isupper() or label[0].isdigit() else label[0].lower() + label[1:]
