"""How far the forecast is from what others measured: every point, forecast and compared.

The points are in ``results/points``, the forecast is ``lesson_code/forecast/formula.py``. An error
is a factor: the forecast time divided by the published one, or the other way round, whichever is
above one.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lesson_code.forecast import formula
from lesson_code.forecast.cards import Card, read_cards
from lesson_code.forecast.formula import Forecast, Host, memory_fits
from results import points
from results.points import Point

# What a launch of the published forward passes costs with their software, which is of 2021; the
# one constant that was chosen on them.
OLD = 57e-6
OLD_HOST = Host(OLD / formula.BAND, OLD, OLD * formula.BAND)


@dataclass(frozen=True)
class Compared:
    """A published time and its forecast.

    Attributes:
        point: What was published.
        forecast: What the formula says of the same step on the same card.
    """

    point: Point
    forecast: Forecast

    @property
    def ratio(self) -> float:
        """The forecast time divided by the published one."""
        return self.forecast.time / self.point.seconds

    @property
    def error(self) -> float:
        """How far apart they are, as a factor of at least one."""
        return max(self.ratio, 1 / self.ratio)

    @property
    def held(self) -> bool:
        """Whether the published time lies within the forecast's band."""
        return self.forecast.low <= self.point.seconds <= self.forecast.high


@dataclass(frozen=True)
class Gain:
    """Two published speeds of a network on a card in two formats, and their forecasts.

    Attributes:
        plain: In float32 or TF32.
        short: In 16 bits; the batch and the layout may be others.
    """

    plain: Compared
    short: Compared

    @property
    def published(self) -> float:
        """How many times as many samples a second."""
        return _a_sample(self.plain.point, self.plain.point.seconds) / _a_sample(
            self.short.point, self.short.point.seconds
        )

    @property
    def forecast(self) -> float:
        """The same, forecast."""
        return _a_sample(self.plain.point, self.plain.forecast.time) / _a_sample(
            self.short.point, self.short.forecast.time
        )

    @property
    def error(self) -> float:
        """How far apart they are, as a factor of at least one."""
        ratio = self.forecast / self.published
        return max(ratio, 1 / ratio)


def _a_sample(point: Point, seconds: float) -> float:
    return seconds / point.batch


@dataclass(frozen=True)
class Fitted:
    """A batch that ran or did not, and whether the forecast says that it fits.

    Attributes:
        point: What was published.
        peak_bytes: The most that the step's tensors hold.
        fits: Whether the formula says that they fit on the card.
    """

    point: Point
    peak_bytes: int
    fits: bool

    @property
    def right(self) -> bool:
        """Whether both agree."""
        return self.fits == self.point.ran

    @property
    def share(self) -> float:
        """The part of the card's memory that the tensors need."""
        return self.peak_bytes / card_of(self.point).memory_bytes


def card_of(point: Point) -> Card:
    """The card of a point.

    Raises:
        points.PointError: If no such card is offered.
    """
    cards = read_cards()
    if point.card not in cards:
        raise points.PointError(f"results/points names a card {point.card!r}, which is not offered")
    return cards[point.card]


def step_of(point: Point) -> formula.Step:
    """What the step of a point is made of.

    Raises:
        points.PointError: If nobody counted it.
    """
    counts = points.counts()
    if point.step.name not in counts:
        raise points.PointError(
            f"results/points/counts.json has no {point.step.name}; "
            "write it with `python -m benchmarks.published_steps`"
        )
    count = counts[point.step.name]
    return formula.Step(
        format=point.format,
        flop=count["flop"],
        bytes=count["bytes"],
        convolution_bytes=count["convolution_bytes"],
        launches=count["launches"],
        operations=0,
        weight_bytes=0,
        peak_bytes=count["peak_bytes"],
        channels_last=point.layout == "channels_last",
    )


@lru_cache(maxsize=8)
def compared(file: str, host: Host = formula.HOST) -> list[Compared]:
    """The points of a file with their forecasts, in the file's order."""
    return [
        Compared(point, formula.forecast(step_of(point), card_of(point), host))
        for point in points.read(file)
    ]


def training() -> list[Compared]:
    """All training speeds: those seen before the constants were chosen, then the others."""
    return [*compared("training_seen"), *compared("training_unseen")]


def launches() -> list[Compared]:
    """The forward passes, with what a launch cost their software."""
    return compared("launches", OLD_HOST)


@lru_cache(maxsize=1)
def fitted() -> list[Fitted]:
    """Which batches ran on which card, and what the forecast says of them."""
    steps = [(point, step_of(point)) for point in points.read("fits")]
    return [
        Fitted(point, step.peak_bytes, memory_fits(step, card_of(point))) for point, step in steps
    ]


def gains(some: Iterable[Compared], same_batch: bool = False) -> list[Gain]:
    """Every pair of formats that one author published of a network on a card.

    Where there are several batches in a format it is the first of them. The layout of images may
    differ too, as the forecasts do then.

    Args:
        some: What was published, forecast.
        same_batch: Whether each batch is a pair of its own.
    """
    found: dict[tuple[str | int, ...], dict[bool, Compared]] = {}
    for one in some:
        point = one.point
        author = point.source.id.removesuffix("-fp32").removesuffix("-fp16")
        batch = point.batch if same_batch else 0
        pair = found.setdefault((point.network, point.card, author, batch), {})
        pair.setdefault(point.format in ("float32", "tf32"), one)
    return [Gain(pair[True], pair[False]) for pair in found.values() if len(pair) == 2]


def with_the_larger(one: Compared, factor: float = 1.0) -> Compared:
    """The same if arithmetic and traffic went on at once, so that only the longer of them counts.

    The ends of its band stay those of the sum.

    Args:
        one: What was published, forecast.
        factor: By how much to lengthen it.
    """
    parts = one.forecast
    work = factor * max(parts.arithmetic, parts.traffic)
    return replace(one, forecast=replace(parts, time=max(work, parts.launches)))


def larger_factor() -> float:
    """The factor at which half of the speeds that were seen took longer than the longer part."""
    seen = [with_the_larger(one).ratio for one in GROUPS["seen"]()]
    return 1 / math.exp(statistics.median(map(math.log, seen)))


def by_card(file: str) -> dict[str, list[Compared]]:
    """The points of a file by the card's id, in the order in which cards are offered."""
    found: dict[str, list[Compared]] = {card: [] for card in read_cards()}
    for one in compared(file):
        found[one.point.card].append(one)
    return {card: some for card, some in found.items() if some}


# Numbers that pages name; the catalogue calls these with a group's name.

GROUPED = ("convnext", "efficientnet", "mobilenet", "resnext")  # convolutions with groups
GROUPS: dict[str, Callable[[], Sequence[Compared]]] = {
    "seen": lambda: compared("training_seen"),
    "unseen": lambda: compared("training_unseen"),
    "training": training,
    "launches": launches,
    "t4": lambda: _unseen(lambda point: point.card == "t4"),
    "t4_images": lambda: _unseen(lambda point: point.source.id == "pollux-imagenet"),
    "t4_text": lambda: _unseen(lambda point: point.source.id == "pollux-bert"),
    "t4_colab": lambda: _unseen(
        lambda point: point.card == "t4" and point.source.id == "apple-silicon"
    ),
    "t4_small": lambda: _unseen(lambda point: point.source.id == "pollux-cifar10"),
    "timm": lambda: _unseen(lambda point: point.card == "rtx-3090"),
    "elsewhere": lambda: _unseen(lambda point: point.card not in ("t4", "rtx-3090")),
    "b200": lambda: _unseen(lambda point: point.card == "b200"),
    "new_cards": lambda: _unseen(lambda point: point.card not in by_card("training_seen")),
    "grouped": lambda: _unseen(lambda point: point.network.startswith(GROUPED)),
    "ungrouped": lambda: _unseen(lambda point: not point.network.startswith(GROUPED)),
    "larger": lambda: [with_the_larger(one) for one in compared("training_unseen")],
    "larger_fitted": lambda: [
        with_the_larger(one, larger_factor()) for one in compared("training_unseen")
    ],
}


def _unseen(chosen: Callable[[Point], bool]) -> list[Compared]:
    return [one for one in compared("training_unseen") if chosen(one.point)]


def count(group: str) -> int:
    """How many points there are in one of ``GROUPS``."""
    return len(GROUPS[group]())


def median_error(group: str) -> float:
    """The error that half of them stay below, as a factor."""
    return median_of(GROUPS[group]())


def median_of(some: Iterable[Compared]) -> float:
    """The median error, as a factor."""
    return math.exp(statistics.median(math.log(one.error) for one in some))


def worst_error(group: str) -> float:
    """The largest error, as a factor."""
    return max(one.error for one in GROUPS[group]())


def within(group: str, factor: float = formula.BAND) -> int:
    """How many have an error of at most ``factor``."""
    return sum(one.error <= factor for one in GROUPS[group]())


def within_two(group: str) -> int:
    """How many have an error of at most two."""
    return within(group, 2.0)


def held(group: str) -> int:
    """How many published times lie in the band that the forecast has on their card."""
    return sum(one.held for one in GROUPS[group]())


def slower(group: str) -> int:
    """How many steps took longer than forecast."""
    return sum(one.ratio < 1 for one in GROUPS[group]())


def cards(group: str) -> int:
    """On how many cards they were measured."""
    return len({one.point.card for one in GROUPS[group]()})


def networks(group: str) -> int:
    """Of how many networks they are."""
    return len({one.point.network for one in GROUPS[group]()})


def new(what: str) -> int:
    """How many cards, or networks, of the points not seen before are not among those seen.

    Args:
        what: ``card`` or ``network``.
    """
    unseen, seen = (
        {getattr(one.point, what) for one in GROUPS[group]()} for group in ("unseen", "seen")
    )
    return len(unseen - seen)


def memory_share() -> float:
    """The part of a card's memory that tensors can fill."""
    return formula.MEMORY_SHARE


def band(card: str = "") -> float:
    """The band of most cards, or of one."""
    return (read_cards()[card].band if card else 0.0) or formula.BAND


def host(end: str) -> float:
    """Seconds that launching a kernel takes.

    Args:
        end: At least (``low``), at most (``high``), or with the software of the forward passes
            (``old``).
    """
    return OLD if end == "old" else float(getattr(formula.HOST, end))


def longest_launch() -> float:
    """The most seconds a launch took where nothing but launching took time.

    Those are the forward passes of one image, of which every card does the work in less.
    """
    alone = [one for one in launches() if one.point.batch == 1]
    return max(one.point.seconds / step_of(one.point).launches for one in alone)


def fits(right: bool = False, text_in_16_bits: bool | None = None) -> int:
    """How many batches are known to have run or not.

    Args:
        right: Count only those of which the forecast says the same.
        text_in_16_bits: Count only BERT in float16, or only the others.
    """
    return sum(
        (one.right or not right)
        and text_in_16_bits
        in (None, one.point.network.startswith("bert") and one.point.format == "float16")
        for one in fitted()
    )


def gain_count(group: str) -> int:
    """Of how many gains both speeds are in one of ``GROUPS``."""
    return len(gains(GROUPS[group]()))


def gains_within(group: str) -> int:
    """How many of them are forecast within the band of a gain."""
    return sum(one.error <= formula.GAIN_BAND for one in gains(GROUPS[group]()))


def worst_gain(group: str) -> float:
    """The largest error among them, as a factor."""
    return max(one.error for one in gains(GROUPS[group]()))


def worst_gain_of_t4() -> float:
    """The largest error among the gains of a T4's forward passes, as a factor."""
    return max(one.error for one in _gains_of_t4())


def gain_count_of_t4() -> int:
    """Of how many of a T4's forward passes there is a gain."""
    return len(_gains_of_t4())


def _gains_of_t4() -> list[Gain]:
    of_t4 = [one for one in launches() if one.point.card == "t4"]
    return gains(of_t4, same_batch=True)


def gain_band() -> float:
    """The band of a gain."""
    return formula.GAIN_BAND


def band_of(some: Sequence[Compared] | Sequence[Gain], share: float = 0.9) -> float:
    """The smallest factor, in tenths, that at least ``share`` of the errors stay within."""
    errors = sorted(one.error for one in some)
    return math.ceil(10 * errors[math.ceil(share * len(errors)) - 1]) / 10
