"""The roofline that others measured on four cards: arithmetic a byte, and what it reaches."""

from collections.abc import Mapping, Sequence

from lesson_site.charts.base import Chart, times
from lesson_site.charts.description import DASHES, Below, Plane, Series, mark_of
from results.published import Source, read_sources, tables
from results.quantities import write
from results.store import Figure, Store

INTENSITIES = (0.25, 0.5, 1.25, 6.25, 12.25, 18.25, 26.25, 40.25, 60.25, 100.25)
BELOW = "FLOP for each byte that is read or written"
Rates = Mapping[str, Mapping[float, float]]


def draw(store: Store) -> Chart:
    """FLOP a second over arithmetic intensity, both logarithmic, for each card."""
    table = tables.read("roofline")
    source = read_sources()[table.sources[0]]
    rates = _rates(table)
    ticks = [(at, f"{at:g}") for at in (0.25, 1, 4, 16, 64)]
    below = Below(BELOW, INTENSITIES[0], INTENSITIES[-1], ticks, log=True)
    series = [
        Series(card, color, [(at, mark_of(_figure(card, at, of[at], source))) for at in of], dash)
        for (card, of), color, dash in zip(rates.items(), (1, 2, 3, 4), DASHES, strict=False)
    ]
    return Chart(
        "What four cards reach in FP32, over the arithmetic for each byte",
        finding(rates, source),
        Plane(below, "FLOP/s, both axes logarithmic", "flop_per_s", series, log=True),
        ("FLOP a byte", *rates),
        [
            (f"{at:g}", *(_figure(card, at, of[at], source) for card, of in rates.items()))
            for at in INTENSITIES
        ],
        "",
    )


def finding(rates: Rates, source: Source) -> str:
    """What arithmetic for each byte multiplies, and where the first card's curve bends."""
    gains = [max(of.values()) / of[min(of)] for of in rates.values()]
    card, first = next(iter(rates.items()))
    return (
        f"With enough arithmetic for each byte the same kernel is {times(min(gains))} to "
        f"{times(max(gains))} as fast. The curve of the {card} bends near {bend(first):.0f} FLOP a "
        "byte, its best rate divided by the most bytes a second that it reads and writes. "
        f"Published by {source.named}."
    )


def bend(of: Mapping[float, float]) -> float:
    """FLOP a byte from which on a card's memory has time to spare."""
    return max(of.values()) / max(rate / at for at, rate in of.items())


def _rates(table: tables.Table) -> dict[str, dict[float, float]]:
    """FLOP a second of each card at the intensities that all of them have."""
    cards: Sequence[str] = list(dict.fromkeys(str(row[0]) for row in table.rows))
    found: dict[str, dict[float, float]] = {}
    for card in cards:
        where = {"card": card}
        points = zip(
            table.column("FLOP a byte", where), table.column("GFLOP/s", where), strict=True
        )
        of = {at: 1e9 * rate for at, rate in points}
        found[card] = {at: of[at] for at in INTENSITIES}
    return found


def _figure(card: str, at: float, rate: float, source: Source) -> Figure:
    what = f"rate of an FP32 multiply-add kernel with {at:g} FLOP a byte, {card}"
    return Figure("", what, rate, write(rate, "flop_per_s"), source.named, "published")
