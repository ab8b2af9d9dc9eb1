"""A built page, read once: its anchors, what it refers to, its scripts and its visible text."""

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
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
    reader.feed(html)
    reader.close()
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


class _Reader(HTMLParser):
    """Fills a document while it reads the page."""

    def __init__(self, document: Document) -> None:
        super().__init__(convert_charrefs=True)
        self.document = document
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.script: Attributes | None = None

    def updatepos(self, i: int, j: int) -> int:  # noqa: ARG002
        """Count no lines, which nothing here asks for."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.document.element_count += 1
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script" and "src" not in values:
            self.script = values
        if tag == "style" or "style" in values:
            self.document.inline_styles.append(f"<{tag}>")
        if any(name.startswith("on") for name in values):
            self.document.handlers.append(f"<{tag}>")
        if values.get("id"):
            self.document.ids.add(values["id"])
        if tag == "a" and values.get("name"):
            self.document.ids.add(values["name"])
        if not ADDRESSED.isdisjoint(values):
            self.document.references += _references(tag, values)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass
        if tag == "script":
            self.script = None

    def handle_data(self, data: str) -> None:
        if self.script is not None:
            self._script(data, self.script)
        elif not UNREAD.intersection(self.open):
            self.pieces.append(data)

    def _script(self, text: str, attributes: Attributes) -> None:
        if attributes.get("type") not in DATA_SCRIPT_TYPES:
            self.document.inline_scripts.append(text)
        elif attributes.get("id") == "__config":
            self.document.config = text
        elif "article" in self.open:
            self.document.data_scripts_in_content += 1


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
