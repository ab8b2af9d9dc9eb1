"""Pages to read without the style of charts, checks and instruments.

``docs/assets/sheets`` has a style sheet for each kind of thing that some pages have and others have
not. While authors preview, a page has them all. In a finished site they are joined into one file,
and a page that needs none of them does not ask for it. It is one file, not one for what each page
needs: a reader who moves to the next page then has its style already, where a new sheet would come
after the page. A sheet's first comment says after ``On pages with:`` which elements, classes or
attributes ask for it.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from lesson_site.errors import SheetError
from lesson_site.files import write_whole

SHEETS = Path("assets/sheets")
JOINED = Path("assets/sheets.css")
ASKS = re.compile(r"\A/\*.*?On pages with:(?P<for>.*?)\*/", re.DOTALL)
LINK = re.compile(
    rf'<link rel="stylesheet" href="(?P<root>[^"]*){SHEETS.as_posix()}/(?P<name>[\w-]+)\.css">\s*'
)


def dress_pages(site: Path) -> None:
    """Join the sheets, and name them on the pages of ``site`` that need one of them.

    A second time changes nothing.

    Raises:
        SheetError: If a sheet does not say what asks for it.
    """
    sheets = {path.stem: path.read_text(encoding="utf-8") for path in site.glob(f"{SHEETS}/*.css")}
    asks = [asked_by(name, css) for name, css in sheets.items()]
    order: list[str] = []
    for path in sorted(site.rglob("*.html")) if sheets else ():
        html = path.read_text(encoding="utf-8")
        links = list(LINK.finditer(html))
        if not links:
            continue
        tag = f'<link rel="stylesheet" href="{links[0]["root"]}{JOINED.as_posix()}">\n'
        start = links[0].start()
        needed = tag if any(asked(html) for asked in asks) else ""
        write_whole(path, html[:start] + needed + LINK.sub("", html[start:]))
        order = [link["name"] for link in links]
    if order:
        write_whole(site / JOINED, "\n".join(sheets[name] for name in order))
    shutil.rmtree(site / SHEETS, ignore_errors=True)


def asked_by(name: str, css: str) -> Callable[[str], bool]:
    """Whether a page's text has what needs a sheet.

    Raises:
        SheetError: If the sheet does not say it.
    """
    found = ASKS.match(css)
    if found is None:
        raise SheetError(
            f"{SHEETS}/{name}.css: no page has it; say in its first comment, after "
            "`On pages with:`, which elements, .classes or [attributes] need it"
        )
    signs = [_sign(listed) for listed in found["for"].replace(",", " ").split()]
    # Most pages lack the word as well, which is seen sooner.
    return lambda html: any(word in html and sign.search(html) for word, sign in signs)


def _sign(listed: str) -> tuple[str, re.Pattern[str]]:
    """A word and a pattern for an element, a class or an attribute, in the text of a page."""
    word = listed.strip(".[]")
    name = re.escape(word)
    if listed.startswith("."):
        return word, re.compile(rf'class="(?:[^"]*\s)?{name}[\s"]')
    if listed.startswith("["):
        return word, re.compile(rf"<[a-z][^>]*\s{name}[\s=>]")
    return word, re.compile(rf"<{name}[\s>]")
