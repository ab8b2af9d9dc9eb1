"""A built page, read once: its anchors, what it refers to, its scripts and its visible text."""

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

Purpose = Literal["link", "resource", "form"]
Attributes = dict[str, str]

# What a reader may follow, or what only names another address; everything else is fetched.
LINKING_RELATIONS = {"alternate", "author", "canonical", "license", "me", "next", "prev"}
RESOURCE_ATTRIBUTES = ("src", "poster", "data", "background", "srcset", "imagesrcset")
ADDRESSED = {"action", "formaction", "href", "http-equiv", "xlink:href", *RESOURCE_ATTRIBUTES}
DATA_SCRIPT_TYPES = ("application/json", "application/ld+json")
UNREAD = {"script", "style", "template", "textarea", "pre", "code", "kbd", "samp", "annotation"}
LOST = Path("404.html")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
# A quote has a meaning behind an equals sign alone.
VALUES = r"""[^>=]*(?:=\s*(?:"[^"]*"|'[^']*'|)[^>=]*)*"""
# Whatever begins with an angle bracket and is no text; scripts and styles end with their own tag.
MARKUP = re.compile(
    rf"""<!--.*?(?:-->|\Z)
    |<[!?][^>]*>
    |<(?P<verbatim>script|style)(?=[\s/>])(?P<of>{VALUES})>(?P<content>.*?)(?:</(?P=verbatim)\s*>|\Z)
    |<(?P<start>[a-z][^\s/>]*)(?P<rest>{VALUES})>
    |</(?P<end>[a-z][^\s/>]*)[^>]*>""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
ATTRIBUTE = re.compile(r"""([^\s/=][^\s/=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']\S*)))?""")
CLOSED = re.compile(r"""(?:^|[\s"'])/$""")


@dataclass(frozen=True)
class Reference:
    """An address on a page.

    Attributes:
        purpose: ``link`` for what a reader follows, ``resource`` for what the browser fetches by
            itself, ``form`` for where a form would send something.
        tag: The element that carries it.
        address: As it is written on the page.
        lazy: Whether the browser waits until it is near the screen.
    """

    purpose: Purpose
    tag: str
    address: str
    lazy: bool = False


@dataclass
class Document:
    """A page of the built site.

    Attributes:
        path: Its file, relative to the site: ``gpu-training/index.html``.
        html: The file's text.
        base: The path under which the site is served, with a slash at both ends.
        ids: Its anchors.
        references: Every address on it.
        inline_scripts: The text of each script that runs and has no file.
        data_scripts_in_content: Data blocks inside the page's own content.
        inline_styles: Elements with a ``style`` attribute or a ``<style>`` block.
        handlers: Elements with an ``on…`` attribute.
        text: Text that a reader sees outside of code.
        element_count: How many elements it has.
        config: Material's own settings, as JSON.
    """

    path: Path
    html: str
    base: str = "/"
    ids: set[str] = field(default_factory=set)
    references: list[Reference] = field(default_factory=list)
    inline_scripts: list[str] = field(default_factory=list)
    data_scripts_in_content: int = 0
    inline_styles: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)
    text: str = ""
    element_count: int = 0
    config: str = "{}"

    @property
    def address(self) -> str:
        """The page's path on the server, under the site's base."""
        return self.base + self.path.as_posix().removesuffix("index.html")


def read_documents(folder: Path) -> list[Document]:
    """Every HTML file of the site, in the order of their paths."""
    base = _base(folder)
    return [
        read_document(path.relative_to(folder), path.read_text(encoding="utf-8"), base)
        for path in sorted(folder.rglob("*.html"))
    ]


def read_document(path: Path, html: str, base: str = "/") -> Document:
    """Read one page."""
    document = Document(path, html, base)
    reader = _Reader(document)
    reader.read(html)
    document.text = "".join(reader.pieces)
    return document


def _base(folder: Path) -> str:
    """The path under which the site is served: ``/``, or ``/course/`` in a folder.

    The home page names it as its own; where the address is left out, the page for unknown addresses
    does, which cannot know how deep it is asked for.
    """
    home = read_document(Path("index.html"), (folder / "index.html").read_text(encoding="utf-8"))
    canonical = [r.address for r in home.references if r.tag == "link[canonical]"]
    if canonical:
        return urlsplit(canonical[0]).path or "/"
    try:
        lost = read_document(LOST, (folder / LOST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "/"
    return f"{json.loads(lost.config).get('base', '').rstrip('/')}/"


class _Reader:
    """Fills a document while it reads the page."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.pieces: list[str] = []
        self.open: list[str] = []

    def read(self, html: str) -> None:
        """Everything from the first tag to the last."""
        end = 0
        for found in MARKUP.finditer(html):
            self._text(html[end : found.start()])
            end = found.end()
            kind = found.lastgroup
            if kind == "rest":
                self._start(*found.group("start", "rest"))
            elif kind == "end":
                self._end(found["end"].lower())
            elif kind == "content":
                tag, rest = found.group("verbatim", "of")
                self._start(tag, rest)
                if tag.lower() == "script":
                    self._script(found["content"], _attributes(rest))
                self.open.pop()
        self._text(html[end:])

    def _start(self, name: str, rest: str) -> None:
        element = _element(name, rest)
        document = self.document
        document.element_count += 1
        if not element.closed:
            self.open.append(element.tag)
        if element.styled:
            document.inline_styles.append(f"<{element.tag}>")
        if element.handles:
            document.handlers.append(f"<{element.tag}>")
        document.ids.update(element.ids)
        document.references += element.references

    def _end(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def _text(self, text: str) -> None:
        if text and UNREAD.isdisjoint(self.open):
            self.pieces.append(unescape(text))

    def _script(self, text: str, attributes: Attributes) -> None:
        if "src" in attributes or not text:
            return
        if attributes.get("type") not in DATA_SCRIPT_TYPES:
            self.document.inline_scripts.append(text)
        elif attributes.get("id") == "__config":
            self.document.config = text
        elif "article" in self.open:
            self.document.data_scripts_in_content += 1


@dataclass(frozen=True)
class _Element:
    """What the start of an element says.

    Attributes:
        tag: Its name.
        closed: Whether it is at its end as well.
        styled: Whether it carries a style.
        handles: Whether it carries a script.
        ids: Its anchors.
        references: The addresses that it carries.
    """

    tag: str
    closed: bool
    styled: bool
    handles: bool
    ids: tuple[str, ...]
    references: tuple[Reference, ...]


@lru_cache(maxsize=20_000)  # most have a tag and a class, as many others have
def _element(name: str, rest: str) -> _Element:
    tag = name.lower()
    values = _attributes(rest)
    named = (values.get("id"), values.get("name") if tag == "a" else None)
    return _Element(
        tag,
        closed=tag in VOID or CLOSED.search(rest) is not None,
        styled=tag == "style" or "style" in values,
        handles=any(name.startswith("on") for name in values),
        ids=tuple(filter(None, named)),
        references=() if ADDRESSED.isdisjoint(values) else tuple(_references(tag, values)),
    )


def _attributes(rest: str) -> Attributes:
    """What is written between the name of a tag and its end."""
    return {
        found[1].lower(): unescape(found[2] or found[3] or found[4] or "")
        for found in ATTRIBUTE.finditer(rest)
    }


def _references(tag: str, attributes: Attributes) -> list[Reference]:
    """The addresses that one element carries."""
    lazy = attributes.get("loading") == "lazy"
    found = [
        Reference("resource", tag, address, lazy)
        for name in RESOURCE_ATTRIBUTES
        for address in _addresses(name, attributes.get(name, ""))
    ]
    for name in ("action", "formaction"):
        if attributes.get(name):
            found.append(Reference("form", tag, attributes[name]))
    if attributes.get("http-equiv", "").lower() == "refresh" and "url=" in attributes["content"]:
        found.append(Reference("link", tag, attributes["content"].partition("url=")[2]))
    href = attributes.get("href", attributes.get("xlink:href"))
    if href is None:
        return found
    if tag in ("a", "area"):
        return [*found, Reference("link", tag, href)]
    relations = attributes.get("rel", "").split()
    if tag == "link" and set(relations) & LINKING_RELATIONS:
        return [*found, Reference("link", f"link[{relations[0]}]", href)]
    name = f"link[{' '.join(relations)}]" if tag == "link" else tag
    return [*found, Reference("resource", name, href)]


def _addresses(name: str, value: str) -> list[str]:
    if not value:
        return []
    if name.endswith("srcset"):
        return [candidate.split()[0] for candidate in value.split(",") if candidate.strip()]
    return [value]
