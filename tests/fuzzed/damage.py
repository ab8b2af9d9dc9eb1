"""A text with a few of its tokens or lines changed, so that most of it can still be read."""

import re
from itertools import pairwise

from hypothesis import strategies as st

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|-?\d[\w.+-]*|\btrue\b|\bfalse\b|\bnull\b|[\[\]{}:,=]')
VALUES = (
    *("-1", "0", "1", "1e999", "-0.0", "NaN", "1e-320", "9" * 400, "true", "null", "2999-01-01"),
    *('"2026-11-22T12:00:00+01:00"', '"2026-11-22T99:99:99Z"', '"2026"', "0.5", "1" + "0" * 20),
    *(
        '""',
        '"x"',
        '"0"',
        '"../x"',
        '"\\ud800"',
        '"<b>"',
        "[]",
        "{}",
        "[[]]",
        '[{"a": 1}]',
        "'",
        "",
    ),
    '"' + "long " * 999 + '"',
)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """``text`` with one to three changes: a token, a line, or a place where it is cut."""
    for _ in range(draw(st.integers(1, 3))):
        match draw(st.sampled_from(("token", "token", "swap", "drop", "double", "cut"))):
            case "token" if tokens := list(TOKEN.finditer(text)):
                at = draw(st.sampled_from(tokens))
                text = text[: at.start()] + draw(st.sampled_from(VALUES)) + text[at.end() :]
            case "swap" if len(tokens := list(TOKEN.finditer(text))) > 1:
                one, other = draw(st.sampled_from(list(pairwise(tokens))))
                between = text[one.end() : other.start()]
                text = text[: one.start()] + other[0] + between + one[0] + text[other.end() :]
            case "drop" | "double" as what if lines := text.splitlines(keepends=True):
                number = draw(st.integers(0, len(lines) - 1))
                lines[number] = "" if what == "drop" else lines[number] * 2
                text = "".join(lines)
            case _:
                text = text[: draw(st.integers(0, len(text)))]
    return text
