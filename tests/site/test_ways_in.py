"""How readers come to a page: a link that somebody shared, a search engine, a broken address."""

import re
from pathlib import Path

import yaml

from lesson_site.postbuild.redirects import MOVED
from lesson_site.sharing.heads import read_head
from tests.building import HOST, REPOSITORY


def old_addresses(site: Path) -> set[Path]:
    """The pages that lead from an address of before to a page."""
    return {site / "gpu-training" / name / "index.html" for name in MOVED}


def test_each_page_says_in_a_sentence_what_it_is_about(built_site: Path) -> None:
    """In its own words: no page has the site's, and no two have the same."""
    site_says = read_head((built_site / "404.html").read_text(encoding="utf-8")).description
    pages = set(built_site.rglob("index.html")) - old_addresses(built_site)

    said = {
        page.relative_to(built_site).as_posix(): read_head(
            page.read_text(encoding="utf-8")
        ).description
        for page in pages
    }

    assert [] == [page for page, text in said.items() if not 40 < len(text) < 200]
    assert site_says not in said.values()
    assert len(pages) == len(set(said.values()))


def test_a_site_on_this_machine_names_no_address(built_site: Path) -> None:
    """This one is built for a host that no other machine knows: nothing in a head names it."""
    heads = {
        page: page.read_text(encoding="utf-8").partition("</head>")[0]
        for page in built_site.rglob("*.html")
    }

    assert [] == [page for page, head in heads.items() if HOST in head or "og:" in head]
    assert "Sitemap" not in (built_site / "robots.txt").read_text(encoding="utf-8")


def test_search_engines_find_every_page_once(built_site: Path) -> None:
    """They are kept from what repeats other pages, and from nothing else."""
    kept_away = {
        page
        for page in built_site.rglob("*.html")
        if '<meta name="robots" content="noindex">' in page.read_text(encoding="utf-8")
    }
    doubles = {"404.html", "gpu-training/whole-lesson/index.html", "notebooks/as-it-ran/index.html"}

    assert {built_site / page for page in doubles} | old_addresses(built_site) == kept_away
    assert "Disallow" not in (built_site / "robots.txt").read_text(encoding="utf-8")
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
