"""The table of what readers measured on their own machines, on the page *Compare your machine*."""

from collections.abc import Sequence
from html import escape

from lesson_site.page import Page
from results.catalogue import Definition
from results.contributed import FOLDER, Contribution

COLUMNS = 6  # of a table; other files are in the list below it
LINES = 60  # of that list, so that the page stays light
# What the tables are called, by whether browsers measured; own-columns.js asks for the second word.
LABELS = {
    False: ("Measured by readers", "PyTorch"),
    True: ("Measured by readers in a browser", "In a browser"),
}
NOTHING = "–"


def readers_html(
    definitions: Sequence[Definition], contributions: Sequence[Contribution], page: Page
) -> str:
    """A column for each of the newest files, and below where each was measured; may be empty.

    Args:
        definitions: The figures, from top to bottom.
        contributions: What readers gave, newest first.
        page: The page that shows it.
    """
    if not contributions:
        return ""
    tables = ""
    for in_browser, (label, measurer) in LABELS.items():
        given = [one for one in contributions if one.in_browser == in_browser]
        shown = [one for one in given if any(map(one.text, definitions))][:COLUMNS]
        rows = [d for d in definitions if any(one.text(d) for one in shown)]
        tables += _table(label, measurer, rows, shown) if shown else ""
    sources = "".join(_source(one, page) for one in contributions[:LINES])
    older = len(contributions[LINES:])
    sources += (
        f"<li>Older files, in the project’s <code>{FOLDER}</code>: {older}.</li>" if older else ""
    )
    return f'<div class="results readers">{tables}<ul class="results-sources">{sources}</ul></div>'


def _table(
    label: str, measurer: str, rows: Sequence[Definition], shown: Sequence[Contribution]
) -> str:
    head = "".join(
        f'<th scope="col" data-machine="{_slug(one)}">{escape(one.machine)}, measured by '
        f"{escape(one.name)} <small>{escape(one.software)}, {one.date}</small></th>"
        for one in shown
    )
    body = "".join(
        f'<tr><th scope="row">{escape(d.what[0].upper() + d.what[1:])}</th>'
        f"{''.join(_cell(one, d) for one in shown)}</tr>"
        for d in rows
    )
    return (
        f'<div class="results-scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="results-table by-machine" data-measurer="{measurer}">'
        f"<caption>{label}</caption>"
        f'<thead><tr><th scope="col">What</th>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _cell(one: Contribution, definition: Definition) -> str:
    text = one.text(definition)
    css = "" if text else ' class="not-measured"'
    named = f'data-figure="{definition.name}" data-kind="measured"'
    return f"<td{css} {named}>{escape(text) or NOTHING}</td>"


def _source(one: Contribution, page: Page) -> str:
    href = f"{page.root}benchmarks/contributed/{escape(one.file)}"
    return (
        f'<li data-machine="{_slug(one)}">Measured by {escape(one.name)} on {escape(one.where)}. '
        f'<a href="{href}">All raw samples</a>.</li>'
    )


def _slug(one: Contribution) -> str:
    """Unlike that of any machine of ours, so that nobody takes one for the other."""
    return f"contributed-{one.file.removesuffix('.json').replace('/', '-')}"
