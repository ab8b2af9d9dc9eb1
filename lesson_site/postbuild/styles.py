"""Our style sheets without their comments, which are for authors and not for readers' lines."""

import re
from pathlib import Path

from lesson_site.files import write_whole

SHEETS = (
    "assets/style.css",
    "assets/mission/mission.css",
    "assets/elements/race/race.css",
)
# A text in quotes is taken first, and kept: what looks like a comment in it is none.
TEXT_OR_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|/\*.*?\*/""", re.DOTALL)


def strip_comments(site: Path) -> None:
    """Take the comments out of our style sheets in ``site``; a second time changes nothing."""
    for sheet in SHEETS:
        path = site / sheet
        if not path.is_file():
            continue
        css = path.read_text(encoding="utf-8")
        short = re.sub(r"\n\s*\n+", "\n", TEXT_OR_COMMENT.sub(lambda found: found[1] or "", css))
        if short != css:
            write_whole(path, short)
