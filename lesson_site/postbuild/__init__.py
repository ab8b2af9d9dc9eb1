"""The pass over the built site: what no Markdown extension can see, since it needs every page.

It packs notebooks, labs and forecast for work elsewhere, gives the executed notebook's page the
site's own dress, and each page the style of what is on it, shortens our files and pages, takes what
scripts need later out of pages, leads old addresses to new ones, drops what no page loads, and what
nothing matches from the theme's style sheets, which go with ours into one file, checks credits and
each page's links, hosts, leftovers and size, and then writes into all of them the
Content-Security-Policy, and what a shared link shows. A second run changes nothing.
"""

from pathlib import Path

from lesson_site.apart import move_apart
from lesson_site.errors import SiteError
from lesson_site.files import write_whole
from lesson_site.postbuild.bundle import (
    pack_exercises,
    pack_forecast,
    pack_lab,
    pack_measuring,
    pack_notebook,
)
from lesson_site.postbuild.documents import Document, read_documents
from lesson_site.postbuild.dress import dress_pages
from lesson_site.postbuild.leftovers import leftover_problems
from lesson_site.postbuild.links import Links, stylesheet_and_script_problems
from lesson_site.postbuild.minify import minify_files, minify_pages
from lesson_site.postbuild.notebook import tidy_notebook
from lesson_site.postbuild.policy import policy_of, policy_problems, with_policy
from lesson_site.postbuild.redirects import write_redirects
from lesson_site.postbuild.rules import drop_unmatched_rules, join_sheets
from lesson_site.postbuild.sizes import Size, measure, size_problems
from lesson_site.sharing.heads import share


def finish(folder: Path) -> tuple[list[str], list[Size]]:
    """Check the site in ``folder``, and write its policy if nothing is wrong.

    Returns:
        Every problem as ``page: what, what to do``, and the size of every page.

    Raises:
        SiteError: If ``folder`` holds no built site.
    """
    # It is a fence as well, and a GPU machine packs its notebook without what fences need.
    from lesson_site.credits import credit_problems, drop_unserved

    if not (folder / "index.html").is_file():
        raise SiteError(f"{folder} holds no built site; run `mkdocs build --strict` first")
    pack_notebook(folder)
    pack_lab(folder)
    pack_exercises(folder)
    pack_measuring(folder)
    pack_forecast(folder)
    tidy_notebook(folder)
    dress_pages(folder)
    minify_files(folder)
    move_apart(folder)
    minify_pages(folder)
    write_redirects(folder)
    drop_unserved(folder)
    drop_unmatched_rules(folder)
    join_sheets(folder)
    documents = read_documents(folder)
    links = Links(documents, folder)
    sizes = [measure(document, folder) for document in documents]
    problems = [
        *credit_problems(folder),
        *stylesheet_and_script_problems(folder),
        *(problem for page in documents for problem in _problems(page, links)),
        *(problem for size in sizes for problem in size_problems(size)),
    ]
    if not problems:
        policy = policy_of(documents)
        for document in documents:
            _write(folder / document.path, with_policy(document.html, policy))
        problems = share(folder)
    return problems, sizes


def _problems(page: Document, links: Links) -> list[str]:
    return [
        *links.problems(page),
        *leftover_problems(page),
        *policy_problems(page),
    ]


def _write(path: Path, html: str) -> None:
    if html != path.read_text(encoding="utf-8"):
        write_whole(path, html)
