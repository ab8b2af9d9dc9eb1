"""Scripts as tree-sitter reads them, and without their comments."""

from collections.abc import Iterator

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

LANGUAGE = Language(tree_sitter_javascript.language())


def without_comments(script: str) -> str:
    """A script without its comments, and without the lines that they had for themselves."""
    source = script.encode()
    end = len(source)
    parts = []
    for comment in reversed(list(_comments(tree_of(script)))):
        start, stop = comment.start_byte, comment.end_byte
        line = source.rfind(b"\n", 0, start) + 1
        if not source[line:start].strip() and source[stop : stop + 1] in (b"\n", b""):
            start, stop = line, stop + 1
        parts.append(source[stop:end])
        end = start
    return b"".join([source[:end], *reversed(parts)]).decode()


def tree_of(script: str) -> Node:
    """A script as tree-sitter reads it."""
    return Parser(LANGUAGE).parse(script.encode()).root_node


def _comments(node: Node) -> Iterator[Node]:
    """The comments below a node, in their order."""
    for child in node.children:
        if child.type == "comment":
            yield child
        else:
            yield from _comments(child)
