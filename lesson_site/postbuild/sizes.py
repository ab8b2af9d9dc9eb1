"""What a cold visit to a page costs: bytes over the network, requests, elements."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lesson_site.postbuild.documents import Document
from lesson_site.postbuild.links import CSS_ADDRESS, target_of

# Of a page that is read, and of one with something to answer, to move or to measure.
READING_KB, BUDGET_KB = 80.0, 95.0
READING_REQUESTS, BUDGET_REQUESTS = 10, 12
BUDGET_ELEMENTS = 2000
# The whole notebook on one page.
HEAVIER_KB = {"as-it-ran": 110.0}
# Printed, not read on a screen: it holds every page of its track.
WITHOUT_BUDGET = ("whole-lesson",)
COMPRESSED_ALREADY = {".woff2", ".woff", ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".gz"}
STATIC_IMPORT = re.compile(
    r"""(?:^\s*|;)(?:import|export)\b[^"';]*["'](?P<address>\.{1,2}/[^"']+)["']""", re.MULTILINE
)
SEARCH_INDEX = "search_index"  # our script in the head names it, and holds the search back
FETCHED_LINKS = ("stylesheet", "icon", "preload", "modulepreload", "manifest")


@dataclass(frozen=True)
class Size:
    """The cost of one page.

    Attributes:
        page: Its file, relative to the site.
        kb: Compressed size of everything that a first visit loads, in units of 1,000 bytes.
        html_kb: The page's own part of it.
        requests: How many files that is.
        elements: How many elements the page has.
        files: The files, relative to the site.
    """

    page: Path
    kb: float
    html_kb: float
    requests: int
    elements: int
    files: tuple[str, ...]


def measure(page: Document, folder: Path) -> Size:
    """What a browser with an empty cache loads for ``page``, as far as the files tell.

    Scripts load more by themselves: an element's module, the sitemap. A browser test counts those.
    """
    html = _compressed(page.html.encode())
    files = tuple(dict.fromkeys(_files(page, folder)))
    total = html + sum(_file_bytes(folder / file) for file in files)
    return Size(page.path, total / 1000, html / 1000, 1 + len(files), page.element_count, files)


def size_problems(size: Size) -> list[str]:
    """Where a page is over its budget."""
    if size.page.parent.name in WITHOUT_BUDGET:
        return []
    budget_kb = HEAVIER_KB.get(size.page.parent.name, BUDGET_KB)
    limits = [
        (size.kb, budget_kb, "kB compressed", f"its HTML alone is {size.html_kb:.0f} kB"),
        (size.requests, BUDGET_REQUESTS, "requests", "join or drop files"),
        (size.elements, BUDGET_ELEMENTS, "elements", "split the page, or draw less in it"),
    ]
    return [
        f"{size.page}: {value:.0f} {unit} are over the budget of {limit:.0f}; {advice}"
        for value, limit, unit, advice in limits
        if value > limit
    ]


def size_table(sizes: list[Size], count: int = 5) -> str:
    """The heaviest pages, as a table for the terminal."""
    heaviest = sorted(sizes, key=lambda size: -size.kb)[:count]
    rows = [
        f"{size.kb:8.1f} {size.html_kb:8.1f} {size.requests:9} {size.elements:9}  {size.page}"
        for size in heaviest
    ]
    return "\n".join(["   gz kB  HTML kB  requests  elements  heaviest pages", *rows])


def _files(page: Document, folder: Path) -> Iterator[str]:
    """What the page makes the browser load, once for each mention."""
    for reference in page.references:
        if reference.purpose != "resource" or reference.lazy:
            continue
        if reference.tag.startswith("link[") and not any(r in reference.tag for r in FETCHED_LINKS):
            continue
        if reference.tag not in ("a", "iframe"):
            yield from _with_imports(target_of(reference.address, page), folder)
    search = json.loads(page.config or "{}").get("search")
    held_back = any(SEARCH_INDEX in script for script in page.inline_scripts)
    if search and not held_back:  # then Material loads both on the first page, unasked
        yield from _with_imports(target_of(search, page), folder)
        yield from _with_imports("search/search_index.json", folder)


def _with_imports(file: str | None, folder: Path) -> Iterator[str]:
    """A file, and those that it loads by itself, if the site has them."""
    if file is None or not (folder / file).is_file():
        return
    yield file
    for other in _imports(folder / file):
        if other.is_file() and other.is_relative_to(folder.resolve()):
            yield from _with_imports(other.relative_to(folder.resolve()).as_posix(), folder)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    pattern = {".css": CSS_ADDRESS, ".js": STATIC_IMPORT, ".mjs": STATIC_IMPORT}.get(path.suffix)
    if pattern is None:
        return ()
    found = pattern.finditer(path.read_text(encoding="utf-8"))
    return tuple((path.parent / match["address"]).resolve() for match in found)


@cache
def _file_bytes(path: Path) -> int:
    if not path.is_file():
        return 0
    content = path.read_bytes()
    return len(content) if path.suffix in COMPRESSED_ALREADY else _compressed(content)


def _compressed(content: bytes) -> int:
    return len(gzip.compress(content, compresslevel=6))
