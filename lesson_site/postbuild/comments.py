"""Our style sheets and scripts without their comments: those are for authors, not for readers."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from lesson_site.files import write_whole

SHEETS = (
    "assets/style.css",
    "assets/mission/mission.css",
    "assets/elements/race/race.css",
)
SCRIPTS = ("assets/lesson.js", "assets/elements/**/*.js")
# A text in quotes is taken first, and kept: what looks like a comment in it is none.
TEXT_OR_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|/\*.*?\*/""", re.DOTALL)


def strip_comments(site: Path) -> None:
    """Take the comments out of our files in ``site``; a second time changes nothing."""
    for sheet in SHEETS:
        for path in site.glob(sheet):
            css = path.read_text(encoding="utf-8")
            bare = TEXT_OR_COMMENT.sub(lambda found: found[1] or "", css)
            _replace(path, css, re.sub(r"\n\s*\n+", "\n", bare))
    for pattern in SCRIPTS:
        for path in sorted(site.glob(pattern)):
            script = path.read_text(encoding="utf-8")
            _replace(path, script, without_comments(script))


def without_comments(script: str) -> str:
    """A script without its comments, and without the lines that they had for themselves."""
    source = script.encode()
    end = len(source)
    parts = []
    for comment in reversed(list(_comments(_parser().parse(source).root_node))):
        start, stop = comment.start_byte, comment.end_byte
        line = source.rfind(b"\n", 0, start) + 1
        if not source[line:start].strip() and source[stop : stop + 1] in (b"\n", b""):
            start, stop = line, stop + 1
        parts.append(source[stop:end])
        end = start
    return b"".join([source[:end], *reversed(parts)]).decode()


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_javascript.language()))


def _comments(node: Node) -> Iterator[Node]:
    """The comments below a node, in their order."""
    for child in node.children:
        if child.type == "comment":
            yield child
        else:
            yield from _comments(child)


def _replace(path: Path, text: str, short: str) -> None:
    if short != text:
        write_whole(path, short)
