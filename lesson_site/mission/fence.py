"""The fence that puts a part of the mission on a page: ``show`` names it."""

from collections.abc import Callable
from functools import partial
from html import escape

from markdown import Markdown

from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.mission.counted import counted_panel
from lesson_site.mission.measured import measured_panel
from lesson_site.mission.memory_tables import laptop_verdicts
from lesson_site.mission.payload import FILE, payload_text
from lesson_site.mission.tables import TABLES, static_table

# What a reader without JavaScript finds in place of an instrument; the section has the numbers of
# all three, of the laptop in a sentence.
WITHOUT_SCRIPT = (
    'This instrument needs JavaScript. Its numbers are in <a href="#all-numbers">all numbers as '
    "tables</a>."
)
# The same where answers are asked for, and no table has them.
ASKS = "This part needs JavaScript."


def _element(tag: str, attributes: str = "", says: str = WITHOUT_SCRIPT) -> Callable[[], str]:
    """A custom element of ours, with what is in it until the browser draws it."""
    return lambda: f"<{tag}{attributes}><p>{says}</p></{tag}>"


def _laptop_verdicts() -> str:
    """What fits the laptop, in a sentence: the whole table would make its page too heavy."""
    return f"<p>{escape(laptop_verdicts())}</p>"


PARTS: dict[str, Callable[[], str]] = {
    "guide": _element("mission-guide", says="This mission needs JavaScript for its instruments."),
    "ledger": _element("memory-ledger"),
    "reveal": _element("mission-reveal"),
    "tradeoff": _element("mission-tradeoff"),
    "reflection-1": _element("mission-reflection", ' number="1"', ASKS),
    "reflection-2": _element("mission-reflection", ' number="2"', ASKS),
    "pipeline": _element("pipeline-analyzer"),
    "laptop": _element("laptop-challenge"),
    "record": _element("mission-record", says=ASKS),
    "laptop-verdicts": _laptop_verdicts,
    "counted": counted_panel,
    "measured": measured_panel,
    **{name: partial(static_table, name) for name in TABLES},
}


@fence(show=True)
def mission(source: str, options: Options, md: Markdown) -> str:
    """The part that ``show`` names."""
    if options["show"] not in PARTS:
        raise PageError(f"show is {options['show']!r}; it must be one of {', '.join(PARTS)}")
    if not FILE.is_file() or FILE.read_text(encoding="utf-8") != payload_text():
        raise PageError(f"{FILE} is out of date; run `python -m lesson_site mission`")
    # Around it is an element that Markdown knows as a block.
    return f'<div class="mission">{PARTS[options["show"]]()}</div>'
