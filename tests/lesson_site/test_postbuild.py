"""The pass over the built site refuses what would hurt a reader, and writes the policy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lesson_site.__main__ import main
from lesson_site.postbuild import finish
from lesson_site.postbuild.sizes import BUDGET_ELEMENTS, BUDGET_KB, size_table

PAGE = """<!doctype html>
<html lang="en"><head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="canonical" href="https://example.org/lesson/{address}">
{head}</head><body><article>{body}</article>
<script>start("{title}")</script></body></html>
"""
Site = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Builds a site of two pages, the first with the given body and head."""

    def build(body: str = "", head: str = "", **files: str) -> Path:
        (tmp_path / "other").mkdir()
        home = PAGE.format(title="Home", address="", head=head, body=body)
        there = '<h2 id="here">Here</h2><a href="..">up</a>'
        other = PAGE.format(title="Other", address="other/", head="", body=there)
        (tmp_path / "index.html").write_text(home)
        (tmp_path / "other" / "index.html").write_text(other)
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_text(content)
        return tmp_path

    return build


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other/#here">good</a> <a href="/lesson/other/">absolute</a> <a href="#">top</a>',
        '<a href="https://pytorch.org/docs/">for reading</a> <a href="mailto:a@b.org">write</a>',
        '<img src="a.svg" srcset="a.svg 1x, a.svg 2x" alt=""><a href="a.svg">drawn</a>',
        '<img src="data:image/gif;base64,R0" alt="">',
        "<pre>a[0][1] // [[x]]</pre><p>Write <code>a[^b]</code>.</p>",
    ],
)
def test_a_sound_page_passes(site: Site, body: str) -> None:
    """What a reader can follow and what the site holds itself is let through."""
    folder = site(body, a_svg="<svg/>")

    problems, _ = finish(folder)

    assert [] == problems


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="nowhere/">x</a>', "nowhere/ leads nowhere; correct it"),
        ('<a href="other/#there">x</a>', "other/#there names no heading of other/index.html"),
        ('<a href="#there">x</a>', "#there names no heading of index.html"),
        ('<a href="other">x</a>', "other lacks the slash at its end"),
        ('<a href="../../up/">x</a>', "leads out of the site"),
        ('<a href="a.py#L3">x</a>', "names a place in a file that has none"),
        ('<a href="javascript:void(0)">x</a>', "can't be used"),
        ('<img src="lost.png" alt="">', "lost.png leads nowhere"),
        ('<img srcset="a.py 1x, lost.png 2x" alt="">', "lost.png leads nowhere"),
        ('<img src="https://example.org/a.png" alt="">', "<img> asks another host"),
        ('<img srcset="//cdn.example.org/a.png 2x" alt="">', "<img> asks another host"),
        ('<iframe src="https://example.org/"></iframe>', "<iframe> asks another host"),
        ('<script src="https://example.org/a.js"></script>', "<script> asks another host"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "asks another host"),
        ('<link rel="preconnect" href="https://example.org">', "asks another host"),
        ('<svg><use href="https://example.org/a.svg#b"/></svg>', "<use> asks another host"),
        ('<form action="https://example.org/"></form>', "a form sends to https://example.org/"),
        ("<p>A note[^1].</p>", "is a footnote that is defined nowhere"),
        ("<p>See [this][that].</p>", "is a link whose address is defined nowhere"),
        ("<p>/// answer</p>", "is a block that Markdown did not recognise"),
        ("<p>--8&lt;-- [start:a]</p>", "is a section marker"),
        ("<math><mi>\\unknown</mi></math>", "is TeX that was not understood"),
        ("<p>[[nope]]</p>", "is a figure that was not filled in"),
        ('<p style="color: red">x</p>', "<p> carries a style"),
        ('<p onclick="go()">x</p>', "<p> carries a script in an attribute"),
        ('<template><p onclick="go()">x</p></template>', "<p> carries a script in an attribute"),
        ('<script type="application/json">{}</script>', "instant navigation runs as code"),
    ],
)
def test_a_flaw_is_named_with_its_page_and_its_remedy(site: Site, body: str, said: str) -> None:
    """Every flaw gives one line: the page, what is wrong, and after a semicolon what to do."""
    folder = site(body, a_py="x = 1")

    problems, _ = finish(folder)

    assert 1 == len(problems)
    assert problems[0].startswith("index.html: ")
    assert said in problems[0]
    assert ";" in problems[0]


@pytest.mark.parametrize(
    "files",
    [
        {"a_css": "p { background: url('https://example.org/a.png') }"},
        {"a_css": "@import '//example.org/a.css';"},
        {"a_js": "import { a } from 'https://example.org/a.js';"},
        {"a_mjs": "const a = await import('https://example.org/a.js');"},
        {"a_js": "fetch(`https://example.org/data`)"},
    ],
)
def test_a_file_that_fetches_from_another_host_is_refused(
    site: Site, files: dict[str, str]
) -> None:
    """Style sheets and scripts are read as well, whether or not a page uses them."""
    folder = site(**files)

    problems, _ = finish(folder)

    assert 1 == len(problems)
    assert "from another host; keep a copy in docs/assets" in problems[0]


def test_an_address_in_a_string_is_no_request(site: Site) -> None:
    """Material's bundle names a host that it asks only for pages with diagrams in Mermaid."""
    folder = site(a_js="const address = 'https://example.org/a.js';")

    problems, _ = finish(folder)

    assert [] == problems


def test_all_flaws_are_listed_and_nothing_is_written(site: Site) -> None:
    """One run names every flaw, and leaves the site as it was."""
    folder = site('<a href="nowhere/">x</a><img src="lost.png" alt=""><p>[[nope]]</p>')
    before = (folder / "index.html").read_text()

    problems, _ = finish(folder)

    assert 3 == len(problems)
    assert before == (folder / "index.html").read_text()


def test_every_page_allows_the_inline_scripts_of_all_pages(site: Site) -> None:
    """Instant navigation runs the next page's scripts under the first page's policy."""
    folder = site()

    finish(folder)

    pages = [(folder / name).read_text() for name in ("index.html", "other/index.html")]
    policies = [page.split('Security-Policy" content="')[1].split('"')[0] for page in pages]
    assert policies[0] == policies[1]
    assert 2 == policies[0].split("; ")[1].count("sha256-")
    assert not {"'unsafe-inline'", "'unsafe-eval'"} & set(policies[0].split())
    assert all(page.index("Security-Policy") < page.index("<script") for page in pages)


def test_no_page_asks_for_the_next_one(site: Site) -> None:
    """Firefox would fetch it before the reader asks, and complain of the policy that stops it."""
    folder = site(head='<link rel="prev" href="other/">\n<link rel="next" href="other/">\n')

    problems, _ = finish(folder)

    text = (folder / "index.html").read_text()
    assert [] == problems
    assert 'rel="prev"' in text
    assert 'rel="next"' not in text


def test_a_second_run_changes_nothing(site: Site) -> None:
    """The pass may run on its own output."""
    folder = site()
    finish(folder)
    once = (folder / "index.html").read_bytes()

    problems, _ = finish(folder)

    assert [] == problems
    assert once == (folder / "index.html").read_bytes()


def test_a_heavy_page_is_refused(site: Site) -> None:
    """The budget holds for everything that a first visit loads, and names the page."""
    many = "".join(f"/* {i * 7919 % 99991} */" for i in range(60_000))
    folder = site("<p>x</p>" * 2000, '<link rel="stylesheet" href="a.css">', a_css=many)

    problems, sizes = finish(folder)

    assert ["index.html", "index.html"] == [problem.split(":")[0] for problem in problems]
    assert f"kB compressed are over the budget of {BUDGET_KB:.0f}" in problems[0]
    assert f"elements are over the budget of {BUDGET_ELEMENTS}" in problems[1]
    assert "index.html" in size_table(sizes, 1)


def test_what_a_first_visit_loads_is_counted(site: Site) -> None:
    """Imports of style sheets and modules count; what waits for the reader does not."""
    folder = site(
        '<img src="a.png" alt=""><img src="b.png" loading="lazy" alt="">',
        '<link rel="stylesheet" href="a.css"><script type="module" src="a.js"></script>',
        a_css="@import 'b.css';",
        b_css="p {}",
        a_js="import { b } from './b.js';\nconst later = () => import('./c.js');",
        b_js="export const b = 1;",
        c_js="",
        a_png="",
        b_png="",
    )

    _, sizes = finish(folder)

    assert {"a.css", "b.css", "a.js", "b.js", "a.png"} == set(sizes[0].files)


def test_the_whole_lesson_page_has_no_budget(site: Site) -> None:
    """It is made for printing, and holds every page of its track."""
    folder = site()
    (folder / "whole-lesson").mkdir()
    body = "<p>x</p>" * 3000
    html = PAGE.format(title="All", address="whole-lesson/", head="", body=body)
    (folder / "whole-lesson" / "index.html").write_text(html)

    problems, _ = finish(folder)

    assert [] == problems


def test_the_command_prints_each_flaw_and_returns_two(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """``finish`` speaks in one line for each flaw, on standard error."""
    folder = site('<a href="nowhere/">x</a><p>[[nope]]</p>')

    code = main(["finish", str(folder)])

    said = capsys.readouterr().err.splitlines()
    assert 2 == code
    assert 2 == len(said)
    assert all(line.startswith("error: index.html: ") for line in said)


def test_a_folder_without_a_site_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong folder is one sentence, and says how to get a site."""
    code = main(["finish", str(tmp_path)])

    assert 2 == code
    assert f"error: {tmp_path} holds no built site; run `mkdocs build --strict` first\n" == (
        capsys.readouterr().err
    )
