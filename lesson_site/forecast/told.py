"""What the page says and draws of one choice; ``forecast/told.js`` says the same of every choice.

Forecasts have one digit, or two where the first is a 1, and always their band. The parts of a step
are drawn with two, so that they add up to what is said of the step.
"""

from dataclasses import dataclass

from lesson_code.forecast.cards import Card, read_cards
from lesson_code.forecast.formula import HOST, MEMORY_SHARE, Forecast, Host, forecast, memory_fits
from lesson_code.forecast.formula import Step as StepCount
from lesson_site.charts.description import Group, Mark, Row, Rows
from lesson_site.forecast.data import Point, cpu_seconds, points_of, step_of, sweep
from lesson_site.forecast.models import MODELS
from lesson_site.forecast.words import FORMATS, LAYOUT_NAMES, LIMITS, PARTS, WORDS
from results.quantities import coarse, outward, rounded, write, write_band

GB = 1e9
DASH = "–"


@dataclass(frozen=True)
class Choice:
    """What a reader can choose.

    Attributes:
        card: A card's id.
        model: A key of ``MODELS``.
        batch: Samples of a step.
        format: One of ``FORMATS``.
        channels_last: Whether the channels of a pixel lie side by side.
        host: Seconds in which the reader's computer starts an operation.
    """

    card: str
    model: str
    batch: int
    format: str
    channels_last: bool = False
    host: Host = HOST


@dataclass(frozen=True)
class Told:
    """What the page says of a choice.

    Attributes:
        sentences: The forecast, what limits it, whether it fits, and whether nothing tests it.
        drawing: Its parts as bars; None where there is no forecast.
        cards: A table's row for each card: its name, time, band, rate, limit, and whether it fits.
    """

    sentences: tuple[str, ...]
    drawing: Rows | None
    cards: tuple[tuple[str, ...], ...]


def tell(choice: Choice) -> Told:
    """What the page says of ``choice``."""
    step = step_of(choice.model, choice.batch, choice.format, choice.channels_last)
    card = read_cards()[choice.card]
    if step is None:
        return Told((WORDS["not counted"],), None, ())
    cards = tuple(_card_row(step, choice, each) for each in read_cards().values())
    try:
        found = forecast(step, card, choice.host)
    except ValueError:
        words = WORDS["no units"].format(card=card.name, format=FORMATS[choice.format])
        return Told((words,), None, cards)
    sentences = _sentences(step, choice, card, found)
    return Told(sentences, _drawing(found, step, choice, card), cards)


def about(seconds: float) -> str:
    """A time, as a forecast is written."""
    return write(seconds, "s", coarse(seconds))


def _part(seconds: float) -> str:
    """A part of a step."""
    return write(seconds, "s", seconds / 10)


def a_second(choice: Choice, seconds: float) -> str:
    """How many samples a step of that time works through in a second."""
    rate = choice.batch / seconds
    return rounded(rate, coarse(rate))


def limit(found: Forecast, step: StepCount, host: Host) -> str:
    """What limits a step: a key of ``LIMITS``."""
    work = found.arithmetic + found.traffic
    if step.launches * host.low < work < step.launches * host.high:
        return "either"
    return found.binds


def _sentences(step: StepCount, choice: Choice, card: Card, found: Forecast) -> tuple[str, ...]:
    blanks = {
        "card": card.name,
        "time": about(found.time),
        "band": write_band(found.low, found.high, "s"),
        "rate": a_second(choice, found.time),
        "things": MODELS[choice.model].things,
        "launches": str(step.launches),
        "work": about(found.arithmetic + found.traffic),
        "start": write_band(step.launches * choice.host.low, step.launches * choice.host.high, "s"),
        "peak": memory(step.peak_bytes),
        "room": memory(MEMORY_SHARE * card.memory_bytes),
    }
    fits = "fits" if memory_fits(step, card) else "too large"
    names = ["verdict", limit(found, step, choice.host), fits]
    names += [] if card.tested else ["untested"]
    return tuple(WORDS[name].format(**blanks) for name in names)


def memory(bytes: float) -> str:
    """Memory with three digits: it is counted."""
    return write(bytes, "gigabytes" if bytes >= GB else "megabytes")


def _card_row(step: StepCount, choice: Choice, card: Card) -> tuple[str, ...]:
    fits = WORDS["yes" if memory_fits(step, card) else "no"]
    try:
        found = forecast(step, card, choice.host)
    except ValueError:
        lacking = WORDS["units"].format(format=FORMATS[choice.format])
        return card.name, DASH, DASH, DASH, lacking, fits
    limited = LIMITS[limit(found, step, choice.host)]
    between = write_band(found.low, found.high, "s")
    return card.name, about(found.time), between, a_second(choice, found.time), limited, fits


def _drawing(found: Forecast, step: StepCount, choice: Choice, card: Card) -> Rows:
    low, _, high = (step.launches * cost for cost in choice.host)
    parts = [
        _row("arithmetic", 1, found.arithmetic),
        _row("traffic", 1, found.traffic),
        _row("launches", 1, found.launches, low, high),
        _row("step", 2, found.time, found.low, found.high, f"about {about(found.time)}"),
    ]
    groups = [Group(WORDS["group"].format(card=card.name), parts)]
    near = points_of(choice.model, choice.card, choice.format)
    published = [_published(point, choice.batch) for point in near]
    if published:
        groups.append(Group(WORDS["others"], published))
    ours = cpu_seconds(choice.model, choice.batch, choice.format)
    if ours:
        processor, seconds = ours
        mark = Mark(seconds, write(seconds, "s"), "measured")
        groups.append(Group(WORDS["ours"], [Row(processor, 0, mark)]))
    return Rows(groups, "s")


def _row(
    part: str, color: int, value: float, low: float = 0, high: float = 0, text: str = ""
) -> Row:
    text = text or _part(value)
    if low == high:
        return Row(PARTS[part], color, Mark(value, text, "forecast"))
    mark = Mark(value, text, "forecast", low=low, high=high, band=write_band(low, high, "s"))
    return Row(PARTS[part], color, mark)


def _published(point: Point, batch: int) -> Row:
    seconds = point.seconds / point.batch * batch
    layout = f", {LAYOUT_NAMES[1]}" if point.channels_last else ""
    label = WORDS["point"].format(
        who=point.who, batch=point.batch, format=FORMATS[point.format], layout=layout
    )
    return Row(label, 0, Mark(seconds, write(seconds, "s"), "published"))


def crossing(card: Card, host: Host = HOST) -> list[tuple[str, list[tuple[str, str]]]]:
    """Where a card would beat our CPU: by width, for each batch who wins, and by how much."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for cell in sweep():
        found = forecast(cell.step, card, host)
        least, most = cell.seconds / found.high, cell.seconds / found.low
        wins = "wins" if least > 1 else "loses" if most < 1 else "open"
        ends = {"least": _end(least, up=False), "most": _end(most, up=True)}
        rows.setdefault(f"{cell.width:,}", []).append((wins, WORDS[wins].format(**ends)))
    return list(rows.items())


def _end(value: float, up: bool) -> str:
    """One end of how many times as fast."""
    rough = outward(value, up)
    return rounded(rough, coarse(rough))
