"""The page that mkdocs-jupyter makes of the executed notebook, in the site's own dress.

mkdocs-jupyter puts JupyterLab's style sheets and scripts into the page, some of which ask other
hosts, and the code of each cell twice. Here a cell becomes what code, outputs and text are on
every other page, so that their style serves it. Machinery, which mkdocs-jupyter leaves out as
``mkdocs.yml`` asks, is folded, and has neither colours nor docstrings.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any

from lesson_site.files import write_whole
from lesson_site.notebooks import SOLUTION, NotebookError

PAGE = Path("notebooks/as-it-ran/index.html")
PICTURES = Path("assets/notebook")
INDEX = Path("search/search_index.json")
TITLE = "The notebook, as it ran"
# A notebook has no front matter for them; the second, as its text is that of the exercises' pages.
ABOUT = "The notebook of the lesson with its solutions and what every cell printed, on one page."
HEAD = f'<meta name="description" content="{ABOUT}">\n<meta name="robots" content="noindex">'
MACHINERY = ("machinery", "check-")

DESCRIPTION = re.compile(r"<meta name=[\"']?description[\"']? [^>]*>")
CONTENT = re.compile(r"(?<=<article class=\"md-content__inner md-typeset\">).*(?=</article>)", re.S)
# JupyterLab's page has each cell in two boxes, the inner of which has the cell's name.
CELL = re.compile(r'<div class="jp-Cell [^>]* id="cell-id=([\w-]+)">')
TEXT = re.compile(r'jp-MarkdownOutput"[^>]*>\s*(.*?)(?:\s*</div>)+\s*(?:<div|$)', re.S)
PROMPT = re.compile(r'jp-InputArea-prompt">(In[^<]*):</div>')
FENCE = re.compile(r'<div class="highlight"><pre>(?:<span></span>)?(.*?)</pre></div>', re.S)
CODE = re.compile(r'<div class="highlight-ipynb[^>]*><pre>(.*?)</pre></div>', re.S)
OUTPUT = re.compile(
    r'jp-OutputArea-output"[^>]*>\s*'
    r'(?:<pre>(?P<text>.*?)</pre>|<img[^>]*src="data:image/png;base64,(?P<picture>[^"]*)"|(?P<other>))',
    re.S,
)
HEADING = re.compile(r"<h1[^>]*>.*?</h1>", re.S)
# As `lesson_site.extension` leaves those of pages.
HEADING_LINK = 'class="headerlink" title="Link to this heading" aria-hidden="true" tabindex="-1"'
ANCHOR = re.compile(r'<a class="anchor-link" href="([^"]+)">')
DOCSTRING = re.compile(r'\n +""".*?"""(?=\n)', re.S)


def tidy_notebook(site: Path) -> None:
    """Make the notebook's page in ``site`` one like the others, if the site has it.

    A second time changes nothing.

    Raises:
        NotebookError: If an output is of a kind that pages do not show.
    """
    path = site / PAGE
    html = path.read_text(encoding="utf-8") if path.is_file() else ""
    content = CONTENT.search(html)
    if content is None or "jupyter-wrapper" not in content[0]:
        return
    notebook = json.loads(SOLUTION.read_text(encoding="utf-8"))
    run = notebook["metadata"]["lesson"]
    where = (run["gpu"], run["processor"], f"PyTorch {run['torch']}", run["date"])
    ran = escape(", ".join(filter(None, where)))
    heading = f'<h1 id="gpu-training">{TITLE}</h1>\n<p>Recorded on {ran}.</p>'
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    parts = CELL.split(content[0])[1:]
    text = "\n".join(
        part
        for name, cell in zip(parts[::2], parts[1::2], strict=True)
        for part in _cell(name, cell, cells[name], site)
    )
    text = HEADING.sub(lambda _: heading, text, count=1)
    text = ANCHOR.sub(rf'<a {HEADING_LINK} href="\1">', text)
    before = DESCRIPTION.sub(HEAD, html[: content.start()], count=1)
    write_whole(path, f"{before}\n{text}\n{html[content.end() :]}")
    _leave_out_of_search(site)


def _cell(name: str, html: str, cell: dict[str, Any], site: Path) -> Iterator[str]:
    """A cell's text, or its code and its outputs, as HTML of the site."""
    # Here, since a GPU's machine imports this package without the site's tools.
    from lesson_site.printed_tables import text_html

    text = TEXT.search(html)
    if text:
        yield FENCE.sub(lambda fence: _block(fence[1]), text[1])
        return
    about = cell["metadata"]
    code = CODE.search(html)
    prompt = PROMPT.search(html)
    first = "output"
    if any(tag.startswith(MACHINERY) for tag in about.get("tags", [])):
        yield _folded(name, "".join(cell["source"]))
    elif code and prompt:
        yield _code(name, code[1], prompt[1])
        first = "output of-code"
    for number, output in enumerate(OUTPUT.finditer(html)):
        if output["text"] is not None:
            shown = text_html(unescape(output["text"]).rstrip())
            yield f'<figure class="{"output" if number else first}">{shown}</figure>'
        elif output["picture"]:
            yield _picture(base64.b64decode(output["picture"]), about.get("alt", ""), site)
        else:
            raise NotebookError(f"{SOLUTION}: an output of a kind that pages do not show")


def _code(name: str, html: str, prompt: str) -> str:
    block = _block(html)
    return f'<figure class="code" id="{name}">{block}<figcaption>{prompt}</figcaption></figure>'


def _folded(name: str, code: str) -> str:
    plain = DOCSTRING.sub("", escape(code, quote=False)).strip()
    summary = f"{len(plain.splitlines())} lines of machinery, docstrings left out"
    return f'<details id="{name}"><summary>{summary}</summary>{_block(plain)}</details>'


def _block(code: str) -> str:
    return f'<div class="highlight"><pre><code>{code}</code></pre></div>'


def _picture(content: bytes, alt: str, site: Path) -> str:
    """A picture in a file of its own, loaded when a reader comes near."""
    file = PICTURES / f"{hashlib.sha256(content).hexdigest()[:12]}.png"
    (site / PICTURES).mkdir(parents=True, exist_ok=True)
    (site / file).write_bytes(content)
    image = f'<img src="../../{file}" alt="{escape(alt)}" loading="lazy">'
    return f'<figure class="output drawn">{image}</figure>'


def _leave_out_of_search(site: Path) -> None:
    """Take the page out of the index: the pages of the exercises have the same sentences."""
    path = site / INDEX
    index = json.loads(path.read_text(encoding="utf-8"))
    at = PAGE.parent.as_posix()
    index["docs"] = [entry for entry in index["docs"] if not entry["location"].startswith(at)]
    write_whole(path, json.dumps(index, ensure_ascii=False, separators=(",", ":")))
