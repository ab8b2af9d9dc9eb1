"""Printed columns as HTML tables; the page's author writes their heads, with units.

A line whose words are all in the heads is the printed head, in whose place they are. Under it a
line is a row if it has a cell for each head, cells being two or more spaces apart; a row that lacks
some has them where the complete rows have theirs. A line of one cell is a caption above the rows,
or the name of those that follow. What is in no table stays text. A long word of a head may have
``&shy;`` where a telephone may part it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape

from lesson_site.errors import PageError

NARROW = 45  # letters of a printed line for which a telephone has room
CELL = re.compile(r"\S+(?: \S+)*")
WORD = re.compile(r"\w+|%")
NUMBER = re.compile(r"[-+±(]?(?:\d|inf|nan)")
MAY_PART = "\N{SOFT HYPHEN}"
Cells = list[re.Match[str]]
Heads = Sequence[str]


@dataclass(frozen=True)
class Table:
    """One table of a printed text.

    Attributes:
        heads: What is written above its columns: a quantity, or ``quantity, unit``. The first may
            be empty; one in backticks has code below it.
        caption: The lines above it.
        rows: The cells; a row of one cell names the rows that follow.
    """

    heads: Heads
    caption: Sequence[str]
    rows: Sequence[Sequence[str]]


def read_heads(source: str) -> list[Heads]:
    """The heads in a fence's body, a line for each table, with ``|`` between columns."""
    lines = filter(None, map(str.strip, source.splitlines()))
    return [[unescape(head.strip()) for head in line.split("|")] for line in lines]


def parts_of(text: str, heads: Sequence[Heads]) -> list[Table | str]:
    """A printed text as its tables and what is between them.

    Args:
        text: What was printed.
        heads: Those of each table, in order; one alone is for all tables.

    Raises:
        PageError: If a line fits no column, or no table has some of the heads.
    """
    parts: list[Table | str] = []
    left = list(heads)
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        found = list(_in_block(block.splitlines(), left))
        parts += found
        if len(heads) > 1:
            left = left[sum(isinstance(part, Table) for part in found) :]
    if (left and len(heads) > 1) or all(isinstance(part, str) for part in parts):
        raise PageError(f"no printed table is left for the heads {' | '.join(left[0])!r}")
    return parts


def _in_block(lines: Sequence[str], left: Sequence[Heads]) -> Iterator[Table | str]:
    """The tables in lines that follow one another; without heads for them they are text."""
    if not left or all(len(_cells(line)) == 1 for line in lines):
        yield "\n".join(lines)
        return
    above: list[str] = []
    rows: list[Cells] = []
    has_head = False
    for number, line in enumerate(lines):
        cells = _cells(line)
        if rows and len(left) > 1 and _is_head(line, left[1]):
            yield _table(left[0], above, rows)
            yield from _in_block(lines[number:], left[1:])
            return
        if not rows and _is_head(line, left[0]):
            has_head = True
        elif len(cells) == 1 and not rows and not has_head:
            above.append(line)
        else:
            if above and not rows and not has_head and _is_under(line, above[-1]):
                rows.append(_cells(above.pop()))
            rows.append(cells)
    yield _table(left[0], above, rows)


def _cells(line: str) -> Cells:
    return list(CELL.finditer(line))


def _is_head(line: str, heads: Heads) -> bool:
    """Whether a printed line says nothing that is not in the heads."""
    said = " ".join(heads).lower().replace(MAY_PART, "")
    return set(WORD.findall(line.lower())) <= set(WORD.findall(said))


def _is_under(line: str, name: str) -> bool:
    """Whether a line is indented more than the one that may name it."""
    return _cells(line)[0].start() > _cells(name)[0].start()


def _table(heads: Heads, above: Sequence[str], rows: Sequence[Cells]) -> Table:
    complete = [row for row in rows if len(row) == len(heads)]
    if not complete:
        raise PageError(f"no printed line has {len(heads)} cells, for {' | '.join(heads)!r}")
    columns = [
        (min(cell.start() for cell in column), max(cell.end() for cell in column))
        for column in zip(*complete, strict=True)
    ]
    filled = [_filled(row, columns) for row in rows]
    return Table(heads, [line.strip() for line in above], filled)


def _filled(row: Cells, columns: Sequence[tuple[int, int]]) -> list[str]:
    """What a row says in each column; one cell alone stays alone."""
    if len(row) in (1, len(columns)):
        return [cell[0] for cell in row]
    filled = [""] * len(columns)
    for cell in row:
        start, end = cell.span()
        at = [i for i, (low, high) in enumerate(columns) if start < high and low < end]
        if len(at) != 1 or filled[at[0]]:
            raise PageError(f"{cell[0]!r} is not in one of {len(columns)} columns")
        filled[at[0]] = cell[0]
    return filled


def text_html(text: str) -> str:
    """A printed text; its long lines wrap on narrow screens unless columns would be torn."""
    torn = any(len(line) > NARROW and len(_cells(line)) > 1 for line in text.splitlines())
    wraps = "" if torn else ' class="wraps"'
    return f"<pre{wraps}><code>{escape(text)}</code></pre>"


def to_html(parts: Sequence[Table | str], label: str) -> str:
    """Tables that move sideways inside themselves on a narrow screen, and the text between them.

    Args:
        parts: What was printed.
        label: What that is, for screen readers.
    """
    html = []
    for number, part in enumerate(parts, start=1):
        if isinstance(part, str):
            html.append(text_html(part))
            continue
        name = escape(label if len(parts) == 1 else f"{label}, part {number}")
        html.append(
            f'<div class="results-scroll" tabindex="0" role="region" aria-label="{name}">'
            f"{_table_html(part)}</div>"
        )
    return "".join(html)


def _table_html(table: Table) -> str:
    rows = [row for row in table.rows if len(row) > 1]
    words = [not _is_numeric(column) for column in zip(*rows, strict=True)]
    head = "".join(map(_head, table.heads, words))
    body = []
    for row in table.rows:
        if len(row) == 1:
            wide = len(table.heads)
            body.append(
                f'<tr class="machine"><th scope="rowgroup" colspan="{wide}">'
                f"{escape(row[0])}</th></tr>"
            )
            continue
        first, *others = map(_cell, row, table.heads)
        cells = "".join(
            f"<td{_class(left)}>{cell}</td>" for cell, left in zip(others, words[1:], strict=True)
        )
        name = re.sub(r"(?<=[a-z])/(?=[a-z])", "/<wbr>", first)
        body.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    above = "<br>".join(map(escape, table.caption))
    caption = f"<caption>{above}</caption>" if above else ""
    return (
        f'<table class="results-table printed">{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _is_numeric(column: Sequence[str]) -> bool:
    """Whether most cells that say something begin with a number."""
    said = [cell for cell in column if cell]
    return 2 * sum(bool(NUMBER.match(cell)) for cell in said) > len(said)


def _head(head: str, words: bool) -> str:
    if not head:
        return "<td></td>"
    name = re.sub(r"(?<=[(=])(?=\w)", "<wbr>", escape(head.strip("`")))
    return f'<th scope="col"{_class(words)}>{name}</th>'


def _class(words: bool) -> str:
    """What marks a column of words, which are not below one another like numbers."""
    return ' class="words"' if words else ""


def _cell(text: str, head: str) -> str:
    """What a cell says, without the unit that its head has."""
    _, comma, unit = head.rpartition(", ")
    if comma:
        text = re.sub(rf"(?<=[\df])\s?{re.escape(unit)}(?!\w)", "", text)
    return f"<code>{escape(text)}</code>" if head.startswith("`") else escape(text)
