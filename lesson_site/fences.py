"""The fences that authors write: shown code, code side by side, and recorded output.

Each is a custom fence of pymdownx.superfences; README and CONTRIBUTING show how they are used.
A mistake in one raises :class:`~lesson_site.errors.PageError`, which stops the build.
"""

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import pygments
import yaml
from markdown import Markdown
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer

from lesson_site import printed_tables, runnable
from lesson_site.differences import Line, added, compare
from lesson_site.errors import PageError
from lesson_site.highlighting import in_few_spans
from lesson_site.markdown_source import read_yaml
from lesson_site.page import current_page
from lesson_site.remembered import remembered
from lesson_site.sections import Section, read_section
from results import recorded
from results.quantities import in_words
from results.recorded import RecordingError

Options = dict[str, Any]
Format = Callable[..., str]


def fence(**known: bool) -> Callable[[Format], Format]:
    """Give a formatter its options, checked, and errors that name the page and the line.

    Args:
        known: The options that the fence takes; True for those that must be given.
    """

    def decorate(draw: Format) -> Format:
        @functools.wraps(draw)  # under its own name, so that Zensical can pickle it
        def formatter(
            source: str,
            language: str,
            class_name: str,
            options: Options,
            md: Markdown,
            **_: Any,
        ) -> str:
            where = f"{current_page(md).source}:{options.pop('line', '?')}"
            unknown = sorted(set(options) - set(known))
            missing = sorted(
                name for name, needed in known.items() if needed and name not in options
            )
            try:
                if unknown:
                    raise PageError(f"takes no option {unknown[0]!r}; it takes {', '.join(known)}")
                if missing:
                    raise PageError(f"needs the option {missing[0]!r}")
                return draw(source, options, md)
            except Exception as problem:
                # superfences turns any other exception into a plain code block, and goes on
                raise PageError(f"{where}: {language}: {_in_words(problem)}") from problem

        return formatter

    return decorate


def _in_words(problem: Exception) -> str:
    """What went wrong in a fence, on one line."""
    said = " ".join(str(problem).split())
    return f"its body is no YAML: {said}" if isinstance(problem, yaml.YAMLError) else said


def keep_options(
    language: str, inputs: Options, options: Options, attrs: Options, md: Markdown
) -> bool:
    """Hand everything in a fence's first line to its formatter, which knows what it takes."""
    options.update(inputs)
    return True


@fence(show=True, new_since=False, title=False, run=False)
def code(source: str, options: Options, md: Markdown) -> str:
    """A section of a tested module, with a link to its file.

    ``show`` names the section; ``new_since`` another one, and every line that it does not have is
    marked; ``title`` takes the place of the file's name; ``run`` gives the snippet a Run button,
    and names the section of the same file that runs after it, with what that prints behind a
    summary.
    """
    section = read_section(options["show"])
    runs = prints = ""
    if "run" in options:
        runs = runnable.attributes(section, options["run"])
        prints = runnable.prints_html(section, options["run"])
    new = None
    if "new_since" in options:
        new = added(read_section(options["new_since"]).lines, section.lines)
    caption = _file_link(section, md, options.get("title"))
    html = _highlighted(section, new)
    return f'<figure class="code"{runs}>{html}{prints}<figcaption>{caption}</figcaption></figure>'


@fence(of=True, device=False, after=False)
def output(source: str, options: Options, md: Markdown) -> str:
    """What a snippet printed when it was last recorded.

    ``of`` names module and function; ``device`` is ``cpu`` unless it says ``cuda``. Of a GPU's that
    nobody has recorded it says which command records it. The body has the heads of tables, a line
    for each, as in ``| weight | off by, %``; without it the text is shown as it was printed.
    ``after`` is added right after code, to which its output is closer than to anything else.
    """
    name = "output of-code" if "after" in options else "output"
    device = options.get("device", "cpu")
    if device not in ("cpu", "cuda"):
        raise PageError(f"device is {device!r}; it must be cpu or cuda")
    recording = recorded.read(options["of"], device)
    if recording is None and device == "cpu":
        raise RecordingError(
            f"nothing is recorded; run `python -m lesson_site record {options['of']}`"
        )
    runs = f' data-runs="{escape(options["of"])}"'  # where the page is served live, it can
    if recording is None:
        return (
            f'<figure class="{name} not-measured"{runs}><p>On a GPU, '
            f"<code>python -m lesson_site record {escape(options['of'])} --device cuda</code> "
            "records here what it prints.</p></figure>"
        )
    text = recording.shown.rstrip()
    shown = printed_tables.text_html(text)
    if heads := printed_tables.read_heads(source):
        printer = options["of"].partition(":")[2]
        shown = printed_tables.to_html(
            printed_tables.parts_of(text, heads), f"Printed by {printer}"
        )
    return (
        f'<figure class="{name}"{runs}>{shown}'
        f"<figcaption>{_printed_by(options['of'], md)} {escape(recording.caption)}</figcaption>"
        "</figure>"
    )


@fence(before=True, after=True, context=False)
def difference(source: str, options: Options, md: Markdown) -> str:
    """What changed between two sections of a tested module, with a few lines around it.

    ``before`` and ``after`` name the sections; ``context`` is how many unchanged lines stand
    around each change, two unless told.
    """
    before, after = read_section(options["before"]), read_section(options["after"])
    lines = compare(before.lines, after.lines)
    changed = [i for i, line in enumerate(lines) if line.kind in ("added", "removed")]
    if not changed:
        raise PageError(f"{options['before']} and {options['after']} are the same")
    around = int(options.get("context", 2))
    shown = [i for i in range(len(lines)) if any(abs(i - place) <= around for place in changed)]
    rows, last = [], -1
    for i in shown:
        if i > last + 1:
            rows.append('<span class="diff-gap">  ⋯</span>')
        rows.append(_diff_line(lines[i]))
        last = i
    body = "\n".join(rows)
    return (
        f'<figure class="code diff"><pre tabindex="0"><code>{body}</code></pre>'
        f"<figcaption>{_file_link(after, md)}</figcaption></figure>"
    )


def _diff_line(line: Line) -> str:
    """A line with the sign that says what became of it, so that colour is not needed."""
    text = escape(line.text)
    if line.kind == "added":
        return f"<ins>+ {text}</ins>"
    return f"<del>- {text}</del>" if line.kind == "removed" else f"  {text}"


@fence()
def compare_sections(source: str, options: Options, md: Markdown) -> str:
    """Two sections side by side, and every changed line with its reason.

    The body is YAML: ``before`` and ``after`` name sections, ``labels`` the two columns, and
    ``reasons`` lists for each added line its ``line`` (enough of it to be unique), ``why``, and,
    where it takes the place of another, what it ``replaces``.
    """
    body = _comparison_of(source)
    before, after = read_section(body["before"]), read_section(body["after"])
    lines = compare(before.lines, after.lines)
    changes = _changes(lines, body["reasons"])
    old = [line.index for line in lines if line.kind == "removed"]
    new = [line.index for line in lines if line.kind == "added"]
    panes = [
        (body["labels"][0], _pane(before, old, md, "removed")),
        (body["labels"][1], _pane(after, new, md, "added")),
        ("What changed", f'<p class="compare-count">{_count(lines, changes)}</p>{_list(changes)}'),
    ]
    return _tabs(body["before"] + body["after"], panes)


def _comparison_of(source: str) -> dict[str, Any]:
    """The body of a comparison, whose parts are of the right kinds."""
    body = read_yaml(source)
    if not isinstance(body, dict) or body.keys() != {"before", "after", "labels", "reasons"}:
        raise PageError("its body has before, after, labels and reasons, and nothing else")
    for name in ("before", "after"):
        if not isinstance(body[name], str):
            raise PageError(f"{name} names a section, such as gpu_training/loop_cpu.py:loop")
    labels, reasons = body["labels"], body["reasons"]
    if not _are_texts(labels) or len(labels) != 2:
        raise PageError("labels are two texts, one for each side")
    for reason in reasons if isinstance(reasons, list) else [None]:
        if not isinstance(reason, dict) or not {"line", "why"} <= reason.keys():
            raise PageError("reasons are a list, and each has a line and why")
        if not _are_texts(list(reason.values())):
            raise PageError(
                f"the reason for the line {reason['line']!r} has a part that is no text"
            )
    return body


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _highlighted(section: Section, marked: list[int] | None = None, kind: str = "added") -> str:
    lines = [i + 1 for i in marked or []]
    question = ["coloured", pygments.__version__, section.text, lines]
    html = in_few_spans(remembered(question, lambda: _coloured(section.text, lines)))
    if kind == "removed":
        html = html.replace('class="hll"', 'class="hll removed"')
    classes = "language-python highlight marked" if lines else "language-python highlight"
    return html.replace('<div class="highlight">', f'<div class="{classes}">')


def _coloured(code: str, marked: list[int]) -> str:
    formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=False, wrapcode=True, hl_lines=marked)
    return highlight(code, PythonLexer(), formatter)


def _file_link(section: Section, md: Markdown, title: str | None = None) -> str:
    href = current_page(md).code(section.file)
    lines = f", lines {section.numbers[0]} to {section.numbers[-1]}" if section.name else ""
    return f'<a href="{escape(href)}">{escape(title or section.path.as_posix())}</a>{lines}'


def _printed_by(target: str, md: Markdown) -> str:
    """A link to the code that printed an output."""
    module, _, function = target.partition(":")
    href = current_page(md).code(f"{module}.py")
    return f'Printed by <a href="{escape(href)}"><code>{escape(function)}</code></a>.'


def _pane(section: Section, marked: list[int], md: Markdown, kind: str) -> str:
    file = _file_link(section, md)
    return f'{_highlighted(section, marked, kind)}<p class="compare-file">{file}</p>'


@dataclass(frozen=True)
class _Change:
    """An added line, what it replaces, and why it is there."""

    line: str
    replaces: str | None
    why: str


def _changes(lines: list[Line], reasons: list[dict[str, str]]) -> list[_Change]:
    """Pair each added line with its reason; every line has one, and no reason is left over."""
    added_lines = [line.text.strip() for line in lines if line.kind == "added"]
    removed_lines = [line.text.strip() for line in lines if line.kind == "removed"]
    changes = []
    for text in added_lines:
        matching = [reason for reason in reasons if reason["line"] in text]
        if len(matching) != 1:
            raise PageError(
                f"{len(matching)} reasons fit the added line {text!r}; give exactly one"
            )
        replaces = matching[0].get("replaces")
        if replaces is not None and replaces not in removed_lines:
            raise PageError(f"{replaces!r} is not among the removed lines {removed_lines}")
        changes.append(_Change(text, replaces, matching[0]["why"]))
    if len(reasons) != len(changes):
        raise PageError(f"{len(reasons)} reasons are given for {len(changes)} added lines")
    unexplained = set(removed_lines) - {change.replaces for change in changes}
    if unexplained:
        raise PageError(f"no reason says what replaces the removed line {min(unexplained)!r}")
    return changes


def _count(lines: list[Line], changes: list[_Change]) -> str:
    new = sum(change.replaces is None for change in changes)
    edited = len(changes) - new
    moved = sum(line.kind == "moved" for line in lines)
    if not edited and not moved:
        added_count = f"{_lines(new).capitalize()} added, none removed."
        return f"<strong>{added_count}</strong> Every other line is identical."
    total = f"{_lines(len(changes)).capitalize()}: {in_words(new)} new, {in_words(edited)} edited."
    return f"<strong>{total}</strong> {_lines(moved).capitalize()} only moved to the right."


def _list(changes: list[_Change]) -> str:
    items = []
    for change in changes:
        old = f"<del><code>{escape(change.replaces)}</code></del> " if change.replaces else ""
        items.append(
            f"<li>{old}<ins><code>{escape(change.line)}</code></ins><p>{escape(change.why)}</p></li>"
        )
    return f'<ol class="changes">{"".join(items)}</ol>'


def _lines(count: int) -> str:
    return f"{in_words(count)} line{'' if count == 1 else 's'}"


def _tabs(identity: str, panes: list[tuple[str, str]]) -> str:
    """Material's content tabs; on wide screens the style sheet shows all of them at once."""
    group = "__tabbed_" + hashlib.sha256(identity.encode()).hexdigest()[:8]
    inputs = "".join(
        f'<input{" checked" if i == 1 else ""} id="{group}_{i}" name="{group}" type="radio">'
        for i in range(1, len(panes) + 1)
    )
    labels = "".join(
        f'<label for="{group}_{i}">{escape(label)}</label>'
        for i, (label, _) in enumerate(panes, start=1)
    )
    blocks = "".join(
        f'<div class="tabbed-block"><p class="compare-title">{escape(label)}</p>{html}</div>'
        for label, html in panes
    )
    return (
        f'<div class="tabbed-set tabbed-alternate compare" data-tabs="{group}:{len(panes)}">'
        f"{inputs}"
        f'<div class="tabbed-labels">{labels}</div><div class="tabbed-content">{blocks}</div></div>'
    )
