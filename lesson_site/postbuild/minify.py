"""What browsers load, without what only authors need: comments, spacing, long spellings.

``minify-html`` shortens our style sheets, our scripts and those in pages; it takes them as a page
has them, between the tags of an element, and leaves comments in scripts to us. Pages keep their
quotes and closing tags, as what follows in this pass reads them, and lose spacing between tags.
"""

import re
from functools import partial
from pathlib import Path

import minify_html

from lesson_site.files import write_whole
from lesson_site.postbuild.comments import without_comments

SHEETS = (
    "assets/style.css",
    "assets/mission/mission.css",
    "assets/elements/race/race.css",
)
SCRIPTS = ("assets/lesson.js", "assets/elements/**/*.js")
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
    """A style sheet that says the same in fewer bytes."""
    return _inside("style", minify_html.minify(f"<style>{css}</style>", minify_css=True))


def minify_js(script: str, *, module: bool = False) -> str:
    """A script that does the same in fewer bytes.

    Args:
        script: Its text.
        module: Whether it may import and export.
    """
    opening = "<script type=module>" if module else "<script>"
    short = minify_html.minify(f"{opening}{script}</script>", minify_js=True)
    return without_comments(_inside("script", short)).strip()


def minify_page(html: str) -> str:
    """A page that shows the same in fewer bytes."""
    short = OURS.sub(lambda found: minify_js(found[0]), html)
    parts = []
    end = 0
    for kept in AS_IT_IS.finditer(short):
        parts += [BETWEEN_TAGS.sub(_one_space, short[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*parts, BETWEEN_TAGS.sub(_one_space, short[end:])])


def _one_space(found: re.Match[str]) -> str:
    return "\n" if "\n" in found[0] else " "


def _inside(tag: str, element: str) -> str:
    """The text of an element, which has to be the only one."""
    found = re.fullmatch(rf"<{tag}[^>]*>(.*)</{tag}>", element, re.DOTALL)
    assert found, f"a text of ours holds </{tag}>, with which it ends in a page"
    return found[1]


def _replace(path: Path, text: str, short: str) -> None:
    if short != text:
        write_whole(path, short)
