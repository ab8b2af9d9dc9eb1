"""How wide a text will be, since nothing here can ask the browser, and where its lines break."""

from collections.abc import Sequence

SIZE_PX = 15
LINE_PX = 20
# How wide letters are, as shares of the size: a little more than in Segoe UI, Roboto and Arial
SHARES = {
    **dict.fromkeys("ijl.,:;|!'", 0.28),
    **dict.fromkeys("frt()[] -", 0.36),
    **dict.fromkeys("mwMW@→", 0.88),
}
CAPITAL, OTHER = 0.68, 0.57


def width_px(text: str) -> float:
    """About how wide a line is; rather too much than too little."""
    return sum(_share(letter) for letter in text) * SIZE_PX


def _share(letter: str) -> float:
    return SHARES.get(letter, CAPITAL if letter.isupper() else OTHER)


def wrapped(text: str, limit_px: float) -> list[str]:
    """A text as lines that are no wider than the limit, where its words allow it."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_px(longer) <= limit_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def balanced(text: str, limit_px: float) -> list[str]:
    """As few lines as the limit allows, all of about the same width."""
    lines = wrapped(text, limit_px)
    tries = [wrapped(text, limit_px * share / 10) for share in range(4, 10)]
    return min([t for t in tries if len(t) == len(lines)] or [lines], key=widest_px)


def widest_px(lines: Sequence[str]) -> float:
    """The width of the widest line; 0 for none."""
    return max((width_px(line) for line in lines), default=0.0)
