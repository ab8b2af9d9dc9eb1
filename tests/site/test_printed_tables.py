"""Tables on pages say what the code printed: no number is lost, none is added, none moves."""

import re
from collections import Counter
from html import unescape

import pytest

from lesson_site.markdown_source import sources
from lesson_site.printed_tables import parts_of, read_heads, to_html
from results import recorded
from results.held_digits import NUMBER
from tests.building import REPOSITORY


def shown_tables() -> list[tuple[str, str]]:
    """What pages show as a table, each output once, with its heads."""
    fences = [fence for page in sources(REPOSITORY / "docs").values() for fence in page.fences]
    tables = {f.options["of"]: f.body for f in fences if f.kind == "lesson-output" and f.body}
    return list(tables.items())


def numbers(text: str) -> list[str]:
    """The numbers of a text in their order."""
    return [found[0] for found in NUMBER.finditer(text)]


@pytest.mark.parametrize(("target", "heads"), shown_tables())
def test_a_table_has_the_numbers_that_were_printed(target: str, heads: str) -> None:
    """Outside of heads they are in the order of the recording, and what is left is in the heads."""
    recording = recorded.read(target)
    assert recording is not None
    printed = numbers(recording.shown)

    html = to_html(parts_of(recording.shown, read_heads(heads)), target)
    html = re.sub(r"<thead>.*?</thead>|<div[^>]*>", "", html)
    said = numbers(unescape(re.sub(r"<[^>]+>", "  ", html)))
    in_order = iter(printed)

    assert all(number in in_order for number in said), said
    assert set(Counter(printed) - Counter(said)) <= set(numbers(heads))
