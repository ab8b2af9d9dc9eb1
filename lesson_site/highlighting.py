"""Python in HTML, with spans for what the style colours and for nothing else."""

import re

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer

# Names, operators, punctuation and spaces have the colour of the text. Most of code is that, and
# with spans of their own they would be a fifth of all elements of the site.
UNCOLOURED = re.compile(r'<span class="(?:n|nn|o|ow|p|w)">([^<]*)</span>')


def in_few_spans(html: str) -> str:
    """What Pygments made, without the spans that change nothing."""
    return UNCOLOURED.sub(r"\1", html)


def highlighted_lines(code: str) -> list[str]:
    """One piece of HTML for each line; the formatter closes its elements at every line's end."""
    html = highlight(code, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True))
    return in_few_spans(html).rstrip("\n").split("\n")
