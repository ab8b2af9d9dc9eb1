"""The tables of what others published: ``lesson-published topic="…"``.

A group of ``results/published`` is a table: its rows and columns are fields of the setting, and
what all its figures share is said once, below it, with the sources. A cell says what else differs.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape

from markdown import Markdown

from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from results.published import RATIOS, Group, Published, Source, read_topics

FIELDS = {
    "card": "Ran on",
    "model": "Network",
    "batch": "Batch",
    "format": "Format",
    "layout": "Layout",
    "setting": "Setting",
    "software": "Software",
}
NONE = "–"
CODE = re.compile(r"[a-z]+[_\d]")
WAYS = {
    "stated": "stated without a table",
    "calculated": "calculated by the source",
    "copied": "read in a copy",
    "our division": "our division",
    "our count": "our count over its rows",
}


@fence(topic=True, only=False)
def tables(source: str, options: Options, md: Markdown) -> str:
    """The tables of a topic, or those of the groups that ``only`` names."""
    topics = read_topics()
    if options["topic"] not in topics:
        raise PageError(f"there is no topic {options['topic']!r}; there are {', '.join(topics)}")
    groups = {group.id: group for group in topics[options["topic"]]}
    wanted = options.get("only", " ".join(groups)).split()
    if missing := [name for name in wanted if name not in groups]:
        raise PageError(f"the topic has no group {missing[0]!r}; it has {', '.join(groups)}")
    return "".join(table(groups[name]) for name in wanted)


def anchor(group: Group) -> str:
    """The id of a group's table in the page."""
    return f"published-{group.id.replace('.', '-')}"


def table(group: Group) -> str:
    """A group as a table, and below it where the figures come from."""
    cells = {group.cell(figure): figure for figure in group.figures}
    rows, columns = (list(dict.fromkeys(places)) for places in zip(*cells, strict=True))
    head = "".join(f'<th scope="col">{escape(_heading(name, group))}</th>' for name in columns)
    body = "".join(_row(row, [cells.get((row, name)) for name in columns], group) for row in rows)
    title = escape(group.title)
    return (
        f'<figure class="published" id="{anchor(group)}">'
        f'<div class="results-scroll" tabindex="0" role="region" aria-label="{title}">'
        f'<table class="results-table"><caption>{title}</caption><thead><tr>'
        f'<th scope="col">{FIELDS.get(group.rows, "What")}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{_below(group)}</figure>"
    )


def _heading(column: str, group: Group) -> str:
    """What a column shows; one without a name shows what the figures are."""
    column = f"batch {column}" if group.columns == "batch" else column
    return _sentence(column or group.figures[0].quantity)


def _row(name: str, figures: Sequence[Published | None], group: Group) -> str:
    """A row; what differs from other rows is said in its head, what differs inside it in cells."""
    printed = [figure for figure in figures if figure and not _compares(figure, group)]
    own: list[str] = []
    inside: list[str] = []
    for field in _differing(group):
        values = {getattr(figure, field) for figure in printed}
        if len(values) > 1:
            inside.append(field)
        elif values and "" not in values:
            own.append(_said(field, values.pop()))
    cells = "".join(
        _cell(figure, [] if figure and _compares(figure, group) else inside) for figure in figures
    )
    return f'<tr><th scope="row">{escape(_sentence(name))}{_small(own)}</th>{cells}</tr>'


def _compares(figure: Published, group: Group) -> bool:
    """Whether a figure is the ratio of others in its table, and so has no setting of its own."""
    return figure.unit in RATIOS and any(other.unit not in RATIOS for other in group.figures)


def _differing(group: Group) -> list[str]:
    """Fields of the setting that neither rows nor columns show, and in which figures differ."""
    printed = [figure for figure in group.figures if not _compares(figure, group)]
    return [
        field
        for field in FIELDS
        if field not in (group.rows, group.columns, "software")
        and len({getattr(figure, field) for figure in printed}) > 1
    ]


def _cell(figure: Published | None, fields: Iterable[str]) -> str:
    if figure is None:
        return f"<td>{NONE}</td>"
    marked = f'data-figure="published.{figure.id}" data-kind="published"'
    also = [_said(field, getattr(figure, field)) for field in fields if getattr(figure, field)]
    if not also:
        return f"<td {marked}>{escape(figure.text)}</td>"
    return f"<td><span {marked}>{escape(figure.text)}</span>{_small(also)}</td>"


def _small(words: Sequence[str]) -> str:
    return f" <small>{escape(', '.join(words))}</small>" if words else ""


def _said(field: str, value: str) -> str:
    return f"batch {value}" if field == "batch" else value


def _shared(group: Group) -> str:
    """What every figure of the group has in common, ratios of others aside, as a sentence."""
    printed = [figure for figure in group.figures if not _compares(figure, group)]
    said = []
    for field in FIELDS:
        first, *others = {getattr(figure, field) for figure in printed}
        if field not in (group.rows, group.columns) and first and not others:
            said.append(_said(field, first))
    return _sentence(", ".join(said))


def _below(group: Group) -> str:
    """Setting, sources, how the figures were obtained, and on request what they do not say."""
    sources = list(dict.fromkeys(s for figure in group.figures for s in figure.sources))
    links = "; ".join(map(_link, sources))
    shared = _shared(group)
    setting = f"{escape(shared)}. " if shared else ""
    ways = "".join(f" {sentence}." for sentence in _ways(group))
    return (
        f"<figcaption>{setting}Published by {links}. Read on {_days(sources)}.{escape(ways)}"
        f"{_caveats(group)}</figcaption>"
    )


def _link(source: Source) -> str:
    return f'<a href="{escape(source.address)}">{escape(source.named)}</a>'


def _days(sources: Sequence[Source]) -> str:
    return " and ".join(sorted({source.read for source in sources}))


def _ways(group: Group) -> list[str]:
    """What ratios are against, and how figures were obtained that their source did not measure."""
    bases = dict.fromkeys(
        figure.base
        for figure in group.figures
        if figure.base and group.cell(figure)[0] != figure.compared  # whose row says it already
    )
    found = [f"Ratios are against {'; or '.join(bases)}"] if bases else []
    for how, said in WAYS.items():
        figures = [figure for figure in group.figures if figure.how == how]
        if figures:
            found.append(f"{_which(figures, group)} {said}")
    return found


def _which(figures: Sequence[Published], group: Group) -> str:
    """All of a table, its ratios, or the rows or columns that nothing else is in."""
    others = [figure for figure in group.figures if figure not in figures]
    if not others:
        return "All of it is"
    if all(figure.unit in RATIOS for figure in figures):
        return "Ratios are"
    for place in (1, 0):
        names = dict.fromkeys(group.cell(figure)[place] for figure in figures)
        printed = [figure for figure in others if figure.how != "our division"]
        if names.keys().isdisjoint(group.cell(figure)[place] for figure in printed):
            return f"“{'”, “'.join(map(_sentence, names))}”:"
    raise PageError(f"{group.id}: figures of several kinds share their rows and columns")


def _caveats(group: Group) -> str:
    """What the figures do not say, each once, with the rows of which it holds."""
    rows: dict[str, dict[str, None]] = {}
    for figure in group.figures:
        if figure.caveat:
            rows.setdefault(figure.caveat, {})[group.cell(figure)[0]] = None
    if not rows:
        return ""
    every = {group.cell(figure)[0] for figure in group.figures if not _compares(figure, group)}
    said = [
        caveat if every <= of.keys() else f"{', '.join(of)}: {caveat}"
        for caveat, of in rows.items()
    ]
    return f" <details><summary>What it does not say</summary>{escape(' '.join(said))}</details>"


def _sentence(text: str) -> str:
    """``text`` with a capital, unless it begins with a name of code, such as float16."""
    return text if CODE.match(text) else text[:1].upper() + text[1:]
