"""Scripts as tree-sitter reads them, and without their comments."""

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

LANGUAGE = Language(tree_sitter_javascript.language())
COMMENTS = Query(LANGUAGE, "(comment) @comment")


def without_comments(script: str) -> str:
    """A script without its comments, and without the lines that they had for themselves."""
    source = script.encode()
    end = len(source)
    parts = []
    comments = QueryCursor(COMMENTS).captures(tree_of(script)).get("comment", [])
    for comment in sorted(comments, key=lambda found: found.start_byte, reverse=True):
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
