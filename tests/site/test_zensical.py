"""The site does not depend on MkDocs alone: Material's successor builds the same one.

What differs is named here: the page of the executed notebook with its link, three more links, and
what the other builder's theme weighs.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import pytest

from lesson_site.postbuild import finish, sizes
from lesson_site.postbuild.redirects import MOVED
from tests.building import copy_all, run

NOTEBOOK, NOTEBOOK_FILE = "as-it-ran/", "as-it-ran.ipynb"  # Zensical copies the file
# Zensical lengthens relative links of HTML in Markdown, where MkDocs leaves them as they are.
LENGTHENED = {
    "benchmarks/compare/": "../../notebooks/gpu-measuring.zip",
    "benchmarks/forecast/": "../forecast-your-gpu.zip",
    "foundations/lab/": "../foundations-lab.zip",
}
HEAVIER_KB = 30.0  # its theme's style sheets and scripts
VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
SKIP = ("a", (("id", "__skip"),))  # where Zensical's link past the menus ends


@dataclass
class Look(HTMLParser):
    """What the article of a page has, in the order of the page."""

    address: str
    words: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    elements: list[tuple[str, str]] = field(default_factory=list)
    policy: dict[str, set[str]] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element of the article, or the page's policy."""
        its = dict(attrs)
        if its.get("http-equiv") == "Content-Security-Policy":
            for directive in (its["content"] or "").split(";"):
                name, *sources = directive.split()
                self.policy[name] = {s for s in sources if not s.startswith("'sha256-")}
        if tag == "article":
            self.depth = 1
        elif self.depth and (tag, tuple(attrs[:1])) != SKIP:
            self.depth += tag not in VOID
            self.elements.append((tag, its.get("class") or ""))
            if tag == "a" and its.get("href"):
                href = (its["href"] or "").replace(NOTEBOOK_FILE, NOTEBOOK)
                self.links.append(urljoin(f"https://lesson.example/{self.address}", href))
        elif self.depth:
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        """The end of an element."""
        self.depth = max(0, self.depth - 1) if tag not in VOID else self.depth

    def handle_data(self, data: str) -> None:
        """Text of the article."""
        if self.depth:
            self.words += data.split()


def look(site: Path, address: str) -> Look:
    """What a page of a finished site has."""
    found = Look(address)
    found.feed((site / address / "index.html").read_text(encoding="utf-8"))
    return found


def addresses(site: Path) -> set[str]:
    """The addresses of a site's pages, without those of moved ones."""
    found = {page.parent.relative_to(site).as_posix() + "/" for page in site.rglob("index.html")}
    return found - {f"gpu-training/{old}/" for old in MOVED}


def build(to: Path) -> None:
    """Build a copy of the repository with Zensical."""
    copy_all(to)
    built = run("zensical", "build", "--strict", at=to)
    assert not built.returncode, built.stdout + built.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its site after the pass over it, three links mended and its theme's weight allowed."""
    copy = tmp_path_factory.mktemp("zensical")
    build(copy)
    for address, link in LENGTHENED.items():
        page = copy / "site" / address / "index.html"
        html = page.read_text(encoding="utf-8")
        assert 1 == html.count(f'href="../{link}"')
        page.write_text(html.replace(f'href="../{link}"', f'href="{link}"'), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(copy)
        patch.setattr(sizes, "BUDGET_KB", sizes.BUDGET_KB + HEAVIER_KB)
        problems, _ = finish(copy / "site")
    assert [] == problems
    return copy / "site"


def test_it_has_the_same_pages(built_site: Path, finished: Path) -> None:
    """Zensical makes exactly the pages that MkDocs makes of Markdown, and copies the notebook."""
    assert addresses(built_site) - {f"notebooks/{NOTEBOOK}"} == addresses(finished)
    assert (finished / "notebooks" / NOTEBOOK_FILE).is_file()


def test_each_page_says_and_links_the_same(built_site: Path, finished: Path) -> None:
    """Text, links, elements and policy of each page are equal, but for hashes of the themes' own
    scripts.
    """
    different = []
    for address in sorted(addresses(finished)):
        theirs, ours = look(finished, address), look(built_site, address)
        assert ours.words
        assert ours.policy
        for part in ("words", "links", "elements", "policy"):
            if getattr(ours, part) != getattr(theirs, part):
                different.append(f"{address}: {part}")

    assert [] == different


def test_a_difference_is_seen() -> None:
    """The comparison sees another word, link, element and source of the policy."""
    page = (
        '<meta http-equiv="Content-Security-Policy" content="img-src \'self\'">'
        '<article><p class="a">One <a href="../b/">link</a><br> and more</p></article><p>Not this'
    )
    seen = [Look("a/") for _ in range(5)]
    changes = [("", ""), ("more", "less"), ("../b/", "b/"), ('"a"', '"b"'), ("'self'", "data:")]
    for found, (old, new) in zip(seen, changes, strict=True):
        found.feed(page.replace(old, new) if old else page)

    first, *others = seen
    assert ["One", "link", "and", "more"] == first.words
    assert ["https://lesson.example/b/"] == first.links
    assert [("p", "a"), ("a", ""), ("br", "")] == first.elements
    for other, part in zip(others, ("words", "links", "elements", "policy"), strict=True):
        assert getattr(first, part) != getattr(other, part)
