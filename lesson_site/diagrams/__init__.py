"""The fence that draws a small part of Mermaid's language as SVG when the site is built.

A drawing is laid out for a telephone: it gets the direction that was asked for if its letters stay
legible there, and the other one if not. Colours come from the classes of the style sheet.
"""

from collections.abc import Iterator, Sequence

from markdown import Markdown

from lesson_site.diagrams.flowchart import flowchart
from lesson_site.diagrams.letters import SIZE_PX
from lesson_site.diagrams.sequence import sequence
from lesson_site.diagrams.source import Diagram, parse
from lesson_site.diagrams.svg import Drawing, figure
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence

SCREEN_PX = 358  # what a page leaves of a screen of 390 px
LEGIBLE_PX = 11
WIDEST_PX = SCREEN_PX * SIZE_PX / LEGIBLE_PX
# How wide the text of a box may be: the first that fits is the best to read
TEXT_PX: Sequence[float] = (230, 190, 160, 135, 115, 100, 85)


@fence(title=True, text=True)
def diagram(source: str, options: Options, md: Markdown) -> str:
    """The drawing that the body describes; ``title`` names it, ``text`` says it in a sentence."""
    for name in ("title", "text"):
        if not str(options[name]).strip():
            raise PageError(f"{name} is empty; write what the drawing shows")
    number = int(md.htmlStash.html_counter)
    return figure(draw(source), str(options["title"]), str(options["text"]), number)


def draw(source: str) -> Drawing:
    """The drawing of a text, in the first form that fits onto a telephone.

    Raises:
        PageError: If the text is not of the subset, or fits in no form.
    """
    parsed = parse(source)
    for drawing in _forms(parsed):
        if drawing.width <= WIDEST_PX:
            return drawing
    raise PageError(
        "is too wide to be read on a telephone in any form; shorten the texts, or make two diagrams"
    )


def _forms(parsed: Diagram) -> Iterator[Drawing]:
    """All that may be tried, what is best to read first."""
    if parsed.kind == "sequence":
        yield sequence(parsed)
        return
    asked = parsed.kind == "LR"
    for horizontal in (asked, not asked):
        for text_px in TEXT_PX:
            yield flowchart(parsed, horizontal=horizontal, text_px=text_px)
