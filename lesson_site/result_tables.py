"""The results pages: everything that the result files say, as tables drawn from the catalogue.

Three fences. ``lesson-results case="…"`` shows every figure of one case on every machine;
``lesson-results-overview`` counts, for the pages it lists, how much of each case is measured where;
``lesson-machines`` shows chosen figures, and has room for the reader's own machine.

A table holds ``data-figure`` in its cells and ``data-machine`` over its columns or groups of rows:
from these the browser hides machines and adds the reader's own. It computes nothing.

What no machine has measured is folded away under one line that says what would measure it; a dash
is in the cell of a machine that lacks a value which another one has.
"""

import itertools
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from markdown import Markdown

from lesson_site.contributed import readers_html
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.markdown_source import Source
from lesson_site.page import Page, current_page
from results import cases, catalogue, contributed
from results.catalogue import FROM_RESULTS, Definition
from results.quantities import SPACE, write
from results.store import Result, Store, newest, open_store
from results.summary import Estimate

LOG = logging.getLogger("mkdocs.lesson_site.result_tables")  # a child of MkDocs' own
PAGES = Path("docs/benchmarks/results")
DEVICES = {"cpu": "CPU", "cuda": "GPU"}
LARGE_FAMILY = 20  # members; such a one fills a table of its own
SMALL_TABLE = 8  # figures; fewer read well as rows
MACHINES = 3  # of a kind, in the tables of a case; a page of four exceeds its budget of elements
COMPARED = 8  # of a kind, in the tables of chosen figures and in the overview
# Who measures: the tables of a machine's figures are called so, and own-columns.js asks for it.
PYTORCH, BROWSER = "PyTorch", "In a browser"
RATES = "Samples a second"  # a caption that begins so spares each cell the unit; own-columns.js too
LONGEST_LINE = 24  # letters of the title of a row; longer ones may be broken
NOTHING = "–"
NONE_SAVED = 0.05  # percent; a saving below it is nobody's gain or loss, and written as none
# What the lists of a family are called above a table, where their names say too little
WORDS = {
    **{"arm": "variant", "how": "setting", "megabytes": "size", "which": "batch"},
    **{"count": "number", "workers": "number of workers"},
}
SPELT = ("memory", "which")  # lists whose members read well in a sentence


@fence(case=True)
def case_table(source: str, options: Options, md: Markdown) -> str:
    """Every figure of the case that ``case`` names, on every machine."""
    case, store, page = options["case"], open_store(), current_page(md)
    html = case_html(case, store, page)
    missing = sum(not store.figure(d.name).known for d in _figures_of(case, store))
    if missing:
        LOG.info("%s: no machine has measured %s of case %s", page.source, _figures(missing), case)
    return html


@fence()
def overview(source: str, options: Options, md: Markdown) -> str:
    """How much of each case is measured on which machine; the body lists results pages."""
    names = source.split()
    return overview_html([read_page(name) for name in names], open_store(), current_page(md))


@fence()
def machines(source: str, options: Options, md: Markdown) -> str:
    """The figures that the body lists, one a line, on every machine; with all known names.

    What only browsers measure has a table of its own, below that of PyTorch, and so has what
    readers measured and gave.
    """
    store, page = open_store(), current_page(md)
    definitions = [_measurable(name, store) for name in source.split()]
    known = " ".join(known_names(store.definitions.values()))
    tables = "".join(
        _machines_table(kind, inside, store.only(kind == BROWSER), page)
        for kind in (PYTORCH, BROWSER)
        if (inside := [d for d in definitions if d.in_browser == (kind == BROWSER)])
    )
    return (
        f'<div class="results-main" data-known="{escape(known)}" data-search-exclude="">'
        f"{tables}{readers_html(definitions, contributed.read(store), page)}</div>"
    )


def _machines_table(kind: str, definitions: Sequence[Definition], store: Store, page: Page) -> str:
    """Figures that one kind of machine measures, and where that was."""
    results = newest(store.machines(), COMPARED)
    machines = {_slug(result) for result in results}
    files = {r.file: r for d in definitions for r in store.machines(d.case)}
    used = [one for one in files.values() if _slug(one) in machines]
    measured = [d for d in definitions if store.figure(d.name).known]
    missing = [d for d in definitions if d not in measured]
    open_table = _flat_table(kind, measured, store, results, kind) if measured else ""
    folded = _flat_table(f"{kind}: the others", missing, store, [], kind) if missing else ""
    sources = _sources(used, None, page)
    others = _others([one for one in files.values() if one not in used], page)
    return f'<div class="results">{open_table}{_folded(missing, folded)}{sources}{others}</div>'


def _measurable(name: str, store: Store) -> Definition:
    """The figure of that name, if result files give it.

    Raises:
        FigureError: If there is none of that name.
        PageError: If it comes from somewhere else.
    """
    store.figure(name)
    definition = store.definitions[name]
    if definition.kind not in FROM_RESULTS:
        raise PageError(f"{name!r} is {definition.kind}, so no machine has its own value")
    return definition


def known_names(definitions: Iterable[Definition]) -> list[str]:
    """Every name that a result file may use; a family once, its lists as ``{one,two}``."""
    families: dict[str, dict[str, dict[str, None]]] = {}
    for definition in definitions:
        if definition.kind in FROM_RESULTS:
            lists = families.setdefault(definition.family or definition.name, {})
            for name, value in definition.member.items():
                lists.setdefault(name, {})[str(value)] = None
    return [
        family.format(**{name: f"{{{','.join(values)}}}" for name, values in lists.items()})
        for family, lists in families.items()
    ]


# One case


def case_html(case: str, store: Store, page: Page) -> str:
    """The tables of one case, and below them where and when it was measured.

    Raises:
        PageError: If no figure of the catalogue comes from that case.
    """
    definitions = _figures_of(case, store)
    if not definitions:
        raise PageError(
            f"no figure comes from a case {case!r}; {catalogue.nearest(case, cases.names())}"
            "`python -m benchmarks describe` writes results/cases.json, which has them all"
        )
    able = [r for r in store.machines(case) if case in r.cases or r.skipped.get(case)]
    results = newest(able, MACHINES)
    measured = {d.name for d in definitions if store.figure(d.name).known}
    blocks = [part for block in _blocks(definitions) for part in _by_column(block, measured)]
    inside = {d.name for block in blocks for d in block.definitions.values()}
    tables: dict[bool, list[str]] = {True: [], False: []}
    for known, in_browser in itertools.product((True, False), repeat=2):
        rows = [
            d
            for d in definitions
            if d.name not in inside and (d.in_browser, d.name in measured) == (in_browser, known)
        ]
        if rows:
            columns = [r for r in results if known and r.in_browser == in_browser]
            what = "figures" if known else "figures that nobody measured"
            if in_browser:
                what += " in a browser"
            tables[known].append(_flat_table(f"{case}: {what}", rows, store, columns))
    for number, block in enumerate(blocks, start=1):
        known = any(d.name in measured for d in block.definitions.values())
        tables[known].append(_two_way_table(f"{case}, table {number}", block, results))
    missing = [d for d in definitions if d.name not in measured]
    folded = _folded(missing, "".join(tables[False]))
    sources = _sources(results, case, page)
    others = _others([result for result in able if result not in results], page)
    shown = "".join(tables[True])
    return f'<div class="results" data-search-exclude="">{shown}{folded}{sources}{others}</div>'


def _folded(missing: Sequence[Definition], tables: str) -> str:
    """What would measure the figures that nobody has measured, and their tables behind it."""
    if not missing:
        return ""
    if not tables:
        return f'<p class="unmeasured">{_figures(len(missing))} more: {_needs(missing)}.</p>'
    return (
        f'<details class="unmeasured"><summary>{_figures(len(missing))} more, for {_whom(missing)}'
        f"</summary><p>{_needs(missing)}.</p>{tables}</details>"
    )


def _whom(missing: Sequence[Definition]) -> str:
    """Who could measure these figures."""
    if all(d.in_browser for d in missing):
        return "a reader’s browser"
    of_gpu = sum(d.on_gpu for d in missing)
    if 0 < of_gpu < len(missing):
        return f"another run, {of_gpu} of them on a machine with a CUDA GPU"
    return "a machine with a CUDA GPU" if of_gpu else "another run"


def _needs(missing: Sequence[Definition]) -> str:
    """What measures these figures, as HTML."""
    raced = "the race on the page “Race your GPU” measures them"
    cases = dict.fromkeys(case for d in missing if not d.in_browser for case in d.needs)
    if not cases:
        return raced
    command = f"python -m benchmarks run {' '.join(f'--case {case}' for case in cases)}"
    on = " on a machine with a CUDA GPU" if any(d.on_gpu for d in missing) else ""
    also = f", and {raced.replace('them', 'some of them')}" if _mixed(missing) else ""
    return f"<code>{escape(command)}</code>{on} measures them{also}"


def _mixed(missing: Sequence[Definition]) -> bool:
    return len({d.in_browser for d in missing}) > 1


def _figures(count: int) -> str:
    return "1 figure" if count == 1 else f"{count} figures"


def machine_name(result: Result) -> str:
    """What a reader calls the machine: its GPU, or its processor with the number of cores."""
    at = result.provenance
    name = str(at["gpu"] or f"{at['processor']}, {at['cores']} cores")
    return f"A browser, {name}" if result.in_browser else name


# A table with a column for each machine


def _flat_table(
    label: str,
    definitions: Sequence[Definition],
    store: Store,
    results: Sequence[Result],
    kind: str = "",
) -> str:
    """Figures down, machines across that have any of them; one column of dashes where none has.

    Args:
        label: What it is, for screen readers.
        definitions: The figures.
        store: What was measured.
        results: The machines.
        kind: What the table is called, and whose figures alone it has room for.
    """
    files = [{_slug(r): r for r in store.machines(d.case)} for d in definitions]
    results = [
        result
        for result in results
        if any(
            _estimate(d, of[_slug(result)]) is not None
            for d, of in zip(definitions, files, strict=True)
        )
    ]
    head = "".join(
        f'<th scope="col" data-machine="{_slug(result)}">{escape(machine_name(result))} '
        f"<small>{_dates(definitions, [of[_slug(result)] for of in files])}</small></th>"
        for result in results
    )
    rows = []
    for definition, of in zip(definitions, files, strict=True):
        cells = "".join(_cell(definition, of[_slug(result)]) for result in results)
        cells = cells or _empty_cell(definition)
        what = escape(definition.what[0].upper() + definition.what[1:])
        rows.append(f'<tr><th scope="row">{what}</th>{cells}</tr>')
    named = f"<caption>{kind}</caption>" if kind else ""
    whose = f' data-measurer="{kind}"' if kind else ""
    head = head or '<th scope="col">Value</th>'
    return _scroll(
        label,
        f'<table class="results-table by-machine"{whose}>{named}<thead><tr>'
        f'<th scope="col">What</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>',
    )


def _dates(definitions: Sequence[Definition], files: Sequence[Result]) -> str:
    """The days on which a column's values were measured; the machine's last one if it has none."""
    days = {
        result.provenance["date"]
        for definition, result in zip(definitions, files, strict=True)
        if _estimate(definition, result) is not None
    }
    return ", ".join(sorted(days)) or str(files[0].provenance["date"])


# A table with two sides, and a group of rows for each machine


@dataclass(frozen=True)
class _Block:
    """Figures that fill a table with two sides.

    Attributes:
        caption: What they are, as HTML.
        corner: What goes down, and across.
        rows: The titles of the rows, by what is in the figures' names, commas between.
        columns: The same for what goes across.
        pattern: The figures' names for the browser: ``{0}`` and so on is the row, part by part.
        definitions: The figures, by row and column.
    """

    caption: str
    corner: str
    rows: dict[str, str]
    columns: dict[str, str]
    pattern: str
    definitions: dict[tuple[str, str], Definition]


def _blocks(definitions: Sequence[Definition]) -> Iterator[_Block]:
    """A family over two lists, or several families that share their lists and most of a name.

    Families that share them are taken together unless they are large. What is left over reads
    well as rows.
    """
    families: dict[str, list[Definition]] = {}
    for definition in definitions:
        families.setdefault(definition.family, []).append(definition)
    alike: dict[tuple[str, str], list[list[Definition]]] = {}
    for name, members in families.items():
        lists = len(members[0].member)
        if lists > 1 and len(members) >= LARGE_FAMILY:
            yield from _blocks_of_family(members)
        elif lists:
            key = (name.rpartition(".")[0], str([d.member for d in members]))
            alike.setdefault(key, []).append(members)
    for group in alike.values():
        if len(group) * len(group[0]) < SMALL_TABLE:
            continue
        if len(group) > 1:
            yield _block_of_families(group)
        elif len(group[0][0].member) > 1:
            yield from _blocks_of_family(group[0])


def _blocks_of_family(members: Sequence[Definition]) -> Iterator[_Block]:
    """First list down, second across, and a block for each combination of the others."""
    row, column, *others = members[0].member
    combinations = dict.fromkeys(tuple(d.member[name] for name in others) for d in members)
    for combination in combinations:
        fixed = dict(zip(others, combination, strict=True))
        inside = [d for d in members if all(d.member[k] == v for k, v in fixed.items())]
        titles = {name: _title(value, inside[0]) for name, value in fixed.items()}
        titles |= {row: _named(row), column: _named(column)}
        yield _Block(
            _sentence(inside[0].family_what, titles),
            f"{_head(row, members[0])} ↓ {_head(column, members[0])} →",
            {str(d.member[row]): _title(d.member[row], d) for d in inside},
            {str(d.member[column]): _title(d.member[column], d) for d in inside},
            inside[0].family.format(**fixed, **{row: "{0}", column: "{column}"}),
            {(str(d.member[row]), str(d.member[column])): d for d in inside},
        )


def _block_of_families(families: Sequence[Sequence[Definition]]) -> _Block:
    """The members down, the families across; what all families say at their end is the caption."""
    lists = list(families[0][0].member)
    titles = {name: _spelt(name, families[0]) for name in lists}
    numbered = {name: f"{{{number}}}" for number, name in enumerate(lists)}
    said = [members[0].family_what for members in families]
    end = said[0].partition(": ")[2]
    if not all(what.endswith(f": {end}") for what in said):
        end = ""
    heads = [_head(name, families[0][0]) for name in lists]
    each = f"For each {' and '.join(heads)}"
    named = end and end not in {f"{{{name}}}" for name in lists}
    return _Block(
        _sentence(end, titles) if named else each,
        ", ".join(heads),
        {_row(d): ", ".join(_title(value, d) for value in d.member.values()) for d in families[0]},
        {
            members[0].family.format(**numbered): _sentence(
                what.removesuffix(f": {end}") if end else what, titles
            )
            for members, what in zip(families, said, strict=True)
        },
        "{column}",
        {(_row(d), d.family.format(**numbered)): d for members in families for d in members},
    )


def _row(definition: Definition) -> str:
    return ",".join(str(value) for value in definition.member.values())


def _sentence(what: str, titles: dict[str, str]) -> str:
    """What a family is, as HTML."""
    text = escape(what).format(**titles)
    return re.sub(r"^(<em>)?(.)", lambda found: (found[1] or "") + found[2].upper(), text)


def _by_column(block: _Block, measured: set[str]) -> Iterator[_Block]:
    """The block with the columns that some machine has measured, and one with the others."""
    for known in (True, False):
        columns = {
            column: title
            for column, title in block.columns.items()
            if known == any(block.definitions[row, column].name in measured for row in block.rows)
        }
        if columns:
            inside = {at: d for at, d in block.definitions.items() if at[1] in columns}
            yield replace(block, columns=columns, definitions=inside)


def _two_way_table(label: str, block: _Block, results: Sequence[Result]) -> str:
    """One group of rows for each machine that measured any of it; a dash where none did."""
    groups = "".join(_machine_rows(block, result) for result in results) or (
        f'<tbody><tr><td class="not-measured" colspan="{len(block.columns) + 1}">{NOTHING}</td>'
        "</tr></tbody>"
    )
    head = "".join(f'<th scope="col">{title}</th>' for title in block.columns.values())
    titles = escape("|".join(block.rows.values()))
    wraps = " wraps" if max(map(len, block.rows.values())) > LONGEST_LINE else ""
    return _scroll(
        label,
        f'<table class="results-table two-way{wraps}" data-pattern="{escape(block.pattern)}" '
        f'data-rows="{" ".join(block.rows)}" data-columns="{" ".join(block.columns)}" '
        f'data-titles="{titles}"><caption>{block.caption}</caption>'
        f'<thead><tr><th scope="col">{block.corner}</th>{head}</tr></thead>'
        f"{groups}</table>",
    )


def _machine_rows(block: _Block, result: Result) -> str:
    """The rows of which a machine has measured something, under its name."""
    name, date = escape(machine_name(result)), result.provenance["date"]
    wide = len(block.columns) + 1
    rows = []
    for row, row_title in block.rows.items():
        inside = [block.definitions[row, column] for column in block.columns]
        if any(_estimate(d, result) is not None for d in inside):
            cells = "".join(_cell(d, result, bare=block.caption.startswith(RATES)) for d in inside)
            rows.append(f'<tr><th scope="row">{row_title}</th>{cells}</tr>')
    if not rows:
        return ""
    title = f'<th scope="rowgroup" colspan="{wide}">{name} <small>{date}</small></th>'
    return (
        f'<tbody data-machine="{_slug(result)}"><tr class="machine">{title}</tr>'
        f"{''.join(rows)}</tbody>"
    )


# Cells


def _cell(definition: Definition, result: Result, bare: bool = False) -> str:
    """A value with its unit, bare of ``per second`` where the caption says that, or a dash."""
    value = _estimate(definition, result)
    if value is None:
        return _empty_cell(definition)
    text = escape(write(value.value, definition.unit, value.spread))
    if definition.kind == "saving" and abs(value.value) < NONE_SAVED:
        text = "none"
    if bare:
        text = text.removesuffix(f"{SPACE}per second")
    noisy = " (noisy)" if value.noisy else ""
    return f'<td data-figure="{definition.name}" data-kind="measured">{text}{noisy}</td>'


def _empty_cell(definition: Definition) -> str:
    named = f'data-figure="{definition.name}" data-kind="measured"'
    return f'<td class="not-measured" {named}>{NOTHING}</td>'


def _estimate(definition: Definition, result: Result) -> Estimate | None:
    return catalogue.value_in(definition, result.cases)


# Where it was measured


def _sources(results: Sequence[Result], case: str | None, page: Page) -> str:
    """Machine, software and date of every column, with the raw samples."""
    items = "".join(_source(result, case, page) for result in results)
    return f'<ul class="results-sources">{items}</ul>' if results else ""


def _source(result: Result, case: str | None, page: Page) -> str:
    start = f'<li data-machine="{_slug(result)}">'
    commit = result.provenance.get("commit")
    code = f", commit <code>{escape(commit)}</code>" if commit else ""
    href = f"{page.root}benchmarks/data/{escape(result.file)}"
    skipped = result.skipped.get(case or "", {})
    reasons = dict.fromkeys(skipped.values())
    why = " ".join(f"Skipped: {escape(reason)}." for reason in reasons)
    return (
        f"{start}Measured on {escape(result.where)}{code}. "
        f'<a href="{href}">All raw samples</a>. {why}</li>'
    )


def _others(results: Sequence[Result], page: Page) -> str:
    """The machines that have no column, each with its file, which Compare shows."""
    if not results:
        return ""
    files = ", ".join(
        f'<a href="{page.root}benchmarks/data/{escape(one.file)}">{escape(machine_name(one))}</a>'
        for one in results
    )
    compare = f'<a href="{page.root}benchmarks/compare/">Compare your machine</a>'
    return (
        f'<p class="other-machines">Measured before on {files}. '
        f"Open such a file on {compare}, and these tables show it.</p>"
    )


# The overview


@dataclass(frozen=True)
class ResultsPage:
    """A page with results.

    Attributes:
        name: Its file without the suffix.
        title: Its first heading.
        cases: The headings of its cases, by case.
    """

    name: str
    title: str
    cases: dict[str, str]


def read_page(name: str, folder: Path = PAGES) -> ResultsPage:
    """A results page, as far as its headings tell.

    Raises:
        PageError: If there is no such page, or it has no heading.
    """
    path = folder / f"{name}.md"
    if not path.is_file():
        raise PageError(f"there is no page {path}")
    source = Source.read(path)
    if not source.title:
        raise PageError(f"{path} has no heading")
    # A heading names a case by its anchor, as in: ## Matrix products { #matmul }
    shown = {fence.options.get("case") for fence in source.fences}
    cases = {each.anchor: each.title for each in source.headings if each.anchor in shown}
    return ResultsPage(name, source.title, cases)


def overview_html(pages: Sequence[ResultsPage], store: Store, page: Page) -> str:
    """Cases down, machines across; each cell counts figures, and the last row all of them."""
    results = newest(store.machines(), COMPARED)
    head = "".join(
        f'<th scope="col" data-machine="{_slug(r)}">{escape(machine_name(r))}</th>' for r in results
    )
    groups = "".join(_overview_group(of, store, results, page) for of in pages)
    figures = [d for of in pages for case in of.cases for d in _figures_of(case, store)]
    return (
        '<div class="results" data-search-exclude="">'
        + _scroll(
            "What is measured where",
            '<table class="results-table by-machine"><thead><tr><th scope="col">Case</th>'
            f'<th scope="col">Figures</th>{head}</tr></thead>{groups}'
            f'<tbody><tr class="total"><th scope="row">All of them</th>'
            f"{_counts(figures, store, results)}</tr></tbody></table>",
        )
        + f"</div><p>{_measured_sentence(figures, store)}</p>"
    )


def _overview_group(of: ResultsPage, store: Store, results: Sequence[Result], page: Page) -> str:
    address = f"{page.root}benchmarks/results/{of.name}/"
    rows = "".join(
        f'<tr><th scope="row"><a href="{address}#{case}">{escape(title)}</a></th>'
        f"{_counts(_figures_of(case, store), store, results)}</tr>"
        for case, title in of.cases.items()
    )
    title = f'<th scope="rowgroup" colspan="{len(results) + 2}">{escape(of.title)}</th>'
    return f'<tbody><tr class="machine">{title}</tr>{rows}</tbody>'


def _figures_of(case: str, store: Store) -> list[Definition]:
    return [d for d in store.definitions.values() if d.case == case]


def _counts(figures: Sequence[Definition], store: Store, results: Sequence[Result]) -> str:
    """How many figures there are, and how many of them each machine has measured."""
    files = {d.case: {_slug(one): one for one in store.machines(d.case)} for d in figures}
    counted = [
        sum(_estimate(d, files[d.case][_slug(result)]) is not None for d in figures)
        for result in results
    ]
    cells = "".join(f"<td>{f'{count} measured' if count else NOTHING}</td>" for count in counted)
    return f"<td>{len(figures)}</td>{cells}"


def _measured_sentence(figures: Sequence[Definition], store: Store) -> str:
    """How many figures some machine has measured, and how many none."""
    measured = sum(store.figure(d.name).known for d in figures)
    missing = len(figures) - measured
    if not missing:
        return f"Each of the {len(figures)} figures has been measured on some machine."
    return (
        f"Of {len(figures)} figures, {measured} have been measured on some machine, "
        f"and {missing} on none so far."
    )


# What they share


def _scroll(label: str, table: str) -> str:
    """A table that moves sideways inside itself where the screen is narrow."""
    return (
        f'<div class="results-scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f"{table}</div>"
    )


def _slug(result: Result) -> str:
    return str(result.provenance["machine"])


def _named(name: str) -> str:
    return f"<em>{_word(name)}</em>"


def _spelt(name: str, members: Sequence[Definition]) -> str:
    """A list's name in a sentence, or its members where they read well there."""
    if name not in SPELT:
        return _named(name)
    return " or ".join(dict.fromkeys(_title(d.member[name], d) for d in members))


def _head(name: str, definition: Definition) -> str:
    """A list's name above a table: ``n`` is called what precedes it, as in ``batch_{n}``."""
    before = re.search(r"([a-z]+)_\{n\}", definition.family) if name == "n" else None
    return _word(before[1] if before else name)


def _word(name: str) -> str:
    return escape(WORDS.get(name, name.replace("_", " ")))


def _title(value: Any, definition: Definition) -> str:
    """A member of a family, which its name has in braces, in a reader's words."""
    if isinstance(value, int):
        return f"{value:,}"
    words = definition.fields.get("words", {})
    return escape(words[value]) if value in words else DEVICES.get(value) or _word(str(value))
