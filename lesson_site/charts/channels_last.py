"""What channels_last made of 834 networks that somebody else trained with and without it."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from lesson_site.charts.base import Chart
from lesson_site.charts.description import Group, Row, Rows, mark_of
from results.published import Source, read_sources, tables
from results.quantities import write
from results.store import Figure, Store

EDGES = (0.0, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, float("inf"))
SAME = {"same batch": True}


def draw(store: Store) -> Chart:
    """How many networks gain how much; only those that had the same batch in both layouts."""
    table = tables.read("channels_last")
    source = read_sources()[table.sources[-1]]
    gains = table.column("gain", SAME)
    figures = [_figure(low, high, gains, source) for low, high in pairwise(EDGES)]
    rows = [
        Row(label(low, high), 2 if low >= 1 else 1, mark_of(figure))
        for (low, high), figure in zip(pairwise(EDGES), figures, strict=True)
    ]
    return Chart(
        "Networks by what channels_last does to their training speed",
        finding(gains, source),
        Rows([Group("channels_last against contiguous", rows)], "plain"),
        ("Speed with channels_last", "Networks"),
        [(row.label, figure) for row, figure in zip(rows, figures, strict=True)],
        "",
    )


def label(low: float, high: float) -> str:
    """What a row holds: ``1.1 to 1.2 times``."""
    if low == 0:
        return f"below {high:g} times"
    return f"{low:g} times and more" if high == EDGES[-1] else f"{low:g} to {high:g} times"


def finding(gains: Sequence[float], source: Source) -> str:
    """How many networks it slows, and what it does to the middle one."""
    slower = sum(gain < 1 for gain in gains)
    return (
        f"channels_last slows {slower} of {len(gains)} networks; half of them become at least "
        f"{write(median(gains), 'times')} as fast. Mixed precision in both layouts, one RTX 3090; "
        f"our count over rows published by {source.named}."
    )


def _figure(low: float, high: float, gains: Sequence[float], source: Source) -> Figure:
    count = sum(low <= gain < high for gain in gains)
    what = f"networks whose speed with channels_last is {label(low, high)} that of contiguous"
    return Figure("", what, float(count), f"{count} networks", source.named, "published")
