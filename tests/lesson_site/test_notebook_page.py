"""The executed notebook's page, after the pass over the built site."""

import json
from html import escape
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from lesson_site.notebooks import LEARNER, SOLUTION, NotebookError
from lesson_site.postbuild.notebook import DOCSTRING, INDEX, PAGE, PICTURES, tidy_notebook

CELLS: list[dict[str, Any]] = json.loads(SOLUTION.read_text(encoding="utf-8"))["cells"]
CELL = """\
<article class="md-content__inner md-typeset"><div class="jupyter-wrapper">
<div class="jp-Cell jp-CodeCell" id="cell-id=cell-01">
<div class="jp-OutputArea-output" tabindex="0">{}</div></div></div></article>"""


@pytest.fixture(scope="module")
def page(built_site: Path) -> BeautifulSoup:
    """The content of the real page."""
    html = (built_site / PAGE).read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser").article


def squeezed(text: str) -> str:
    """A text without its spaces and line breaks."""
    return "".join(text.split())


def test_every_code_cell_is_on_the_page(page: BeautifulSoup) -> None:
    """Each has its code once, in the notebook's order: whole, or without docstrings if folded."""
    whole = ["".join(c["source"]) for c in CELLS if c["cell_type"] == "code"]

    shown = page.select("[id^=cell-]")

    expected = [
        squeezed(DOCSTRING.sub("", code) if cell.name == "details" else code)
        for code, cell in zip(whole, shown, strict=True)
    ]
    assert expected == [squeezed(cell.code.get_text()) for cell in shown]


def test_every_text_cell_is_on_the_page(page: BeautifulSoup) -> None:
    """Each heading of the notebook is a heading of the page, but for its title."""
    lines = [line for c in CELLS if c["cell_type"] == "markdown" for line in c["source"]]
    expected = [line.lstrip("# ").strip() for line in lines if line.startswith("## ")]

    assert expected == [heading.get_text().rstrip("¶") for heading in page.select("h2")]


def test_every_output_is_on_the_page(page: BeautifulSoup) -> None:
    """What the cells printed and drew is there, in their order."""
    outputs = [output for cell in CELLS for output in cell.get("outputs", [])]
    printed = [squeezed("".join(one["text"])) for one in outputs if "text" in one]

    shown = page.select("figure.output")

    assert len(outputs) == len(shown)
    assert printed == [squeezed(one.get_text()) for one in shown if not one.img]


def test_only_machinery_is_folded(page: BeautifulSoup) -> None:
    """A cell is closed where its tag says that there is no need to read it."""
    tags = [set(c["metadata"].get("tags", [])) for c in CELLS if c["cell_type"] == "code"]
    expected = [any(tag == "machinery" or tag.startswith("check-") for tag in t) for t in tags]

    assert expected == [cell.name == "details" for cell in page.select("[id^=cell-]")]


def test_a_picture_has_the_description_of_its_cell(page: BeautifulSoup, built_site: Path) -> None:
    """It is a file of the site, and says what the cell says of it."""
    expected = [cell["metadata"]["alt"] for cell in CELLS if "alt" in cell["metadata"]]

    pictures = page.select("img")

    assert expected == [picture["alt"] for picture in pictures]
    assert all((built_site / PAGE.parent / picture["src"]).is_file() for picture in pictures)


def test_nothing_of_jupyterlab_is_left(page: BeautifulSoup) -> None:
    """No script, no style and no control of the page that mkdocs-jupyter made."""
    assert [] == page.select("script, style, clipboard-copy, [style], [class^=jp-]")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_an_exercise_is_shown_as_a_learner_finds_it(built_site: Path, number: int) -> None:
    """Its code with the gaps comes first, and the solution is closed below it."""
    given = json.loads(LEARNER.read_text(encoding="utf-8"))["cells"]
    open_code, closed_code = (
        squeezed("".join(cell["source"]))
        for cells in (given, CELLS)
        for cell in cells
        if f"exercise-{number}" in cell["metadata"].get("tags", [])
    )
    html = (built_site / f"notebooks/exercise-{number}/index.html").read_text(encoding="utf-8")
    article = BeautifulSoup(html, "html.parser").article

    codes = [squeezed(code.get_text()) for code in article.select("pre code")]
    folded = [squeezed(code.get_text()) for code in article.select("details:not([open]) pre code")]

    assert [closed_code] == folded
    assert codes.index(open_code) + 1 == codes.index(closed_code)


def test_search_does_not_find_its_sentences_twice(built_site: Path) -> None:
    """The pages of the exercises are in the index, and this one is not."""
    index = json.loads((built_site / INDEX).read_text(encoding="utf-8"))
    found = [entry["location"] for entry in index["docs"]]

    assert not [location for location in found if location.startswith("notebooks/as-it-ran/")]
    assert "notebooks/exercise-1/" in found


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A site whose notebook has one cell, to be given an output."""
    (tmp_path / PAGE).parent.mkdir(parents=True)
    (tmp_path / INDEX).parent.mkdir(parents=True)
    (tmp_path / INDEX).write_text('{"docs": []}', encoding="utf-8")
    return tmp_path


def test_what_was_printed_is_escaped(made: Path) -> None:
    """A printed sign of HTML stays a sign."""
    (made / PAGE).write_text(CELL.format("<pre>a &lt;b&gt; c</pre>"), encoding="utf-8")

    tidy_notebook(made)

    assert escape("a <b> c") in (made / PAGE).read_text(encoding="utf-8")


def test_an_output_of_another_kind_is_refused(made: Path) -> None:
    """A table that a library drew would lose its style, so the build stops."""
    (made / PAGE).write_text(CELL.format("<table></table>"), encoding="utf-8")

    with pytest.raises(NotebookError, match="kind"):
        tidy_notebook(made)


def test_a_second_time_changes_nothing(made: Path) -> None:
    """A tidied page stays as it is."""
    (made / PAGE).write_text(CELL.format("<pre>once</pre>"), encoding="utf-8")
    tidy_notebook(made)
    once = (made / PAGE).read_text(encoding="utf-8")

    tidy_notebook(made)

    assert once == (made / PAGE).read_text(encoding="utf-8")
    assert not (made / PICTURES).exists()
