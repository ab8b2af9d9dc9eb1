"""How readers come to a page: a link that somebody shared, a search engine, a broken address."""

import re
from pathlib import Path

from lesson_site.numbering import settings
from lesson_site.postbuild.redirects import MOVED
from lesson_site.sharing.heads import read_head
from tests.building import HOST, build, finish
from tests.site.conftest import Copy


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
    """The page for unknown addresses leads to each part of the site and what that has below it."""
    lost = (built_site / "404.html").read_text(encoding="utf-8")
    article = lost[lost.index("<article") : lost.index("</article>")]
    targets = [href.removeprefix("/") for href in re.findall(r'href="([^"#]+)"', article)]
    parts = [part for entry in settings()["nav"] for part in entry.values()]

    assert sum(len(part) if isinstance(part, list) else 1 for part in parts) == len(targets)
    assert all((built_site / target / "index.html").is_file() for target in targets)


def test_who_is_lost_may_search_where_scripts_run(built_site: Path) -> None:
    """What opens the search is not shown without a script, as it would open nothing."""
    lost = (built_site / "404.html").read_text(encoding="utf-8")
    style = (built_site / "assets/style.css").read_text(encoding="utf-8")

    assert re.search(r'<p class="needs-script">\s*<label[^>]* for="__search">', lost)
    assert ".no-js .needs-script{display:none}" in style


def test_a_site_in_a_folder_leads_who_is_lost_into_it(copy: Copy) -> None:
    """Asked for at any depth, each address of the page begins at the host, with the folder."""
    site = copy.root / "site"

    assert not build(site, at=copy.root, address="https://lesson.example/gpu/").returncode
    assert not finish(site, at=copy.root).returncode

    lost = (site / "404.html").read_text(encoding="utf-8")
    addresses = re.findall(r'(?:href|src)="([^"#]+)"', lost)
    assert len(addresses) > 5
    assert [] == [each for each in addresses if not each.startswith(("/gpu/", "https://"))]
    assert "https://lesson.example/gpu/share.png" in (site / "index.html").read_text("utf-8")
    assert "https://lesson.example/gpu/sitemap.xml" in (site / "robots.txt").read_text("utf-8")
