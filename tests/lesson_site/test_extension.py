"""The Markdown extension refuses typed Python and sets formulas."""

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
