"""What a page's head says to those who share it and to search engines.

Every value has one home: title and description are the page's, the address comes from ``SITE_URL``,
the site's name from ``mkdocs.yml``, authors and licences from ``CITATION.cff``. Where the site's
address is of this machine alone, or missing, nothing that would name it is written.

Sources: ogp.me for the names, developer.x.com for the card, schema.org for ``LearningResource``.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import yaml

from lesson_site.files import write_whole
from lesson_site.markdown_source import PAGES, Source
from lesson_site.numbering import settings, tracks
from lesson_site.sharing.picture import HEIGHT, WIDTH, PictureError, picture

CITATION = Path("CITATION.cff")
PICTURE = "share.png"  # beside its page
CANONICAL = re.compile(r"""[ \t]*<link rel=["']?canonical["']? href=["']?https?://[^>]*>\n?""")
KIND = "learning_resource"  # of front matter: what the page's track is, in a word
LICENCE = "https://spdx.org/licenses/{}"


@dataclass(frozen=True)
class Head:
    """What a page's head says.

    Attributes:
        title: In the browser's tab.
        description: Of the page, in a sentence; empty where it has none.
        address: Its own, with its host; empty where it names none.
        language: In which it is written.
    """

    title: str
    description: str
    address: str
    language: str


def share(site: Path) -> list[str]:
    """Tell of every page of ``site`` what a shared link shows; a second time changes nothing.

    Returns:
        Every problem as ``page: what, what to do``.
    """
    home = read_head((site / "index.html").read_text(encoding="utf-8")).address
    if not is_public(home):
        _name_no_address(site)
        return []
    files: dict[Path, str | bytes] = {}
    problems = []
    for path in sorted(site.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        head = read_head(html)
        if not head.address or 'property="og:title"' in html:
            continue
        page = path.relative_to(site)
        try:
            track = tracks().get(_source(page), "")
            files[path.with_name(PICTURE)] = picture(_title(head), _name(), track)
        except PictureError as problem:
            problems.append(f"{page}: {problem}")
        tags = "\n".join([*_tags(head), *_resource(head, page)])
        files[path] = html.replace("</head>", f"{tags}\n</head>", 1)
    for path, content in ({} if problems else files).items():
        write_whole(path, content)
    return problems


def is_public(address: str) -> bool:
    """Whether others than this machine and its network can ask for an address."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".localhost", ".local", ".internal", ".test"))


def read_head(html: str) -> Head:
    """What the head of a page says."""
    from selectolax.lexbor import LexborHTMLParser  # as in `documents`

    tree = LexborHTMLParser(html.partition("</head>")[0])

    def said(selector: str, attribute: str) -> str:
        found = tree.css_first(selector)
        return (found.attributes.get(attribute) or "") if found else ""

    title, address = tree.css_first("title"), said("link[rel=canonical]", "href")
    return Head(
        " ".join(title.text().split()) if title else "",
        said("meta[name=description]", "content"),
        address if urlsplit(address).netloc else "",
        said("html", "lang"),
    )


def _name_no_address(site: Path) -> None:
    for path in sorted(site.rglob("*.html")):
        head, end, rest = path.read_text(encoding="utf-8").partition("</head>")
        if CANONICAL.search(head):
            write_whole(path, CANONICAL.sub("", head) + end + rest)
    robots = site / "robots.txt"
    if robots.is_file():
        lines = robots.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = "".join(line for line in lines if not line.startswith("Sitemap:"))
        if len(kept) < len("".join(lines)):
            write_whole(robots, kept)


def _tags(head: Head) -> list[str]:
    """The names of Open Graph; X's card takes from them what it shows."""
    told = {
        "og:type": "website",
        "og:site_name": _name(),
        "og:title": _title(head),
        "og:description": head.description,
        "og:url": head.address,
        "og:image": urljoin(head.address, PICTURE),
        "og:image:width": str(WIDTH),
        "og:image:height": str(HEIGHT),
        "og:image:alt": _title(head),
    }
    lines = [
        f'<meta property="{name}" content="{escape(text)}">' for name, text in told.items() if text
    ]
    return [*lines, '<meta name="twitter:card" content="summary_large_image">']


def _resource(head: Head, page: Path) -> list[str]:
    """The page as a ``LearningResource``, if its front matter says what kind of one it is."""
    kind = _kind(PAGES / _source(page))
    if not kind:
        return []
    citation = _citation()
    data = {
        "@context": "https://schema.org",
        "@type": "LearningResource",
        "name": _title(head),
        "description": head.description,
        "url": head.address,
        "image": urljoin(head.address, PICTURE),
        "inLanguage": head.language,
        "learningResourceType": kind,
        "isAccessibleForFree": True,
        "author": [{"@type": "Organization", "name": who["name"]} for who in citation["authors"]],
        "license": [LICENCE.format(name) for name in citation["license"]],
        "keywords": citation["keywords"],
        "isPartOf": {"@type": "WebSite", "name": _name()},
    }
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return [f'<script type="application/ld+json">{text}</script>']


def _kind(source: Path) -> str:
    try:
        page = Source.read(source)
    except OSError:
        return ""
    return str(page.front_matter.get(KIND, "")) if KIND in page.text else ""


def _source(page: Path) -> str:
    """The file in ``docs`` of which a page was made: ``lab/index.md`` of ``lab/index.html``."""
    folder = page.parent
    names = [f"{folder / 'index.md'}", f"{folder}.md", f"{folder}.ipynb"]
    return next((name for name in names if (PAGES / name).is_file()), names[0])


def _title(head: Head) -> str:
    return head.title.removesuffix(f" - {_name()}")


def _name() -> str:
    return str(settings()["site_name"])


@cache
def _citation() -> dict[str, Any]:
    return yaml.safe_load(CITATION.read_text(encoding="utf-8"))
