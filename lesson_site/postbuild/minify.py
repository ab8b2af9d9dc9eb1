"""What browsers load, without what only authors need: comments, spacing, long spellings.

``minify-html`` shortens our scripts and those in pages; it takes them as a page has them, between
the tags of an element, and leaves their comments to us. Of style sheets it writes some properties
as others that browsers refuse, so these lose comments and spacing here. Pages keep their quotes and
closing tags, as what follows in this pass reads them, and lose spacing between tags.
"""

import re
from functools import cache, partial
from pathlib import Path

import minify_html

from lesson_site.files import write_whole
from lesson_site.highlighting import in_few_spans
from lesson_site.postbuild.comments import without_comments

SHEETS = (
    "assets/style.css",
    "assets/sheets.css",
    "assets/mission/mission.css",
    "assets/elements/race/race.css",
)
SCRIPTS = ("assets/lesson.js", "assets/elements/**/*.js")
# A text in quotes is taken first, and kept: what looks like a comment in it is none.
TEXT_OR_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|/\*.*?\*/""", re.DOTALL)
# Before a colon they separate selectors; behind it they do not.
SPACES = re.compile(r"[;\s]*(\})\s*|\s*([{;,])\s*|(:)\s+|\s+")
OURS = re.compile(r"(?<=<script>)\n(?=//).*?(?=</script>)", re.DOTALL)  # opens with a comment
# In these every space counts; between other tags, one counts as much as many.
AS_IT_IS = re.compile(r"<(pre|code|textarea|script|style)\b.*?</\1>", re.DOTALL)
BETWEEN_TAGS = re.compile(r"(?<=>)\s{2,}(?=<)")


def minify_files(site: Path) -> None:
    """Shorten our style sheets and scripts in ``site``; a second time changes nothing."""
    for patterns, minify in ((SHEETS, minify_css), (SCRIPTS, partial(minify_js, module=True))):
        for pattern in patterns:
            for path in site.glob(pattern):
                text = path.read_text(encoding="utf-8")
                _replace(path, text, minify(text))


def minify_pages(site: Path) -> None:
    """Take the spacing between tags out of all pages, and shorten our scripts in them."""
    for path in site.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        _replace(path, html, minify_page(html))


def minify_css(css: str) -> str:
    """A style sheet without comments, its spaces only where they mean something."""
    bare = TEXT_OR_COMMENT.sub(lambda found: found[1] or "", css)
    parts = TEXT_OR_COMMENT.split(bare)  # every second one is a text in quotes
    parts[::2] = [
        SPACES.sub(lambda found: found[found.lastindex or 0].strip() or " ", p) for p in parts[::2]
    ]
    return "".join(parts).strip()


@cache  # most pages have the same scripts
def minify_js(script: str, *, module: bool = False) -> str:
    """A script that does the same in fewer bytes.

    Args:
        script: Its text.
        module: Whether it may import and export.
    """
    opening = "<script type=module>" if module else "<script>"
    short = minify_html.minify(f"{opening}{script}</script>", minify_js=True)
    assert "</script" not in script, "in a page the script would end there"
    return without_comments(short.removeprefix(opening).removesuffix("</script>")).strip()


def minify_page(html: str) -> str:
    """A page that shows the same in fewer bytes."""
    short = in_few_spans(OURS.sub(lambda found: minify_js(found[0]), html))
    parts = []
    end = 0
    for kept in AS_IT_IS.finditer(short):
        parts += [BETWEEN_TAGS.sub(_one_space, short[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*parts, BETWEEN_TAGS.sub(_one_space, short[end:])])


def _one_space(found: re.Match[str]) -> str:
    return "\n" if "\n" in found[0] else " "


def _replace(path: Path, text: str, short: str) -> None:
    if short != text:
        write_whole(path, short)
