"""Draws number lines of the formats with the recorded gradients on them.

Places along the width are percentages and letters have a fixed size, as in the site's charts. The
custom elements move what depends on the reader's choice; here is the first one.
"""

import math
from dataclasses import dataclass
from html import escape

from lesson_code.gpu_training.float_formats import FloatFormat
from lesson_site.floats.words import written

BARS = 120  # pixels
NAMES = {"lost": "become 0", "over": "too large"}


@dataclass(frozen=True)
class Window:
    """A part of the logarithmic number line.

    Attributes:
        low: The exponent of two at its left end.
        high: The one at its right end.
        decades: How many powers of ten lie between two ticks.
    """

    low: int
    high: int
    decades: int

    def place(self, number: float) -> str:
        """Where a size lies, in percent of the width; what lies outside is at the end."""
        power = math.log2(number) if number else self.low
        share = (min(max(power, self.low), self.high) - self.low) / (self.high - self.low)
        return f"{100 * share:.2f}%"

    def ticks(self) -> list[float]:
        """Powers of ten."""
        first = math.ceil(self.low * math.log10(2) / self.decades)
        last = math.floor(self.high * math.log10(2) / self.decades)
        return [10.0 ** (self.decades * step) for step in range(first, last + 1)]


WHOLE = Window(-152, 132, 20)
NEAR = Window(-56, 24, 4)


def text(x: str, y: float, words: str, css: str = "") -> str:
    """Words at a place."""
    return f'<text x="{x}" y="{y:g}" class="{css}">{escape(words)}</text>'


def line(x1: str, x2: str, y1: float, y2: float, css: str) -> str:
    """A line between two places."""
    return f'<line x1="{x1}" x2="{x2}" y1="{y1:g}" y2="{y2:g}" class="{css}"/>'


def bars(outlines: dict[str, str], window: Window, y: float, height: int) -> str:
    """Recorded gradients, in a box of its own whose units are bins."""
    drawn = "".join(f'<path class="float-{name}" d="{d}"/>' for name, d in outlines.items())
    return (
        f'<svg class="float-bars" x="0" y="{y:g}" width="100%" height="{height}" '
        f'viewBox="{window.low} 0 {window.high - window.low} 1000" preserveAspectRatio="none">'
        f"{drawn}</svg>"
    )


def format_row(kind: FloatFormat, window: Window, y: float, chosen: bool) -> str:
    """A format's range: broken where digits are missing, whole where all are there."""
    small, normal = window.place(kind.smallest), window.place(kind.smallest_normal)
    largest = window.place(kind.largest)
    return (
        f'<g class="float-row c{2 if chosen else 1}" data-format="{kind.name}">'
        + line(small, normal, y + 9, y + 9, "float-subnormal")
        + line(normal, largest, y + 9, y + 9, "float-normal")
        + "</g>"
    )


def format_name(kind: FloatFormat, y: float) -> str:
    """A format's name above its range, and its ends."""
    ends = f"{written(kind.smallest, 2)} to {written(kind.largest, 5)}"
    return text("0", y, f"{kind.name}: {ends}", "small float-name")


def axis(window: Window, top: float, bottom: float) -> str:
    """Lines through the drawing at powers of ten, and their names below."""
    drawn = ""
    for tick in window.ticks():
        at = window.place(tick)
        share = float(at[:-1])
        anchor = " end" if share > 92 else "" if share < 3 else " middle"
        drawn += line(at, at, top, bottom, "grid")
        drawn += text(at, bottom + 15, written(tick), f"small{anchor}")
    return drawn


def drawing(label: str, height: float, content: str) -> str:
    """The drawing, with what it shows in words for those who do not see it."""
    return (
        f'<svg class="chart-drawing float-drawing" width="100%" height="{height:g}" role="img" '
        f'aria-label="{escape(label)}">{content}</svg>'
    )


def whole_line(
    kinds: tuple[FloatFormat, ...],
    chosen: FloatFormat,
    number: float,
    outlines: dict[str, str],
    note: str,
) -> str:
    """Every format's range, one below the other, the gradients, and a line at the number.

    A dashed one is at what was asked for, which a format may make another number of.
    """
    y, rows, names = 34.0, "", ""
    for kind in kinds:
        rows += format_row(kind, WHOLE, y, kind is chosen)
        names += format_name(kind, y)
        y += 34
    bars_top = y
    y += 50
    at = WHOLE.place(abs(number))
    mark = (
        line(at, at, 18, y, "float-asked")
        + line(at, at, 18, y, "float-mark")
        + text(at, 12, written(number), "strong middle float-mark-at")
        + text(at, 12, "", "small middle float-asked-at")
    )
    return drawing(
        "The ranges of six formats on a logarithmic number line, and the number of the switches; "
        "a dashed line is at the number that was asked for",
        y + 40,
        axis(WHOLE, 18, y)
        + bars(outlines, WHOLE, bars_top, 50)
        + rows
        + mark
        + names
        + text("0", y + 34, note, "small"),
    )


def near_line(kind: FloatFormat, outlines: dict[str, str], label: str) -> str:
    """The gradients, the two limits of a format, and its range below."""
    top, bottom = 24, 24 + BARS
    return drawing(
        label,
        bottom + 62,
        axis(NEAR, top, bottom + 26)
        + bars(outlines, NEAR, top, BARS)
        + limits(kind, NEAR, top, bottom + 26)
        + format_row(kind, NEAR, bottom + 14, chosen=True)
        + format_name(kind, bottom + 14),
    )


def limits(kind: FloatFormat, window: Window, top: float, bottom: float) -> str:
    """Where a format rounds to zero, and where it ends."""
    low, high = window.place(kind.lost), window.place(kind.overflow)
    return (
        line(low, low, top, bottom, "limit c3 float-low")
        + text(low, 14, NAMES["lost"], "small end before float-low")
        + line(high, high, top, bottom, "limit c4 float-high")
        + text(high, 14, NAMES["over"], "small end float-high")
    )


def small_line(
    kind: FloatFormat, outlines: dict[str, str], title: str, said: str, window: Window = NEAR
) -> str:
    """One of several: a title, the gradients, and the limit up to which all is lost."""
    low = window.place(kind.lost)
    return (
        text("0", 14, title, "strong")
        + text("100%", 14, said, "end")
        + bars(outlines, window, 20, 56)
        + line("0", "100%", 76, 76, "grid")
        + line(low, low, 20, 76, "limit c3")
    )
