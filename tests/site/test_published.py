"""What others published is on its pages, whole, and a bad record stops the build."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from results.published import read
from tests.site.conftest import Copy
from tests.site.test_pages import parse

PAGES = ("what-others-measured", "what-others-measured-in-large")


@pytest.fixture(scope="module")
def figures(built_site: Path) -> list[ElementTree.Element]:
    """Every table of published figures, with its caption."""
    pages = [parse(built_site / "benchmarks" / page / "index.html") for page in PAGES]
    return [
        element
        for page in pages
        for element in page.iter("figure")
        if element.get("class") == "published"
    ]


def test_every_published_figure_is_in_one_table(figures: list[ElementTree.Element]) -> None:
    """None is kept that no reader sees, and the cell's number is the entry's."""
    shown = [
        (str(cell.get("data-figure")), (cell.text or "").strip())
        for figure in figures
        for cell in figure.iter()
        if cell.get("data-figure")
    ]

    assert sorted((f"published.{f.id}", f.text) for f in read().values()) == sorted(shown)


def test_every_table_links_the_sources_of_its_figures(figures: list[ElementTree.Element]) -> None:
    """A reader with a keyboard reaches each source from below the table."""
    published = read()
    for figure in figures:
        names = [str(cell.get("data-figure")) for cell in figure.iter() if cell.get("data-figure")]
        of = [published[name.removeprefix("published.")] for name in names]
        linked = {link.get("href") for link in figure.iter("a")}

        assert {s.address for entry in of for s in entry.sources} == linked


def test_a_broken_record_stops_the_build_with_its_line(copy: Copy) -> None:
    """Somebody removes a source that figures of a page need."""
    path = copy.root / "results" / "published" / "topics" / "small_models.toml"
    text = path.read_text(encoding="utf-8").replace('source = "mlx_127"\n', "", 1)
    path.write_text(text, encoding="utf-8")
    copy.write("docs/tiny/01-first.md", "# 1. First { #first }\n\n[[published.mnist.mlx.gpu]]\n")

    code, said = copy.build_and_finish()

    assert code
    line = text[: text.index('"cpu", card = "CPU: M2 Pro"')].count("\n") + 1
    assert re.search(rf"small_models\.toml:{line}: mnist\.mlx\.cpu: it has no source", said)
