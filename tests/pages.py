"""Reading built pages as browsers do."""

from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode


def read(path: Path) -> LexborHTMLParser:
    """A built page."""
    return LexborHTMLParser(path.read_text(encoding="utf-8"))


def text_of(found: LexborHTMLParser | LexborNode | None) -> str:
    """The text of a page or of an element, in one line; empty if nothing was found."""
    node = found.root if isinstance(found, LexborHTMLParser) else found
    return " ".join(node.text().split()) if node else ""


def value_of(found: LexborNode | None, attribute: str) -> str:
    """An attribute of an element; empty if it has none, or nothing was found."""
    return (found and found.attributes.get(attribute)) or ""
