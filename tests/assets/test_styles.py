"""Our style sheets do not make a browser look at every element of a page again and again."""

import re

import pytest

from tests.building import REPOSITORY

ASSETS = REPOSITORY / "docs" / "assets"
SHEETS = [path.relative_to(ASSETS) for path in ASSETS.rglob("*.css") if "vendor" not in path.parts]
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
HEAD = re.compile(r"([^{};]+)\{")
BRACKETS = re.compile(r"\(([^()]*)\)")
COMBINATOR = re.compile(r"\s*[>+~]\s*|\s+")


def selectors(css: str) -> list[list[str]]:
    """Each selector of a sheet, as its parts; what is in brackets stays in one part."""
    found = []
    for head in HEAD.findall(COMMENT.sub("", css)):
        while head != (head := BRACKETS.sub(lambda inner: f"⟨{inner[1]}⟩", head)):
            pass
        whole = re.sub("⟨.*?⟩(?![^⟨]*⟩)", lambda inner: re.sub(r"[\s,>+~]", "", inner[0]), head)
        found += [COMBINATOR.split(one.strip()) for one in whole.split(",")]
    return found


@pytest.mark.parametrize("sheet", sorted(map(str, SHEETS)))
def test_what_lies_below_something_with_a_part_has_a_name(sheet: str) -> None:
    """Where `:has()` may change, a browser looks at all below it that the selector may end in."""
    below = [
        parts
        for parts in selectors((ASSETS / sheet).read_text(encoding="utf-8"))
        if any(":has" in part for part in parts[:-1])
    ]

    assert [] == [parts for parts in below if not re.match(r"[a-z.#\[]|:is⟨", parts[-1])]


def test_a_part_without_a_name_is_found() -> None:
    """Such a rule on the mission's page cost each page of the site most of its time for styles."""
    css = "a, .b:has(> .c, d + :is(.e, f)) :target { color: red; } .g:has(h) .i:target { top: 0; }"

    assert [["a"], [".b:has⟨.cd:is⟨.ef⟩⟩", ":target"], [".g:has⟨h⟩", ".i:target"]] == selectors(css)
