"""The fence that puts a drawing of ours, an SVG from ``docs/drawings``, into a page.

It goes into the page itself, not into an ``<img>``, so that it takes the colours of the palette.
"""

import re
from html import escape
from pathlib import Path

from markdown import Markdown

from lesson_site.errors import PageError
from lesson_site.fences import Options, fence

DRAWINGS = Path("docs/drawings")
OPENING = re.compile(r"\A\s*<svg\b([^>]*)>\s*<title>([^<]+)</title>\s*<desc>([^<]+)</desc>")

FORMATTED = re.compile(r"`[^`]*`|\[\[.*?\]\]|\[[^\]]*\]\([^)]*\)|\*\*.+?\*\*")


@fence(show=True)
def drawing(source: str, options: Options, md: Markdown) -> str:
    """The drawing that ``show`` names; the body is its caption, which states what it shows."""
    name = options["show"]
    known = sorted(path.stem for path in DRAWINGS.glob("*.svg"))
    if name not in known:
        raise PageError(f"there is no drawing {name!r}; there are {', '.join(known) or 'none'}")
    if not source.strip():
        raise PageError("has no caption; write what the drawing shows between the fence's lines")
    if formatted := FORMATTED.search(source):
        raise PageError(f"its caption is plain text; write {formatted[0]!r} without its signs")
    svg = inline((DRAWINGS / f"{name}.svg").read_text(encoding="utf-8"), name, _number(md))
    caption = escape(" ".join(source.split()))
    return f'<figure class="drawing">{svg}<figcaption>{caption}</figcaption></figure>'


def inline(svg: str, name: str, number: int) -> str:
    """Make an SVG file part of a page: an image with a name and a description, told apart by id.

    Raises:
        PageError: If it does not open with a title and a description.
    """
    opening = OPENING.match(svg)
    if opening is None:
        raise PageError(f"{DRAWINGS / name}.svg must open with <svg …>, <title> and <desc>")
    attributes, title, description = opening.groups()
    of = f"{name}-{number}"
    head = (
        f'<svg{attributes} class="drawing-{name}" role="img" '
        f'aria-labelledby="{of}-title" aria-describedby="{of}-description">'
        f'<title id="{of}-title">{title}</title><desc id="{of}-description">{description}</desc>'
    )
    # A blank line or an indent would end the raw HTML, or turn it into code
    return head + re.sub(r">\s+<", "><", svg[opening.end() :]).strip()


def _number(md: Markdown) -> int:
    """A number that no other block of this page has."""
    return int(md.htmlStash.html_counter)
