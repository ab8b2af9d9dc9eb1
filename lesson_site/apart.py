"""What scripts need later goes into files of its own, which the browser fetches once a reader acts.

A page is whole in HTML. Data that an element needs when somebody touches it is in its attribute
``data-apart`` while authors preview; a finished site has it in a file that ``data-at`` names.
"""

import hashlib
import json
import re
from functools import partial
from html import escape, unescape
from pathlib import Path
from typing import Any

from lesson_site.files import write_whole

FOLDER = Path("assets/data")
APART = re.compile(r' data-apart="(?P<data>[^"]*)"')


def apart(data: Any) -> str:
    """The attribute with an element's data, as JSON that is as short as can be."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f' data-apart="{escape(text)}"'


def move_apart(site: Path) -> None:
    """Write the data of every such element in ``site`` into a file, and its name into the page.

    Elements with the same data have one file. A second time changes nothing.
    """
    for path in sorted(site.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        moved = APART.sub(partial(_moved, site / FOLDER), html)
        if moved != html:
            write_whole(path, moved)


def _moved(folder: Path, found: re.Match[str]) -> str:
    data = unescape(found["data"])
    name = f"{hashlib.sha256(data.encode()).hexdigest()[:12]}.json"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, data)
    return f' data-at="{name}"'
