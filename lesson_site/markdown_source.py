"""A page's Markdown in its parts: front matter, headings, fences with their options, and prose."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

import yaml

PAGES = Path("docs")
FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,})\s*(?P<kind>[\w-]*)(?P<options>.*)$")
OPTION = re.compile(r"""(?P<key>\w+)=(?P<quote>["'])(?P<value>.*?)(?P=quote)""")
HEADING = re.compile(r"^(?P<marks>#{1,6}) (?P<title>.+?)(?: \{ *(?:#(?P<anchor>[\w-]+))?.*\})?$")


def read_yaml(text: str) -> Any:
    """What a text in YAML says.

    libyaml reads it, where it is there; what is wrong says the slower reader in either case.

    Raises:
        yaml.YAMLError: If it is no YAML.
    """
    try:
        return yaml.load(text, FAST)
    except yaml.YAMLError:
        return yaml.safe_load(text)


@dataclass(frozen=True)
class Fence:
    """A block between two lines of backticks or tildes.

    Attributes:
        kind: The word after the first mark: ``lesson-code``, ``sh``, or nothing.
        options: What is written behind it as ``name="value"``.
        body: The lines inside, as one string.
        line: Where it begins, counted from 1.
    """

    kind: str
    options: dict[str, str]
    body: str
    line: int


@dataclass(frozen=True)
class Heading:
    """A heading; its anchor is empty where the page names none."""

    level: int
    title: str
    anchor: str


@dataclass(frozen=True)
class Source:
    """The Markdown of a page."""

    text: str

    @classmethod
    def read(cls, path: Path) -> Self:
        """The Markdown of a file; taken apart again only after it has changed."""
        return cls._of(path.read_text(encoding="utf-8"))

    @classmethod
    @lru_cache(maxsize=1000)
    def _of(cls, text: str) -> Self:
        return cls(text)

    @cached_property
    def front_matter(self) -> dict[str, Any]:
        """What is before the page, between two lines of dashes."""
        found = FRONT_MATTER.match(self.text)
        return (read_yaml(found[1]) if found else None) or {}

    @property
    def body(self) -> str:
        """The page without its front matter."""
        return FRONT_MATTER.sub("", self.text)

    @cached_property
    def fences(self) -> list[Fence]:
        """Every fence, in order."""
        found: list[Fence] = []
        lines = self.text.splitlines()
        start = 0
        for number, (_, edge) in enumerate(in_fences(lines)):
            if edge == "start":
                start = number
            elif edge == "end":
                first = FENCE.match(lines[start])
                assert first is not None
                options = {each["key"]: each["value"] for each in OPTION.finditer(first["options"])}
                body = "\n".join(lines[start + 1 : number])
                found.append(Fence(first["kind"], options, body, start + 1))
        return found

    @cached_property
    def prose(self) -> str:
        """The page without front matter and fences."""
        lines = self.body.splitlines()
        outside = zip(lines, in_fences(lines), strict=True)
        return "\n".join(line for line, (fenced, _) in outside if not fenced)

    @cached_property
    def headings(self) -> list[Heading]:
        """Every heading, in order."""
        found = filter(None, map(HEADING.match, self.prose.splitlines()))
        return [Heading(len(m["marks"]), m["title"], m["anchor"] or "") for m in found]

    @property
    def title(self) -> str:
        """The first heading of the first level; empty if there is none."""
        return next((each.title for each in self.headings if each.level == 1), "")

    @property
    def anchors(self) -> list[str]:
        """The anchors that headings name, in order."""
        return [each.anchor for each in self.headings if each.anchor]


def in_fences(lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """For each line whether it is part of a fence, and whether it is its "start" or "end"."""
    mark = ""
    for line in lines:
        found = FENCE.match(line)
        if not mark and found:
            mark = found["mark"]
            yield True, "start"
        elif mark and found and line.strip().startswith(mark) and not line.strip(f" {mark[0]}"):
            mark = ""
            yield True, "end"
        else:
            yield bool(mark), ""


def sources(pages: Path = PAGES) -> dict[Path, Source]:
    """The Markdown of every page below a folder, by its file."""
    return {path: Source.read(path) for path in sorted(pages.rglob("*.md"))}
