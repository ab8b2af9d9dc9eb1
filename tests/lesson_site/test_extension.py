"""The Markdown extension refuses typed Python, sets formulas, and binds the whole lesson."""

from pathlib import Path

import pytest
from markdown import Markdown
from pymdownx.superfences import SuperFencesException


@pytest.fixture
def markdown() -> Markdown:
    """A converter with our extension, and with those that it builds on."""
    return Markdown(
        extensions=["pymdownx.superfences", "pymdownx.arithmatex", "lesson_site.extension"],
        extension_configs={"pymdownx.arithmatex": {"generic": True}},
    )


@pytest.mark.parametrize(
    "fence",
    [
        "```python",
        "``` python",
        "~~~py",
        "```{.python}",
        "    ```python",
        "````pycon",
        "```python3",
    ],
)
def test_python_typed_into_a_page_is_refused(markdown: Markdown, fence: str) -> None:
    """However the fence is written, the message names the line."""
    with pytest.raises(SuperFencesException, match=r"page\.md:3: Python typed into a page"):
        markdown.convert(f"Text.\n\n{fence}\nx = 1\n{fence.strip()[:3]}")


@pytest.mark.parametrize("fence", ["```console", "```text", "```"])
def test_other_blocks_are_let_through(markdown: Markdown, fence: str) -> None:
    """Commands and plain output may be typed."""
    html = markdown.convert(f"{fence}\nmake serve\n```")

    assert "make serve" in html


def test_a_formula_becomes_mathml(markdown: Markdown) -> None:
    """No script is needed to read it."""
    html = markdown.convert("So $x^2$ and\n\n$$\n\\frac{1}{2}\n$$\n")

    assert 2 == html.count("<math")
    assert "<mfrac>" in html
    assert "\\" not in html


def test_prices_are_no_formulas(markdown: Markdown) -> None:
    """Dollar signs before numbers stay."""
    html = markdown.convert("From $2/hr to $3/hr.")

    assert "<p>From $2/hr to $3/hr.</p>" == html


def test_a_formula_that_cannot_be_set_stops_the_page(markdown: Markdown) -> None:
    """The message holds the formula."""
    with pytest.raises(SuperFencesException, match="can't set the formula"):
        markdown.convert("So $\\left( 1$.")


def test_the_whole_lesson_holds_all_numbered_pages(
    markdown: Markdown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order, one heading level lower, and without their front matter."""
    folder = tmp_path / "docs" / "track"
    folder.mkdir(parents=True)
    (folder / "02-b.md").write_text("# 2. B\n\n```text\n# no heading\n```\n")
    (folder / "01-a.md").write_text("---\ntitle: A\n---\n# 1. A\n\n## More\n")
    (folder / "index.md").write_text("# All\n")
    monkeypatch.chdir(tmp_path)

    html = markdown.convert("# Whole\n\n[whole lesson: track]\n")

    assert "title: A" not in html
    assert html.index("<h2>1. A</h2>") < html.index("<h3>More</h3>") < html.index("<h2>2. B</h2>")
    assert "# no heading" in html
    assert 1 == html.count("<h1>")


def test_a_whole_lesson_without_pages_stops_the_page(markdown: Markdown) -> None:
    """A folder that has no numbered pages is named."""
    with pytest.raises(SuperFencesException, match="no pages in nope"):
        markdown.convert("[whole lesson: nope]")
