"""The theme's style sheets without the rules that nothing on the site can match.

The theme styles blogs, banners, keys and much more that a page of this site never has, and every
page loads it. A rule stays if each class that it asks for is a word of some page or script.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lesson_site.files import write_whole

SHEETS = "assets/stylesheets/*.css"
SPEAKERS = ("**/*.html", "**/*.js", "**/*.mjs", "**/*.svg")
JOINED = ("main", "palette")  # in the order in which the theme names them
SOURCE_MAP = re.compile(r"/\*# sourceMappingURL=[^*]*\*/\s*")
WORD = re.compile(r"[\w-]+")
# Scripts join some names from two parts, the first of which ends so: `tabbed-control--` and `next`.
BEGINNING = re.compile(r"[\w-]+(?:--|__)")
PIECE = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{};"']+|.""", re.DOTALL)
NESTING = ("@media", "@supports", "@layer")
FUNCTION = re.compile(r":[\w-]+\((?:[^()]|\([^()]*\))*\)")
ATTRIBUTE = re.compile(r"\[[^\]]*\]")
CLASS = re.compile(r"\.([\w-]+)")
TO_THE_LEFT = re.compile(r"\bdir=[\"']?rtl")


@dataclass(frozen=True)
class Rule:
    """A rule of a style sheet.

    Attributes:
        head: Its selectors, or what an at-rule says before its block.
        body: Its declarations, or the rules that it holds.
    """

    head: str
    body: "str | list[Rule]"


def drop_unmatched_rules(site: Path) -> None:
    """Take out of the theme's style sheets what no page of ``site`` can match.

    A second time changes nothing.
    """
    sheets = list(site.glob(SHEETS))
    if not sheets:
        return
    texts = [
        path.read_text(encoding="utf-8") for find in SPEAKERS for path in sorted(site.glob(find))
    ]
    words = {word for text in texts for word in WORD.findall(text)}
    to_the_left = any(TO_THE_LEFT.search(text) for text in texts if "<html" in text)
    for sheet in sheets:
        css = sheet.read_text(encoding="utf-8")
        short = matched(css, words, to_the_left)
        if short != css:
            write_whole(sheet, short)


def join_sheets(site: Path) -> None:
    """Put the theme's palette at the end of its main sheet, so that pages ask for one file less.

    A second time changes nothing.
    """
    sheets = [next(site.glob(f"assets/stylesheets/{name}.*.css"), None) for name in JOINED]
    main, palette = sheets
    if main is None or palette is None:
        return
    joined = [SOURCE_MAP.sub("", sheet.read_text(encoding="utf-8")) for sheet in (main, palette)]
    write_whole(main, "".join(joined))
    link = re.compile(rf'<link rel="stylesheet" href="[^"]*{re.escape(palette.name)}">\s*')
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        if palette.name in html:
            write_whole(page, link.sub("", html))
    palette.unlink()


def matched(css: str, words: set[str], to_the_left: bool = False) -> str:
    """A style sheet without the rules whose classes are not among ``words``.

    Args:
        css: The style sheet.
        words: Every word of the site's pages and scripts.
        to_the_left: Whether a page is written from right to left.
    """
    beginnings = {word for word in words if BEGINNING.fullmatch(word)}

    def can_match(selector: str) -> bool:
        if not to_the_left and "[dir=rtl]" in selector:
            return False
        asked = CLASS.findall(ATTRIBUTE.sub("", FUNCTION.sub("", selector)))
        return all(name in words or _begins(name, beginnings) for name in asked)

    def kept(rules: list[Rule]) -> Iterator[str]:
        for rule in rules:
            if isinstance(rule.body, list):
                inside = "".join(kept(rule.body))
                if inside:
                    yield f"{rule.head}{{{inside}}}"
            elif rule.head.startswith("@"):
                yield f"{rule.head}{{{rule.body}}}" if rule.body else rule.head
            else:
                selectors = [each for each in _split(rule.head) if can_match(each)]
                if selectors:
                    yield f"{','.join(selectors)}{{{rule.body}}}"

    return "".join(kept(_parse(iter(PIECE.findall(css)))))


def _begins(name: str, beginnings: set[str]) -> bool:
    """Whether a script may join this name from two parts."""
    found = BEGINNING.match(name)
    return found is not None and found[0] in beginnings


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


def _split(head: str) -> list[str]:
    """The selectors of a list, whose commas in brackets divide nothing."""
    selectors = [""]
    depth = 0
    for letter in head:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and not depth:
            selectors.append("")
        else:
            selectors[-1] += letter
    return selectors
