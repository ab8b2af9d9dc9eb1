"""What others published is on its pages, whole, and a bad record stops the build."""

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborNode

from results import published
from tests import pages
from tests.site.conftest import Copy

PAGES = ("what-others-measured", "what-others-measured-in-large")


@pytest.fixture(scope="module")
def figures(built_site: Path) -> list[LexborNode]:
    """Every table of published figures, with its caption."""
    return [
        figure
        for page in PAGES
        for figure in pages.read(built_site / "benchmarks" / page / "index.html").css(
            "figure.published"
        )
    ]


def test_every_published_figure_is_in_one_table(figures: list[LexborNode]) -> None:
    """None is kept that no reader sees, and the cell's number is the entry's."""
    shown = [
        (pages.value_of(cell, "data-figure"), cell.text(deep=False).strip())
        for figure in figures
        for cell in figure.css("[data-figure]")
    ]

    kept = sorted((f"published.{f.id}", f.text) for f in published.read().values())
    unseen = sorted({name for name, _ in kept} - {name for name, _ in shown})
    assert kept == sorted(shown), (
        f"a lesson-published fence has to list the group of each figure once; unseen: {unseen}"
    )


def test_every_table_links_the_sources_of_its_figures(figures: list[LexborNode]) -> None:
    """A reader with a keyboard reaches each source from below the table."""
    known = published.read()
    for figure in figures:
        names = [pages.value_of(cell, "data-figure") for cell in figure.css("[data-figure]")]
        of = [known[name.removeprefix("published.")] for name in names]
        linked = {pages.value_of(link, "href") for link in figure.css("a")}

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
