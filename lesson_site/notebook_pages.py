"""The companion notebook on a page: its cells and outputs, and the ways to open it.

``[notebook: FILE from "First heading" to "Other heading"]``, alone on a line, becomes the cells of
an executed notebook; the two headings, each with everything below it, are left out for all of it.
What a learner fills in is shown as they find it, with the solution closed below it.
``[open in Colab: FILE]`` becomes a button, and ``[clone this project]`` the commands that fetch it,
where the build knows the public repository, in the environment variable LESSON_REPOSITORY.
Elsewhere they become nothing: no link can be dead.
"""

import os
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

from lesson_site import notebooks
from lesson_site.deferred import spare_conversion
from lesson_site.errors import PageError
from lesson_site.notebooks import FOLDER, LEARNER, SOLUTION, NotebookError
from lesson_site.page import current_page
from lesson_site.printed_tables import text_html

SHOWN = re.compile(r'^\[notebook: (?P<file>[\w.-]+)(?: from "(?P<first>.+)" to "(?P<last>.+)")?\]$')
COLAB = re.compile(r"^\[open in Colab: (?P<file>[\w.-]+)\]$")
CLONE = "[clone this project]"
FILLED_IN = "One way to fill it in, which printed what follows"
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


class NotebookCells(Preprocessor):
    """Put the cells of a notebook where a line names it."""

    def run(self, lines: list[str]) -> list[str]:
        """Replace the lines that ask for something."""
        result: list[str] = []
        for line in lines:
            if shown := SHOWN.match(line):
                result += self._cells(shown)
            elif colab := COLAB.match(line):
                result += _colab(colab["file"])
            elif line == CLONE:
                result += _clone()
            else:
                result.append(line)
        return result

    def _cells(self, shown: re.Match[str]) -> list[str]:
        page = current_page(self.md)
        try:
            notebook = notebooks.read(FOLDER / shown["file"])
            chosen = _between(notebook["cells"], shown["first"], shown["last"])
            at = notebook["metadata"]["lesson"]
            given = _given() if shown["file"] == SOLUTION.name else {}
        except (NotebookError, KeyError) as problem:
            reason = problem if isinstance(problem, NotebookError) else "it has not been executed"
            raise PageError(f"{page.source}: {shown['file']}: {reason}") from problem
        gpu = f"{at['gpu']}, " if at.get("gpu") else ""
        where = f"{gpu}{at['processor']}, PyTorch {at['torch']}, {at['date']}"

        def output(content: dict[str, Any]) -> str:
            return self.md.htmlStash.store(_output(content, where))

        # where the page is served live, its cells can run, each after those above it
        runs = f"{FOLDER.name}/{shown['file']}"
        return list(_as_markdown(chosen, given, output, runs))


def _given() -> dict[str, str]:
    """What a learner finds in each cell that they fill in, by its id."""
    cells = notebooks.read(LEARNER)["cells"]
    return {
        cell["id"]: cell["source"]
        for cell in cells
        if any(tag.startswith("exercise-") for tag in _tags(cell))
    }


def _tags(cell: dict[str, Any]) -> list[str]:
    tags: list[str] = cell["metadata"].get("tags", [])
    return tags


def _between(
    cells: list[dict[str, Any]], first: str | None, last: str | None
) -> list[dict[str, Any]]:
    """The cells from one heading to the end of what is below another."""
    if first is None or last is None:
        return cells
    starts = {
        cell["source"].splitlines()[0].lstrip("# "): number
        for number, cell in enumerate(cells)
        if cell["cell_type"] == "markdown" and cell["source"].startswith("#")
    }
    missing = [heading for heading in (first, last) if heading not in starts]
    if missing:
        raise NotebookError(f"no cell begins with the heading {missing[0]!r}")
    after = [number for number in starts.values() if number > starts[last]]
    return cells[starts[first] : min(after, default=len(cells))]


def _as_markdown(
    cells: list[dict[str, Any]], given: dict[str, str], output: Any, runs: str
) -> Iterator[str]:
    """The lines of a page that say what the cells say."""
    for cell in cells:
        yield ""
        if cell["cell_type"] == "markdown":
            yield from _text(cell["source"])
            continue
        code = ["```python", *cell["source"].splitlines(), "```"]
        if cell["id"] in given:
            yield from ("```python", *given[cell["id"]].splitlines(), "```")
            yield from ("", f'??? success "{FILLED_IN}"', *(f"    {line}" for line in code))
        # Machinery and checks are whole modules of tested code, and a prediction is the learner's.
        elif not any(
            tag in ("machinery", "prediction") or tag.startswith("check-") for tag in _tags(cell)
        ):
            yield from code
        outputs = [{**one, "alt": cell["metadata"].get("alt", "")} for one in cell["outputs"]]
        if outputs:
            outputs[-1]["runs"] = f"{runs}#{cell['id']}"
        for one in outputs:
            yield from ("", output(one))


def _text(text: str) -> Iterator[str]:
    """A text cell without the notebook's title; its folded part becomes a box of the site."""
    box = False
    for line in text.splitlines():
        folded = re.match(r"<details><summary>(.*)</summary>", line)
        if folded:
            box = True
            yield f'!!! success "{folded[1]}"'
        elif line == "</details>":
            box = False
        elif not line.startswith("# "):
            yield f"    {line}" if box and line else line


def _output(content: dict[str, Any], where: str) -> str:
    """What a cell printed or drew."""
    caption = f"<figcaption>Recorded on {escape(where)}.</figcaption>"
    runs = f' data-runs="{escape(content["runs"])}"' if "runs" in content else ""
    if content["output_type"] == "stream":
        return f'<figure class="output"{runs}>{text_html(content["text"].rstrip())}</figure>'
    image = content.get("data", {}).get("image/png")
    if image is None:
        raise PageError(f"an output of a kind that pages do not show: {content['output_type']}")
    return (
        f'<figure class="output drawn"{runs}><img src="data:image/png;base64,{image}" '
        f'alt="{escape(content["alt"])}">{caption}</figure>'
    )


def _colab(file: str) -> list[str]:
    """A link to the public copy of the notebook; nothing where there is none."""
    repository = _public_repository()
    address = f"https://colab.research.google.com/github/{repository}/blob/main/{FOLDER}/{file}"
    return [f"[Open in Colab]({address}){{ .md-button }}"] if repository else []


def _clone() -> list[str]:
    """The commands that fetch the project; none where it is not public."""
    repository = _public_repository()
    folder = repository.rpartition("/")[2]
    clone = f"$ git clone https://github.com/{repository}"
    return [clone, f"$ cd {folder}"] if repository else []


def _public_repository() -> str:
    """What LESSON_REPOSITORY says, as ``owner/name``, or nothing."""
    repository = os.environ.get("LESSON_REPOSITORY", "")
    if repository and not REPOSITORY.fullmatch(repository):
        raise PageError(f"LESSON_REPOSITORY is {repository!r}; write it as owner/name, or unset it")
    return repository


class NotebookPages(Extension):
    """Registers the preprocessor."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """After Python typed by hand is refused (35), before superfences reads its blocks (25)."""
        md.preprocessors.register(NotebookCells(md), "lesson-notebook", 30)


def makeExtension(**options: Any) -> NotebookPages:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.notebook_pages]`` find the extension."""
    spare_conversion()
    return NotebookPages(**options)
