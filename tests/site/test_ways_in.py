"""How readers come to a page: a link that somebody shared, a search engine, a broken address."""

import re
from html import unescape
from pathlib import Path

import yaml

from lesson_site.postbuild.redirects import MOVED
from tests.building import HOST, REPOSITORY

SHARED = re.compile(
    r'<meta (?:property|name)="(?:og|twitter):(?P<name>\w+)" content="(?P<text>.*?)">'
)
ADDRESS = f"http://{HOST}/"


def test_a_shared_link_shows_its_page(built_site: Path) -> None:
    """Its title, its address, a sentence, and a picture that the site itself has."""
    old = {built_site / "gpu-training" / name / "index.html" for name in MOVED}
    for file in set(built_site.rglob("index.html")) - old:
        found = SHARED.findall(file.read_text(encoding="utf-8"))
        shown = {name: unescape(text) for name, text in found}
        page = file.parent.relative_to(built_site).as_posix()

        assert shown["url"] == (ADDRESS if page == "." else f"{ADDRESS}{page}/"), page
        assert shown["title"], page
        assert len(shown["description"]) > 40, page
        assert (built_site / shown["image"].removeprefix(ADDRESS)).is_file(), page


def test_search_engines_find_the_list_of_pages(built_site: Path) -> None:
    """Nothing is kept from them."""
    lines = (built_site / "robots.txt").read_text(encoding="utf-8").split("\n")

    assert "Disallow" not in "".join(lines)
    assert f"Sitemap: {ADDRESS}sitemap.xml" in lines
    assert (built_site / "sitemap.xml").is_file()


def test_who_is_lost_finds_every_track(built_site: Path) -> None:
    """The page for unknown addresses leads to the start of each entry of the navigation."""
    lost = (built_site / "404.html").read_text(encoding="utf-8")
    article = lost[lost.index("<article") : lost.index("</article>")]
    targets = {"/" if href == "/." else href for href in re.findall(r'href="([^"#]+)"', article)}
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_multi_constructor("", lambda *_: None)
    nav = yaml.load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"), loader)["nav"]

    assert len(nav) == len(targets)
    assert all((built_site / target.strip("/") / "index.html").is_file() for target in targets)
