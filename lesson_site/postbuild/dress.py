"""Each page with the style of what is on it, and no other.

``docs/assets/sheets`` has a style sheet for each kind of thing that some pages have and most have
not: charts, checks, an instrument. While authors preview, a page has them all. In a finished site
it has those that it needs, joined into one file, so that it asks for one file more; checks, which
half of the pages have, are a file of their own, which browsers keep from page to page. A sheet's
first comment says after ``On pages with:`` which elements, classes or attributes ask for it.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from lesson_site.files import write_whole

SHEETS = Path("assets/sheets")
JOINED = Path("assets/dress")
ALONE = ("check",)
ASKS = re.compile(r"\A/\*.*?On pages with:(?P<for>.*?)\*/", re.DOTALL)
LINK = re.compile(
    rf'<link rel="stylesheet" href="(?P<root>[^"]*){SHEETS.as_posix()}/(?P<name>[\w-]+)\.css">\s*'
)


class SheetError(ValueError):
    """A style sheet that says nowhere which pages need it."""


def dress_pages(site: Path) -> None:
    """Give each page of ``site`` the sheets that it asks for.

    A second time changes nothing.

    Raises:
        SheetError: If a sheet does not say what asks for it.
    """
    sheets = {path.stem: path.read_text(encoding="utf-8") for path in site.glob(f"{SHEETS}/*.css")}
    asks = {name: asked_by(name, css) for name, css in sheets.items()}
    for path in sorted(site.rglob("*.html")) if sheets else ():
        html = path.read_text(encoding="utf-8")
        links = list(LINK.finditer(html))
        if not links:
            continue
        needed = [link["name"] for link in links if asks[link["name"]](html)]
        alone = [[name] for name in needed if name in ALONE]
        others = [name for name in needed if name not in ALONE]
        files = [_joined(names, sheets, site) for names in [*alone, others] if names]
        tags = [f'<link rel="stylesheet" href="{links[0]["root"]}{file}">\n' for file in files]
        start = links[0].start()
        write_whole(path, "".join([html[:start], *tags, LINK.sub("", html[start:])]))
    shutil.rmtree(site / SHEETS, ignore_errors=True)


def _joined(names: list[str], sheets: dict[str, str], site: Path) -> str:
    """The file in which these sheets are one, written if it is not there."""
    file = JOINED / f"{'-'.join(names)}.css"
    if not (site / file).is_file():
        (site / JOINED).mkdir(exist_ok=True)
        write_whole(site / file, "\n".join(sheets[name] for name in names))
    return file.as_posix()


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
