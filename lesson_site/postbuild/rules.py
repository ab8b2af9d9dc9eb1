"""The theme's style sheets without the rules that nothing on the site can match.

The theme styles blogs, banners, keys and much more that a page of this site never has, and every
page loads it. A selector stays if for each of its parts some element of a page has the tag, the
classes and the attributes that the part asks for, or may get them from a script: each word in a
text of the theme's scripts or of ours may become a class of anything, and each word an attribute.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import tinycss2
from tree_sitter import Query, QueryCursor

from lesson_site.files import write_whole
from lesson_site.postbuild.comments import LANGUAGE, tree_of
from lesson_site.postbuild.minify import minify_css

SHEETS = "assets/stylesheets/*.css"
OUR_SHEETS = ("assets/*.css", "assets/mission/*.css", "assets/elements/*/*.css")
# What lies in `assets/vendor` brings its own style, or makes no elements.
SCRIPTS = ("assets/javascripts/*.js", "assets/javascripts/workers/*.js")
OUR_SCRIPTS = ("assets/lesson.js", "assets/elements/**/*.js")
DATA = "assets/data/*.json"  # from which scripts make elements
OURS = Path("assets/style.css")
JOINED = ("main", "palette")  # in the order in which the theme names them
SOURCE_MAP = re.compile(r"/\*# sourceMappingURL=[^*]*\*/\s*")
WORD = re.compile(r"[\w-]+")
NAME = re.compile(r"(?<![\w.-])[\w-]+")  # a selector in a script looks for a class, and makes none
TEXTS = Query(LANGUAGE, "[(string_fragment) (template_string)] @text")
ANNOTATED = r"""class=["']?[^"'>]*\bannotate\b|content\.code\.annotate"""
WITH_TOOLTIPS = rf"{ANNOTATED}|content\.(?:footnote\.)?tooltips|instant\.preview|data-preview"
# What the theme's script makes only where a page has something, and what a page has then.
MADE_FOR = {
    "card": r"""class=["']?[^"'>]*\bcards?\b""",
    "dialog": WITH_TOOLTIPS,  # a role
    "grid": r"""class=["']?[^"'>]*\bgrid\b""",
    "md-annotation": ANNOTATED,
    "md-mermaid": r"""class=["']?[^"'>]*\bmermaid\b""",
    "md-source": r"""data-md-component=["']?source\b""",
    "md-tag": r"""class=["']?[^"'>]*\bmd-tags?\b|"tags": *\{""",
    "md-tooltip": WITH_TOOLTIPS,
    "md-version": r""""version": *\{""",
}
# A rule for anything at all that is in something, or after it, has the browser compute the style of
# each element of a page anew whenever a script changes a class or adds an element:
# - The theme's script marks the body while it sets the colours, first of all while a page loads.
#   Without the rule for that, links fade when a reader changes the colours.
# - What has no class is asked for whenever a class changes, of the whole page too. A cell of
#   Markdown holds no block, whose margin such a rule takes away.
# - What follows a table or a heading is asked for wherever anything is added. The theme's script
#   puts each table into a box, and without scripts the margin of the text itself is left; a heading
#   right after another has the room of any heading.
COSTLY = re.compile(
    r"\[data-md-color-switching\]|table:not\(\[class\]\)(?:\s*\+\s*\*| t[dh]\s*>\s*:)|h2\s*\+\s*h3"
)
# Said of the only elements that there can be, a rule costs nothing.
NARROWED = {
    ".tabbed-labels>:": ".tabbed-labels>label:",
    ".tabbed-content>:": ".tabbed-content>.tabbed-block:",
}
TAB = re.compile(r"\.tabbed-set>input:nth-child\((\d+)\)")
TAB_NAME = re.compile(r"""<input\b[^>]*\bname=["']?(__tabbed_[\w-]+)""")
# Scripts join some names from two parts, the first of which ends so: `tabbed-control--` and `next`.
BEGINNING = re.compile(r"[\w-]+(?:--|__)")
PIECE = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{};"']+|.""", re.DOTALL)
NESTING = ("@media", "@supports", "@layer", "@container")
INLINE_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
VALUE = r"""\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))"""
TAG = re.compile(rf"""<([a-zA-Z][\w-]*)((?:\s+[^\s"'<>/=]+(?:{VALUE})?)*)\s*/?>""")
ATTRIBUTE = re.compile(rf"""([^\s"'<>/=]+)(?:{VALUE})?""")
BY_PAGES_ALONE = ("dir",)  # the theme's script reads it, and no script sets it
CLASS = re.compile(r"\.([\w-]+)")
BRACKETS = re.compile(r"\[[^\]]*\]|\((?:[^()]|\([^()]*\))*\)")
PROPERTY = re.compile(r"--[\w-]+")
OF_ALTERNATIVES = ("is", "where", "has", "matches", "-webkit-any", "-moz-any")

Element = tuple[str, frozenset[str], tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Rule:
    """A rule of a style sheet.

    Attributes:
        head: Its selectors, or what an at-rule says before its block.
        body: Its declarations, or the rules that it holds.
    """

    head: str
    body: "str | list[Rule]"


@dataclass
class Part:
    """What a selector asks of one element.

    Attributes:
        tag: Its tag; empty for any.
        classes: Its classes.
        attributes: Name, operator and value of its attributes; no operator asks for the name alone.
        others: Lists of selectors in brackets, of each of which one has to match.
    """

    tag: str = ""
    classes: set[str] = field(default_factory=set)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    others: list[list[list["Part"]]] = field(default_factory=list)


class Known:
    """What elements of the site have, and what scripts may give them."""

    def __init__(self, pages: Iterable[str], scripts: Iterable[str], data: Iterable[str] = ()):
        """Read the pages, the scripts, and texts from which scripts make elements."""
        tags: set[tuple[str, str]] = set()
        said = set(scripts)
        in_pages: set[str] = set()
        self.tabs = 0
        for page in pages:
            tags.update((found[0], found[1]) for found in TAG.findall(page))
            in_pages.update(INLINE_SCRIPT.findall(page))
            self.tabs = max([self.tabs, *Counter(TAB_NAME.findall(page)).values()])
        # Most tags are those of other pages too, and each is looked at once.
        has = "\n".join([*in_pages, *(rest for _, rest in tags)])
        self.unmade = tuple(name for name in sorted(MADE_FOR) if not re.search(MADE_FOR[name], has))
        said |= in_pages
        for text in [*data, *(unescape(rest) for _, rest in tags if "&lt;" in rest)]:
            tags.update((found[0], found[1]) for found in TAG.findall(text.replace('\\"', '"')))
        self.words = {word for text in said for word in WORD.findall(text)}
        self.spoken = {word for text in said for word in _names(text)}
        self.beginnings = {word for word in self.spoken if BEGINNING.fullmatch(word)}
        self.having: defaultdict[str, set[Element]] = defaultdict(set)
        for tag, rest in tags:
            element = _element(tag, rest)
            for sign in _signs(*element):
                self.having[sign].add(element)

    def may_match(self, selector: str) -> bool:
        """Whether each part of a selector may be an element."""
        tab = TAB.search(selector)
        if tab and int(tab[1]) > self.tabs:
            return False
        names = CLASS.findall(BRACKETS.sub("", selector))
        if not all(f".{name}" in self.having or self._spoken(name) for name in names):
            return False  # the same, and sooner
        return all(map(self._may_be, _parts(tinycss2.parse_component_value_list(selector))))

    def _may_be(self, part: Part) -> bool:
        if not all(any(all(map(self._may_be, one)) for one in each) for each in part.others):
            return False
        fixed = [name for name in part.classes if not self._spoken(name)]
        asked = [each for each in part.attributes if not self._settable(*each)]
        if not fixed and not asked and (not part.tag or part.tag in self.words):
            return True  # a script may make it, or make it of anything
        signs = _signs(part.tag, fixed, [(name, value) for name, _, value in asked])
        candidates = min((self.having.get(sign, set()) for sign in signs), key=len)
        return any(
            part.tag in ("", tag)
            and classes.issuperset(fixed)
            and all(_has(dict(attributes), *each) for each in asked)
            for tag, classes, attributes in candidates
        )

    def _spoken(self, name: str) -> bool:
        """Whether a script may give this class, or join it from two parts."""
        if name.startswith(self.unmade):
            return False
        beginning = BEGINNING.match(name)
        return name in self.spoken or (beginning is not None and beginning[0] in self.beginnings)

    def _settable(self, name: str, operator: str, value: str) -> bool:
        """Whether a script may give an element this attribute."""
        if name in BY_PAGES_ALONE:
            return False
        in_script = "".join(word.capitalize() for word in name.removeprefix("data-").split("-"))
        names = {name, in_script[:1].lower() + in_script[1:]}
        if not names & self.words:
            return False
        return operator != "=" or self._spoken(value)


def drop_unmatched_rules(site: Path) -> None:
    """Take out of the theme's style sheets what no page of ``site`` can match.

    Then custom properties that nothing asks for any more go as well. A second time changes nothing.
    """
    sheets = {path: path.read_text(encoding="utf-8") for path in sorted(site.glob(SHEETS))}
    if not sheets:
        return
    scripts = _texts(site, *SCRIPTS, *OUR_SCRIPTS)
    pages = _texts(site, "**/*.html")
    known = Known(pages, scripts, _texts(site, DATA))
    short = {path: matched(narrowed(css), known) for path, css in sheets.items()}
    elsewhere = {name for text in scripts for name in PROPERTY.findall(text)}
    elsewhere -= {name for name in elsewhere if name.removeprefix("--").startswith(known.unmade)}
    elsewhere.update(
        name for text in (*_texts(site, *OUR_SHEETS), *pages) for name in _asked_for(text)
    )
    while True:
        asked = elsewhere.union(*map(_asked_for, short.values()))
        less = {path: without_properties(css, asked) for path, css in short.items()}
        if less == short:
            break
        short = less
    for path, css in short.items():
        if css != sheets[path]:
            write_whole(path, css)


def join_sheets(site: Path) -> None:
    """Put the theme's sheets before ours in one file, so that pages ask for two files less.

    A second time changes nothing.
    """
    ours = site / OURS
    theirs = [next(site.glob(f"assets/stylesheets/{name}.*.css"), None) for name in JOINED]
    sheets = [sheet for sheet in theirs if sheet is not None]
    if not sheets or not ours.is_file():
        return
    joined = [SOURCE_MAP.sub("", sheet.read_text(encoding="utf-8")) for sheet in (*sheets, ours)]
    write_whole(ours, minify_css("".join(joined)))
    names = "|".join(re.escape(sheet.name) for sheet in sheets)
    link = re.compile(rf'<link rel="stylesheet" href="[^"]*/(?:{names})">\s*')
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        if link.search(html):
            write_whole(page, link.sub("", html))
    for sheet in sheets:
        sheet.unlink()


def narrowed(css: str) -> str:
    """A style sheet whose rules for tabs ask for nothing but tabs."""
    for wide, narrow in NARROWED.items():
        css = css.replace(wide, narrow)
    return css


def matched(css: str, known: Known) -> str:
    """A style sheet without the rules that match nothing of what is known."""

    def kept(rule: Rule) -> str:
        selectors = [
            one for one in selectors_of(rule) if not COSTLY.search(one) and known.may_match(one)
        ]
        return f"{','.join(selectors)}{{{rule.body}}}" if selectors else ""

    return _shortened(rules_of(css), kept)


def without_properties(css: str, asked: set[str]) -> str:
    """A style sheet that declares no custom properties but those that are asked for."""

    def kept(rule: Rule) -> str:
        assert isinstance(rule.body, str)
        lines = [
            line
            for line in _split(rule.body, ";")
            if line.strip() and not _declares_another(line, asked)
        ]
        return f"{rule.head}{{{';'.join(lines)}}}" if lines else ""

    return _shortened(rules_of(css), kept)


def _shortened(rules: list[Rule], kept: Callable[[Rule], str]) -> str:
    """A style sheet of what ``kept`` leaves of each rule, without blocks that have become empty."""

    def text_of(rule: Rule) -> str:
        if isinstance(rule.body, list):
            inside = _shortened(rule.body, kept)
            return f"{rule.head}{{{inside}}}" if inside else ""
        if rule.head.startswith("@"):
            return f"{rule.head}{{{rule.body}}}" if rule.body else rule.head
        return kept(rule)

    return "".join(map(text_of, rules))


def _declares_another(declaration: str, asked: set[str]) -> bool:
    name = declaration.partition(":")[0].strip()
    return name.startswith("--") and name not in asked


def _asked_for(css: str) -> set[str]:
    """The custom properties whose values a style sheet asks for."""
    return set(re.findall(r"var\(\s*(--[\w-]+)", css))


def _texts(site: Path, *patterns: str) -> list[str]:
    paths = {path for pattern in patterns for path in site.glob(pattern)}
    return [path.read_text(encoding="utf-8") for path in sorted(paths)]


def _names(script: str) -> Iterator[str]:
    """The words in a script's texts that may be names of classes."""
    for text in QueryCursor(TEXTS).captures(tree_of(script)).get("text", []):
        yield from NAME.findall((text.text or b"").decode())


def _element(tag: str, rest: str) -> Element:
    """What a page writes between the brackets of a tag."""
    attributes = {
        found[0].lower(): unescape(found[1] or found[2] or found[3])
        for found in ATTRIBUTE.findall(rest)
    }
    classes = frozenset(attributes.pop("class", "").split())
    return tag.lower(), classes, tuple(sorted(attributes.items()))


def _signs(
    tag: str, classes: Iterable[str], attributes: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """By what an element is found: its tag, its classes, and the names of its attributes."""
    if tag:
        yield tag
    yield from (f".{name}" for name in classes)
    yield from (f"[{name}" for name, _ in attributes)


def _has(attributes: dict[str, str], name: str, operator: str, value: str) -> bool:
    """Whether an element has an attribute as a selector asks for it."""
    if name not in attributes:
        return False
    has = attributes[name]
    return {
        "": True,
        "=": has == value,
        "~=": value in has.split(),
        "|=": has == value or has.startswith(f"{value}-"),
        "^=": has.startswith(value),
        "$=": has.endswith(value),
        "*=": value in has,
    }[operator]


def _parts(values: list[Any]) -> list[Part]:
    """The parts of a selector, which spaces and combinators separate."""
    parts = [Part()]
    waiting = iter(values)
    for value in waiting:
        if value.type == "whitespace" or value == ">" or value == "+" or value == "~":
            parts.append(Part())
        elif value.type == "ident":
            parts[-1].tag = value.value.lower()
        elif value.type == "hash":
            parts[-1].attributes.append(("id", "=", value.value))
        elif value == ".":
            parts[-1].classes.add(next(waiting).value)
        elif value.type == "[] block":
            parts[-1].attributes.append(_attribute(value.content))
        elif value == ":":
            pseudo = next(waiting)
            if pseudo == ":":
                pseudo = next(waiting)
            if pseudo.type == "function" and pseudo.lower_name in OF_ALTERNATIVES:
                parts[-1].others.append(_alternatives(pseudo.arguments))
    return parts


def _alternatives(values: list[Any]) -> list[list[Part]]:
    """The selectors of a list in brackets."""
    found: list[list[Any]] = [[]]
    for value in values:
        if value == ",":
            found.append([])
        else:
            found[-1].append(value)
    return [_parts(one) for one in found]


def _attribute(content: list[Any]) -> tuple[str, str, str]:
    """Name, operator and value of what is in square brackets."""
    name, *rest = [value for value in content if value.type != "whitespace"]
    operator = "".join(value.value for value in rest if value.type == "literal")
    texts = [value.value for value in rest if value.type in ("ident", "string", "number")]
    return name.value.lower(), operator, str(texts[0]) if texts else ""


def rules_of(css: str) -> list[Rule]:
    """The rules of a style sheet."""
    return _parse(iter(PIECE.findall(css)))


def selectors_of(rule: Rule) -> list[str]:
    """The selectors of a rule."""
    return _split(rule.head, ",")


def _parse(pieces: Iterator[str]) -> list[Rule]:
    """The rules up to the end of the block in which the pieces begin."""
    rules = []
    head = ""
    for piece in pieces:
        if piece == "{":
            inside = _parse(pieces) if head.lstrip().startswith(NESTING) else _block(pieces)
            rules.append(Rule(head, inside))
            head = ""
        elif piece == "}":
            break
        elif piece == ";":
            rules.append(Rule(head + ";", ""))
            head = ""
        else:
            head += piece
    return rules


def _block(pieces: Iterator[str]) -> str:
    """What a block says up to its end, with the blocks in it."""
    text = ""
    depth = 1
    for piece in pieces:
        depth += {"{": 1, "}": -1}.get(piece, 0)
        if not depth:
            break
        text += piece
    return text


def _split(text: str, at: str) -> list[str]:
    """A list's entries; what separates them divides nothing in brackets or in quotes."""
    entries = [""]
    depth = 0
    for piece in re.findall(r""""[^"]*"|'[^']*'|[^"'()\[\],;]+|.""", text, re.DOTALL):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(piece, 0)
        if piece == at and not depth:
            entries.append("")
        else:
            entries[-1] += piece
    return entries
