"""A table of texts: as data for the browser, and as HTML for a page."""

import re
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

# A figure stays on one line with its unit, and a short cell that has one does so as a whole.
LONGEST_LINE = 22
BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:GB|GiB|%|W|tokens/s)(?:\W|$))")
NO_BREAK = "\u00a0"


@dataclass(frozen=True)
class Table:
    """A table whose cells are texts.

    Attributes:
        caption: What it shows, in one line.
        head: A heading for each column, the first one included.
        rows: Cells; the first of a row is the row's heading.
        notes: Sentences below it.
        row_ids: What a script finds the rows by, or nothing.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    row_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.head) for row in self.rows):
            raise ValueError(f"a row of {self.caption!r} has not {len(self.head)} cells")
        if self.row_ids and len(self.row_ids) != len(self.rows):
            raise ValueError(f"{self.caption!r} has {len(self.rows)} rows, not {len(self.row_ids)}")


def table_data(table: Table) -> dict[str, Any]:
    """What the browser needs to show a table."""
    found = asdict(table)
    return {key: found[key] for key in ("caption", "head", "rows", "notes")}


def table_html(table: Table) -> str:
    """The table, which moves sideways inside itself where the screen is narrow."""
    caption = escape(table.caption)
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in table.head)
    ids = table.row_ids or [""] * len(table.rows)
    body = "".join(_row(row, row_id) for row, row_id in zip(table.rows, ids, strict=True))
    long_names = max(len(row[0]) for row in table.rows) > LONGEST_LINE
    looks = "results-table long-names" if long_names else "results-table"
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return (
        '<div class="results">'
        f'<div class="results-scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="{looks}"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        + (f'<ul class="results-sources">{notes}</ul>' if notes else "")
        + "</div>"
    )


def _row(row: tuple[str, ...], row_id: str) -> str:
    name, *cells = row
    marked = f' data-row="{row_id}"' if row_id else ""
    kept = ' class="short"' if _is_short(name) else ""
    return f'<tr{marked}><th scope="row"{kept}>{escape(name)}</th>{"".join(map(_cell, cells))}</tr>'


def _cell(cell: str) -> str:
    if _is_short(cell):
        return f'<td class="short">{escape(cell)}</td>'
    return f"<td>{escape(BEFORE_UNIT.sub(NO_BREAK, cell))}</td>"


def _is_short(cell: str) -> bool:
    """Whether a cell has a figure and stays on one line."""
    return len(cell) <= LONGEST_LINE and any(character.isdigit() for character in cell)
