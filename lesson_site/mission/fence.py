"""The fence that puts a part of the mission on a page: ``show`` names it."""

from collections.abc import Callable
from html import escape

from markdown import Markdown

from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.mission import memory_tables, pipeline_tables
from lesson_site.mission.counted import counted_panel
from lesson_site.mission.measured import measured_panel
from lesson_site.mission.payload import FILE, payload_text
from lesson_site.mission.table import Table, table_html

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
    return f"<p>{escape(memory_tables.laptop_verdicts())}</p>"


def _table(table: Callable[[], Table], around: str = "{}") -> Callable[[], str]:
    return lambda: around.format(table_html(table()))


TABLES: dict[str, Callable[[], Table]] = {
    "table-bytes": memory_tables.bytes_table,
    "table-static": memory_tables.static_table,
    "table-coefficients": memory_tables.coefficients_table,
    "table-activations": memory_tables.activation_table,
    "table-optimizers": memory_tables.optimizers_table,
    "table-precision": memory_tables.precision_table,
    "table-checkpointing": memory_tables.checkpointing_table,
    "table-largest-batch": memory_tables.largest_batch_table,
    "table-combinations": pipeline_tables.combinations_table,
    "table-batches": pipeline_tables.batches_table,
    "table-walkthrough": pipeline_tables.walkthrough_table,
    "table-laptop": memory_tables.laptop_table,
    "table-contexts": pipeline_tables.contexts_table,
}
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
    **{name: _table(table) for name, table in TABLES.items()},
    # The element adds the learner's column.
    "table-walkthrough": _table(
        pipeline_tables.walkthrough_table, "<walkthrough-column>{}</walkthrough-column>"
    ),
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
