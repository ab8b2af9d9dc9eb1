"""Our style sheets and scripts without what is for authors: comments, and spacing."""

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
# Before a colon they separate selectors; behind it they do not.
SPACES = re.compile(r"[;\s]*(\})\s*|\s*([{;,])\s*|(:)\s+|\s+")


def strip_comments(site: Path) -> None:
    """Take the comments out of our files in ``site``; a second time changes nothing."""
    for sheet in SHEETS:
        for path in site.glob(sheet):
            css = path.read_text(encoding="utf-8")
            bare = TEXT_OR_COMMENT.sub(lambda found: found[1] or "", css)
            _replace(path, css, without_spaces(bare))
    for pattern in SCRIPTS:
        for path in sorted(site.glob(pattern)):
            script = path.read_text(encoding="utf-8")
            _replace(path, script, without_comments(script))


def without_spaces(css: str) -> str:
    """A style sheet without comments, its spaces only where they mean something."""
    parts = TEXT_OR_COMMENT.split(css)  # every second one is a text in quotes
    parts[::2] = [
        SPACES.sub(lambda found: found[found.lastindex or 0].strip() or " ", p) for p in parts[::2]
    ]
    return "".join(parts).strip()


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
