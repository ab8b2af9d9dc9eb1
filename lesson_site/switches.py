"""The fence that lets readers switch the new lines of a loop on and off, and see what it does."""

from html import escape
from itertools import product

from markdown import Markdown

from lesson_site.differences import added
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.highlighting import highlighted_lines
from lesson_site.markdown_source import read_yaml
from lesson_site.page import current_page
from lesson_site.sections import Section, read_section
from results import recorded


@fence(code=True, without=True, of=True)
def switches(source: str, options: Options, md: Markdown) -> str:
    """A section with a switch for each line that another section lacks.

    ``code`` and ``without`` name the sections. ``of`` is a recorded function whose data has the
    outcome of every combination, such as ``"110"``: its ``line`` where it stops, counted in
    ``code``. The body is YAML with a sentence for each combination.
    """
    section = read_section(options["code"])
    new = added(read_section(options["without"]).lines, section.lines)
    states = ["".join(state) for state in product("01", repeat=len(new))]
    sentences = read_yaml(source)
    if not isinstance(sentences, dict) or sorted(map(str, sentences)) != states:
        raise PageError(
            f'its body must have a sentence for each of "{states[0]}" to "{states[-1]}"'
        )
    recording = recorded.read(options["of"])
    if (
        recording is None
        or not isinstance(recording.data, dict)
        or set(recording.data) != set(states)
    ):
        raise PageError(f"{options['of']} must be recorded, with data for each combination")
    file, href = section.path.as_posix(), current_page(md).code(section.file)
    rows = "".join(
        _row(state, str(sentences[state]), recording.data[state].get("line")) for state in states
    )
    heads = "".join(f"<th><code>{escape(_start(section.lines[i]))}</code></th>" for i in new)
    return (
        '<div class="check admonition"><loop-switches>'
        f'<div class="highlight check-code"><ol class="check-lines">{_lines(section, new)}</ol>'
        f'<p class="check-file"><a href="{escape(href)}">{file}</a></p>'
        '</div><details class="switch-all"><summary>All combinations, as they ran</summary>'
        f"<table><thead><tr>{heads}<th>what happens</th></tr></thead><tbody>{rows}</tbody></table>"
        "</details></loop-switches></div>"
    )


def _lines(section: Section, new: list[int]) -> str:
    items = []
    for index, line in enumerate(highlighted_lines(section.text)):
        switch = f' data-switch="{new.index(index)}"' if index in new else ""
        blank = "" if line.strip() else ' class="check-blank"'
        items.append(f"<li{switch}{blank}><code>{line}</code></li>")
    return "".join(items)


def _row(state: str, sentence: str, line: int | None) -> str:
    cells = "".join(f"<td>{'yes' if on == '1' else 'no'}</td>" for on in state)
    stops = f' data-line="{line}"' if line else ""
    return f'<tr data-on="{state}"{stops}>{cells}<td>{escape(sentence)}</td></tr>'


def _start(line: str) -> str:
    """Enough of a line to know it."""
    return line.strip().partition(" = ")[0]
