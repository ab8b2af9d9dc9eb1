"""A built page, read once: its anchors, what it refers to, its scripts and its visible text."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

Purpose = Literal["link", "resource", "form"]
Attributes = dict[str, str]

# What a reader may follow, or what only names another address; everything else is fetched.
LINKING_RELATIONS = {"alternate", "author", "canonical", "license", "me", "next", "prev"}
RESOURCE_ATTRIBUTES = ("src", "poster", "data", "background", "srcset", "imagesrcset")
ADDRESSED = {"action", "formaction", "href", "http-equiv", "xlink:href", *RESOURCE_ATTRIBUTES}
DATA_SCRIPT_TYPES = ("application/json", "application/ld+json")
UNREAD = ["script", "style", "template", "textarea", "pre", "code", "kbd", "samp", "annotation"]
LOST = Path("404.html")


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
    from selectolax.lexbor import LexborHTMLParser  # which a GPU machine lacks; it reads no page

    document = Document(path, html, base)
    tree = LexborHTMLParser(html)
    for element in _elements(tree):
        document.element_count += 1
        if attributes := element.attributes:
            _read(document, element.tag or "", {n: v or "" for n, v in attributes.items()})
    for script in tree.css("script:not([src])"):
        _read_script(document, script)
    document.inline_styles += ["<style>"] * len(tree.css("style"))
    tree.strip_tags(UNREAD)
    document.text = tree.root.text() if tree.root else ""
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


def _elements(tree: "LexborHTMLParser") -> "Iterator[LexborNode]":
    """Every element of a page; those in a template are a tree of their own."""
    for element in tree.css("*"):
        yield element
        if element.tag == "template" and element.html:
            yield from _elements(type(tree)(element.html.partition(">")[2]))


def _read(document: Document, tag: str, attributes: Attributes) -> None:
    """Note what an element's attributes say."""
    if "style" in attributes:
        document.inline_styles.append(f"<{tag}>")
    if any(name.startswith("on") for name in attributes):
        document.handlers.append(f"<{tag}>")
    if attributes.get("id"):
        document.ids.add(attributes["id"])
    if tag == "a" and attributes.get("name"):
        document.ids.add(attributes["name"])
    if not ADDRESSED.isdisjoint(attributes):
        document.references += _references(tag, attributes)


def _read_script(document: Document, script: "LexborNode") -> None:
    """Note the text of a script that runs, and what data a page has."""
    if script.attributes.get("type") not in DATA_SCRIPT_TYPES:
        document.inline_scripts.append(script.text())
    elif script.id == "__config":
        document.config = script.text()
    elif script.css_matches("article script"):
        document.data_scripts_in_content += 1


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
