"""Every address on every page leads somewhere, and no page makes the browser ask another host."""

import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

from lesson_site.postbuild.documents import Document, Reference

FOLLOWED_SCHEMES = ("https", "http", "mailto", "tel")
FETCHED_SCHEMES = ("data", "blob")
CSS_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)["']?(?P<address>[^"')\s]+)""")
# In scripts, only what surely fetches: a bundle may hold addresses that it never asks for.
SCRIPT_IMPORT = re.compile(
    r"""(?:\bimport\s*\(?|\bfrom|\bfetch\s*\(|\bimportScripts\s*\(|\bnew\s+(?:Shared)?Worker\s*\()"""
    r"""\s*["'`](?P<address>(?:https?:)?//[^"'`]+)"""
)


class Links:
    """What addresses can lead to."""

    def __init__(self, documents: list[Document], folder: Path) -> None:
        self.anchors = {document.path.as_posix(): document.ids for document in documents}
        paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
        self.folders = {name for name, path in paths.items() if path.is_dir()}
        self.files = paths.keys() - self.folders

    def problems(self, page: Document) -> list[str]:
        """What is wrong with the addresses on one page."""
        found = (self._problem(each, page) for each in dict.fromkeys(page.references))
        return [f"{page.path}: {problem}" for problem in found if problem]

    def _problem(self, reference: Reference, page: Document) -> str | None:
        """What is wrong with one address, and what to do about it; None if it is fine."""
        address = reference.address
        parts = urlsplit(address)
        if parts.netloc:
            return _foreign(reference)
        if parts.scheme:
            allowed = FOLLOWED_SCHEMES if reference.purpose == "link" else FETCHED_SCHEMES
            fine = parts.scheme in allowed
            return None if fine else f"{address} can't be used; name a page or a file"
        if reference.purpose == "form":
            return f"a form sends to {address}; nothing here receives anything, so take it out"
        target = target_of(address, page)
        if target is None:
            return f"{address} leads out of the site; use a relative link"
        if target in self.folders:
            return f"{address} lacks the slash at its end; write {address}/"
        if target not in self.files:
            return f"{address} leads nowhere; correct it, or add {target}"
        return _anchor_problem(address, target, unquote(parts.fragment), self.anchors)


def stylesheet_and_script_problems(folder: Path) -> list[str]:
    """Addresses of other hosts that a style sheet or a script of the site would fetch."""
    problems = []
    for pattern, found in ((CSS_ADDRESS, "*.css"), (SCRIPT_IMPORT, "*.*js")):
        for path in sorted(folder.rglob(found)):
            for match in pattern.finditer(path.read_text(encoding="utf-8")):
                if urlsplit(match["address"]).netloc:
                    problems.append(
                        f"{path.relative_to(folder)}: it fetches {match['address']} from another "
                        "host; keep a copy in docs/assets instead"
                    )
    return problems


def target_of(address: str, page: Document) -> str | None:
    """The file that an address means, relative to the site; None if it lies outside of the site."""
    path = urlsplit(urljoin(page.address, address)).path
    if not path.startswith(page.base):
        return None
    file = unquote(path.removeprefix(page.base))
    return file + "index.html" if file in ("", ".") or file.endswith("/") else file


def _foreign(reference: Reference) -> str | None:
    if reference.purpose == "link":
        return None
    if reference.purpose == "form":
        return f"a form sends to {reference.address}; nothing may leave the browser, so take it out"
    return (
        f"<{reference.tag}> asks another host for {reference.address}; keep a copy in docs/assets"
    )


def _anchor_problem(
    address: str, target: str, anchor: str, anchors: dict[str, set[str]]
) -> str | None:
    if not anchor or anchor in anchors.get(target, ()):
        return None
    if PurePosixPath(target).suffix not in (".html", ".svg"):
        return f"{address} names a place in a file that has none; leave out #{anchor}"
    if target not in anchors:  # an SVG symbol: the file is there, and the browser finds the rest
        return None
    return f"{address} names no heading of {target}; correct #{anchor}"
