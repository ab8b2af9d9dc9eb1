"""The data of each chart in a file of its own, which the browser fetches once a reader needs it.

A chart is whole in HTML: drawing, caption, table. Its data is needed when somebody points at it,
has a machine of their own, or chose another card; `interactive-chart.js` fetches it then.
"""

import hashlib
import json
import re
from functools import partial
from html import unescape
from pathlib import Path

from lesson_site.files import write_whole

FOLDER = Path("assets/charts")
CHART = re.compile(
    r'<interactive-chart data-chart="(?P<chart>[^"]+)"(?: data-cards="(?P<cards>[^"]+)")?'
)


def move_chart_data(site: Path) -> None:
    """Write the data of every chart in ``site`` into a file, and its name into the page.

    Charts of the same data have one file. A second time changes nothing.
    """
    for path in sorted(site.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        moved = CHART.sub(partial(_moved, site / FOLDER), html)
        if moved != html:
            write_whole(path, moved)


def _moved(folder: Path, found: re.Match[str]) -> str:
    """The chart's opening, with the name of its file; ``data-cards`` says that it has cards."""
    parts = {name: json.loads(unescape(text or "{}")) for name, text in found.groupdict().items()}
    data = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    name = f"{hashlib.sha256(data.encode()).hexdigest()[:12]}.json"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, data)
    cards = ' data-cards=""' if parts["cards"] else ""
    return f'<interactive-chart data-at="{name}"{cards}'
