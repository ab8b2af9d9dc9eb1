"""Everything that the site hands out of others is named, with its version and its licence."""

import json
import re
from dataclasses import replace
from html import unescape
from importlib.metadata import distribution
from pathlib import Path

import material
import pytest
from markdown import Markdown

from lesson_site.credits import OURS, Work, credit_problems, credits, drop_unserved, works
from lesson_site.errors import PageError
from lesson_site.vendor import PACKAGES
from tests.building import REPOSITORY

LICENCES = REPOSITORY / "docs" / "assets" / "licences"
MODULE = re.compile(r"(?:^|/)node_modules/((?:@[^/]+/)?[^/]+)/")


def lay(site: Path, *files: str) -> None:
    """Put files into a site."""
    for file in files:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).write_text("x", encoding="utf-8")


def work(name: str) -> Work:
    """The work of this name."""
    [found] = [each for each in works() if each.name == name]
    return found


def page_of(which: str) -> str:
    """What the fence shows."""
    return unescape(credits("", "lesson-credits", "", {"of": which}, Markdown()))


def test_what_the_theme_is_made_of_is_named() -> None:
    """The packages that its source maps name are those of the credits, no more and no fewer."""
    [folder] = material.__path__
    maps = list(Path(folder, "templates", "assets").rglob("*.map"))

    inside = {
        found[1]
        for each in maps
        for source in json.loads(each.read_text(encoding="utf-8"))["sources"]
        if (found := MODULE.search(source))
    }

    assert len(inside) > 3
    assert inside == {module for each in works() for module in each.modules}


def test_each_library_is_named_with_the_version_that_is_locked() -> None:
    """Those that pages load when asked."""
    locked = json.loads((REPOSITORY / "package-lock.json").read_text(encoding="utf-8"))["packages"]

    assert set(PACKAGES.values()) == {each.npm for each in works() if each.npm}
    for each in works():
        if each.npm:
            assert locked[f"node_modules/{each.npm}"]["version"] == each.version


def test_each_licence_of_ours_to_keep_is_of_a_work() -> None:
    """No text lies there for nothing, and none is missing or cut short."""
    kept = {path.name: path.read_text(encoding="utf-8") for path in LICENCES.iterdir()}
    ours_to_keep = [each for each in works() if not each.package]

    assert set(kept) == {each.text for each in ours_to_keep}
    for each in ours_to_keep:
        assert len(kept[each.text]) > 1000
        assert all(module in kept[each.text].lower() for module in each.modules), each.name


def test_an_installed_licence_is_read_where_it_is_installed() -> None:
    """The theme's version and text are the package's own."""
    theme = work("Material for MkDocs")

    assert distribution("mkdocs-material").version == theme.version
    installed = distribution("mkdocs-material").read_text(theme.text)
    assert installed
    assert installed == theme.installed_text
    assert "Martin Donath" in page_of("others")


def test_a_package_without_the_named_licence_stops_the_build() -> None:
    """A new version may keep it elsewhere, and nobody would notice an empty text."""
    moved = replace(work("Material for MkDocs"), text="licenses/GONE")

    with pytest.raises(PageError, match="mkdocs-material has no file licenses/GONE; say in"):
        _ = moved.installed_text


def test_the_page_names_every_work_and_its_licence() -> None:
    """Parts are named below what they are in, and once."""
    page = page_of("others")

    for each in works():
        assert 1 == page.count(f">{each.name}</a> {each.version}".strip())
        assert each.package or f"assets/licences/{each.text}" in page


def test_what_is_ours_is_shown_whole() -> None:
    """Both licences, from the files that the repository opens with."""
    page = page_of("ours")

    for file in OURS:
        for paragraph in Path(file).read_text(encoding="utf-8").strip().split("\n\n"):
            assert " ".join(paragraph.split()) in page


def test_credits_of_nobody_stop_the_build() -> None:
    """A fence says whose it wants."""
    with pytest.raises(PageError, match="there are credits of others and of ours"):
        page_of("them")


@pytest.mark.parametrize(
    "file", ["assets/fonts/nice.woff2", "assets/other.js", "assets/vendor/new/index.js"]
)
def test_a_file_that_no_work_names_stops_the_build(tmp_path: Path, file: str) -> None:
    """Whether it is a font, a script, or a library that nobody credits."""
    lay(tmp_path, "assets/style.css", "assets/vendor/pyodide/pyodide.mjs", file)

    [problem] = credit_problems(tmp_path)

    assert problem.startswith(f"{file}: the site hands it out, and Credits names nobody for it")


def test_what_is_named_and_what_is_ours_passes(tmp_path: Path) -> None:
    """The theme's files, a library's, ours, and what the build makes of ours."""
    lay(
        tmp_path,
        *("assets/javascripts/bundle.1.min.js", "assets/javascripts/workers/search.1.min.js"),
        *("assets/stylesheets/main.1.min.css", "assets/vendor/pyodide/pyodide.mjs"),
        *("assets/style.css", "assets/data/1.json", "assets/notebook/1.png"),
    )

    assert [] == credit_problems(tmp_path)


def test_what_no_page_loads_is_not_handed_out(tmp_path: Path) -> None:
    """Search in languages that no page has, and a library that an older version laid."""
    kept = {"assets/javascripts/bundle.1.min.js", "assets/vendor/pyodide/pyodide.mjs"}
    lay(tmp_path, *kept, "assets/javascripts/lunr/min/lunr.de.min.js", "assets/vendor/old.min.js")

    drop_unserved(tmp_path)

    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.js")}
    left |= {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.mjs")}
    assert kept == left


def test_every_page_leads_to_the_credits(built_site: Path) -> None:
    """Below it, from wherever it is."""
    pages = {
        page: page.read_text(encoding="utf-8")
        for page in built_site.rglob("*.html")
        if 'class="md-footer"' in page.read_text(encoding="utf-8")
    }

    assert len(pages) > 80
    assert [] == [
        page
        for page, html in pages.items()
        if not re.search(r'href="[^"]*"[^>]*>Credits</a>', html)
    ]
