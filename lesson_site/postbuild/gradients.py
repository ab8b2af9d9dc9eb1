"""The recorded gradients in a file of their own, fetched once a reader touches the slider.

The first choice is whole in HTML. ``gradient-scale.js`` fetches the counts of the others.
"""

import hashlib
import re
from functools import partial
from html import unescape
from pathlib import Path

from lesson_site.files import write_whole

FOLDER = Path("assets/floats")
COUNTS = re.compile(r'(?P<before><gradient-scale [^>]*?)data-counts="(?P<counts>[^"]+)"')


def move_gradients(site: Path) -> None:
    """Write the counts of every slider in ``site`` into a file, and its name into the page.

    Sliders of the same counts have one file. A second time changes nothing.
    """
    for path in sorted(site.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        moved = COUNTS.sub(partial(_moved, site / FOLDER), html)
        if moved != html:
            write_whole(path, moved)


def _moved(folder: Path, found: re.Match[str]) -> str:
    counts = unescape(found["counts"])
    name = f"{hashlib.sha256(counts.encode()).hexdigest()[:12]}.json"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, counts)
    return f'{found["before"]}data-at="{name}"'
