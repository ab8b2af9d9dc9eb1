"""How good the forecast is: every published point beside its forecast, drawn and as tables.

The fence ``lesson-points`` shows, by its option ``show``: ``scatter``, all training speeds over the
time of a step; ``by-card``, how many of each card are hit; ``training`` and ``launches``, the same
and the forward passes as tables; ``fits`` and ``occupied``, what is known of memory; ``own``, what
our own job measured on GPUs, by network, and ``own-misses``, each step of it outside its band;
``rule``, how points were chosen; ``cards``, the rates that the forecast takes, with their sources.
The numbers come from ``results/points``, ``results/accuracy.py`` and ``results/own_forecasts.py``.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Literal, TypeVar

from markdown import Markdown

from lesson_code.forecast import formula
from lesson_code.forecast.cards import FORMATS, Card, read_cards
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from results import accuracy, points
from results.accuracy import Compared, Fitted
from results.own_forecasts import Own, own
from results.points import Point, Source
from results.quantities import SPACE, write, write_band
from results.store import open_store

TITLES = {
    "resnet50_inference": "ResNet-50, forward only",
    "resnet18_cifar": "ResNet-18 for 32 × 32 pixels",
    "bert_base": "BERT-base",
    "bert_base_128": "BERT-base, 128 tokens",
    "bert_base_512": "BERT-base, 512 tokens",
    "bert_large": "BERT-large",
    "bert_large_512": "BERT-large, 512 tokens",
    "bert_large_512_checkpointed": "BERT-large, 512 tokens, checkpointed",
    "gpt2_nanogpt": "GPT-2 (124M), nanoGPT",
    "vit_small": "ViT-S/16",
    "deit_tiny": "DeiT-Ti",
    "vit_b_16": "ViT-B/16",
    "swin_t": "Swin-T",
}
SPELLED = {
    "resnet": "ResNet-",
    "densenet": "DenseNet-",
    "vgg": "VGG-",
    "efficientnet_": "EfficientNet-",
    "convnext_": "ConvNeXt-",
    "resnext": "ResNeXt-",
    "wide_resnet": "Wide ResNet-",
    "inception_": "Inception ",
    "mobilenet_": "MobileNet ",
}
NONE = "–"
TICKS = (0.03, 0.1, 0.3, 1.0)  # seconds
LEVELS = (0.5, 1.0, 2.0)  # the forecast divided by what was published
PLANE = (12.0, 84.0, 30, 220)  # percent from the left, percent wide, pixels from the top, high
SHORTEST, LONGEST, LOWEST, HIGHEST = 0.02, 3.0, 0.28, 2.5
GIB = 2**30
One = TypeVar("One", Compared, Fitted, Point)


@fence(show=True)
def published_points(source: str, options: Options, md: Markdown) -> str:
    """What ``show`` names."""
    if options["show"] not in SHOWN:
        known = ", ".join(sorted(SHOWN))
        raise PageError(f"there is no {options['show']!r}; show takes one of {known}")
    return SHOWN[options["show"]]()


# The drawing


def scatter() -> str:
    """Forecast divided by published over the time of a step, with the band, and the finding."""
    left, width, top, height = PLANE
    series = series_of(accuracy.compared("training_seen"), accuracy.compared("training_unseen"))
    dots = "".join(_dots(name, some) for name, (_, some) in series.items())
    high, low = _level(formula.BAND), _level(1 / formula.BAND)
    parts = [
        _words(0, 14, "Forecast time ÷ published time"),
        f'<svg x="{left}%" y="{top}" width="{width}%" height="{height}" viewBox="0 0 1000 1000" '
        'preserveAspectRatio="none">'
        f'<rect class="points-band" x="0" y="{high:.0f}" width="1000" height="{low - high:.0f}"/>'
        f"{''.join(map(_grid, LEVELS))}{dots}</svg>",
        *(_words(0, top + height * _level(level) / 1000 + 4, f"{level:g}") for level in LEVELS),
        *(
            _words(
                left + width * _along(tick) / 1000, top + height + 18, write(tick, "s", tick), True
            )
            for tick in TICKS
        ),
        _words(left, top + height + 38, "Published time of a training step"),
    ]
    finding = finding_of(series["unseen"][1], series["t4"][1])
    keys = "".join(_key(name, *entry) for name, entry in series.items())
    return (
        '<figure class="chart points"><svg class="chart-drawing" width="100%" '
        f'height="{top + height + 48}" role="img" aria-labelledby="points-title" '
        'aria-describedby="points-finding"><title id="points-title">Every training speed, forecast '
        f'and published</title><desc id="points-finding">{escape(finding)}</desc>'
        f'{"".join(parts)}</svg><ul class="points-keys">{keys}</ul>'
        f"<figcaption>{escape(finding)}</figcaption></figure>"
    )


def series_of(
    seen: Sequence[Compared], unseen: Sequence[Compared]
) -> dict[str, tuple[str, list[Compared]]]:
    """What the drawing tells apart: a class of the style sheet, its title and its points."""
    return {
        "seen": ("seen while the constants were chosen", list(seen)),
        "unseen": ("not seen before", [one for one in unseen if one.point.card != "t4"]),
        "t4": ("not seen before, on a T4", [one for one in unseen if one.point.card == "t4"]),
    }


def finding_of(elsewhere: Sequence[Compared], t4: Sequence[Compared]) -> str:
    """The caption: how many points that were not seen before lie in the band, and where not."""
    inside = sum(one.error <= formula.BAND for one in elsewhere)
    late = sum(one.ratio < 1 / formula.BAND for one in t4)
    return (
        f"Of {len(elsewhere)} training speeds that were not seen before, {inside} lie in the grey "
        f"band, within {formula.BAND:g} times of the forecast. A T4 is an exception: {late} of its "
        f"{len(t4)} steps took more than {formula.BAND:g} times as long as forecast."
    )


def _key(name: str, title: str, some: Sequence[Compared]) -> str:
    dot = "".join(f'<path class="{css}" d="M8 8h0"/>' for css in _classes(name))
    return (
        f'<li><svg width="16" height="16" aria-hidden="true">{dot}</svg> {len(some)} {title}</li>'
    )


def _dots(name: str, some: Sequence[Compared]) -> str:
    spots = "".join(map(_dot, some))
    return "".join(f'<path class="{css}" d="{spots}"/>' for css in _classes(name))


def _classes(name: str) -> tuple[str, ...]:
    """One stroke for each point; a ring is a smaller one on a larger one."""
    return ("points-t4", "points-hole") if name == "t4" else (f"points-{name}",)


def _dot(one: Compared) -> str:
    return f"M{_along(one.point.seconds):.0f} {_level(one.ratio):.0f}h0"


def _along(seconds: float) -> float:
    return 1000 * math.log(seconds / SHORTEST) / math.log(LONGEST / SHORTEST)


def _level(ratio: float) -> float:
    return 1000 * math.log(HIGHEST / ratio) / math.log(HIGHEST / LOWEST)


def _grid(level: float) -> str:
    return f'<path class="points-grid" d="M0 {_level(level):.0f}H1000"/>'


def _words(x: float, y: float, words: str, middle: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    return (
        f'<text x="{x:.1f}%" y="{y:.0f}" font-size="12" fill="currentColor"{anchor}>'
        f"{escape(words)}</text>"
    )


# The rule and the tables


def rule_list() -> str:
    """By which the speeds were chosen that had not been seen before."""
    return f"<ol>{''.join(f'<li>{escape(line)}</li>' for line in points.rule())}</ol>"


def by_card_table() -> str:
    """How many speeds of each card lie in the common band, and how far off half of them are."""
    seen, unseen = (accuracy.by_card(f"training_{heap}") for heap in ("seen", "unseen"))
    rows = "".join(
        f'<tr><th scope="row">{escape(card.name)}</th>'
        f"<td>{_hits(seen.get(id))}</td><td>{_hits(unseen.get(id))}</td></tr>"
        for id, card in read_cards().items()
        if id in seen or id in unseen
    )
    titles = ("Card", "Speeds seen", "Not seen before")
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    alone = ", ".join(card.name for card in read_cards().values() if not card.tested)
    return (
        f'<div class="points-table"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        f"<p>No training speed was compared on these: {escape(alone)}.</p>"
    )


def _hits(some: Sequence[Compared] | None) -> str:
    if not some:
        return "none"
    inside = sum(one.error <= formula.BAND for one in some)
    return f"{inside} of {len(some)}; {_factor(accuracy.median_of(some))}"


def training_table() -> str:
    """All training speeds, those not seen before first."""
    head = ("Step", "Card", "Published", "Forecast", "Forecast ÷ published")
    parts = (
        ("Not seen while the constants were chosen", accuracy.compared("training_unseen")),
        ("Seen while the constants were chosen", accuracy.compared("training_seen")),
    )
    return "".join(_folded(f"{title}: {len(some)}", head, _rows(some)) for title, some in parts)


def launches_table() -> str:
    """The forward passes, most of them bound by launches."""
    some = accuracy.launches()
    head = ("Step", "Card", "Published", "Forecast", "Forecast ÷ published")
    return _folded(f"Forward passes of ResNet-50: {len(some)}", head, _rows(some))


def fits_table() -> str:
    """Which batches ran, and what the forecast says; those where it is wrong first."""
    head = ("Step", "Card", "Published", "Forecast: tensors of the card's memory")
    parts = {"wrong": False, "right": True}
    return "".join(
        _folded(
            f"Does the batch fit? {title.capitalize()}: {len(some)}",
            head,
            _by_source(some, lambda one: one.point, _fit_cells),
        )
        for title, right in parts.items()
        if (some := [one for one in accuracy.fitted() if one.right == right])
    )


def occupied_table() -> str:
    """What a tool showed of the memory, beside what the tensors hold."""
    some = points.read("occupied")
    head = ("Step", "Card", "Published", "Tensors")
    rows = _by_source(some, lambda one: one, _occupied_cells)
    return _folded(f"Memory as a tool shows it: {len(some)}", head, rows)


def cards_table() -> str:
    """The rates that the forecast takes."""
    head = ("Card", *map(format_title, FORMATS), "Bandwidth", "Memory", "Sources")
    rows = []
    for card in read_cards().values():
        peaks = [card.peak.get(name, 0.0) / 1e12 for name in FORMATS]
        rates = [*peaks, card.bandwidth / 1e9]
        cells = "".join(
            f'<td data-kind="published">{rate:,.6g}</td>' if rate else f"<td>{NONE}</td>"
            for rate in rates
        )
        cells += f'<td data-kind="published">{_memory(card)}</td>'
        sources = {source.id: source for source in card.sources.values()}
        links = ", ".join(_link(source.address, source.who) for source in sources.values())
        cells += f'<td class="points-sources">{links}</td>'
        rows.append(f'<tr><th scope="row">{escape(card.name)}</th>{cells}</tr>')
    title = f"The cards, in TFLOP/s, GB/s and GiB: {len(rows)}"
    return _folded(title, head, f"<tbody>{''.join(rows)}</tbody>")


def _memory(card: Card) -> str:
    """In GiB what is on the box, and what the driver reports where that is less."""
    reported = f"{card.memory_bytes / GIB:.3g}"
    return f"{card.box_bytes / GIB:.3g} ({reported} reported)" if card.box_bytes else reported


def own_summary() -> str:
    """What our own job measured on GPUs, a row for each network; a sentence if there is nothing."""
    parts = []
    for where, group in groupby(_own(), key=lambda one: one.where):
        some = list(group)
        held, late = _of(some, "held"), _of(some, "late")
        rows = "".join(_network_row(name, steps) for name, steps in _by_network(some).items())
        parts.append(
            f"<p>{held} training steps that our job timed lie in the band of their forecast; "
            f'{late} took longer than it says.</p><div class="points-table"><table><thead><tr>'
            '<th scope="col">Network</th><th scope="col">In the band</th>'
            '<th scope="col">Measured ÷ forecast</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div><p>Measured on {escape(where)}.</p>"
        )
    if parts:
        return "".join(parts)
    return (
        "<p>No GPU has run this site's own measurements yet. When one has, its training steps are "
        "counted here: how many took what was forecast, and how far off the others were.</p>"
    )


def own_misses() -> str:
    """Each step of our own job that took more or less than its band; nothing if there is none."""
    missed = [one for one in _own() if not one.held]
    head = ("Step", "Forecast", "Band", "Measured", "Measured ÷ forecast")
    parts = []
    for where, group in groupby(missed, key=lambda one: one.where):
        rows = "".join(map(_own_row, group))
        title = f'<tr><th colspan="5" scope="rowgroup">{escape(where)}</th></tr>'
        parts.append(f"<tbody>{title}{rows}</tbody>")
    return _folded(f"Measured by our job: {len(missed)}", head, "".join(parts)) if missed else ""


def _own() -> list[Own]:
    return own(open_store().results)


def _of(some: Sequence[Own], what: Literal["held", "late"]) -> str:
    return f"{sum(getattr(one, what) for one in some)} of {len(some)}"


def _by_network(some: Sequence[Own]) -> dict[str, list[Own]]:
    found: dict[str, list[Own]] = {}
    for one in some:
        found.setdefault(one.network, []).append(one)
    return found


def _network_row(name: str, steps: Sequence[Own]) -> str:
    ratios = [one.ratio for one in steps]
    return (
        f'<tr><th scope="row">{escape(name)}</th><td>{_of(steps, "held")}</td>'
        f"<td>{_factor(min(ratios))} to {_factor(max(ratios))}</td></tr>"
    )


def _own_row(one: Own) -> str:
    figure = one.forecast
    band = write_band(figure.low, figure.high, figure.unit)
    return (
        f'<tr><th scope="row">{escape(one.step)}</th>'
        f'<td data-kind="forecast">{escape(figure.text)}</td><td data-kind="forecast">{band}</td>'
        f'<td data-kind="measured">{write(one.seconds, "s", one.seconds / 100)}</td>'
        f"<td>{_factor(one.ratio)}</td></tr>"
    )


def _rows(some: Sequence[Compared]) -> str:
    return _by_source(some, lambda one: one.point, _time_cells)


def _by_source(
    some: Iterable[One], point: Callable[[One], Point], cells: Callable[[One], str]
) -> str:
    """A group of rows for each source, which is above them with its link."""
    order = list(points.sources())
    ordered = sorted(some, key=lambda one: order.index(point(one).source.id))
    parts = []
    for source, group in groupby(ordered, key=lambda one: point(one).source):
        rows = [
            f'<tr><th scope="row">{escape(step_title(point(one)))}</th>'
            f"<td>{escape(accuracy.card_of(point(one)).name)}</td>{cells(one)}</tr>"
            for one in group
        ]
        head = _source_row(source, rows[0].count("</t") - 1)
        parts.append(f"<tbody>{head}{''.join(rows)}</tbody>")
    return "".join(parts)


def _source_row(source: Source, columns: int) -> str:
    note = f" {escape(source.note)}" if source.note else ""
    title = _link(source.address, f"{source.who}: {source.title}")
    return (
        f'<tr><th colspan="{columns}" scope="rowgroup">{title}'
        f"; {escape(source.software)}; published {escape(source.published)}, read "
        f"{source.read}.{note}</th></tr>"
    )


def step_title(point: Point) -> str:
    """The network, its batch, its format, and its layout where that is channels_last."""
    layout = ", channels_last" if point.layout == "channels_last" else ""
    caveat = f". {point.caveat}" if point.caveat else ""
    setting = f"batch {point.batch}, {format_title(point.format)}"
    return f"{network_title(point.network)}, {setting}{layout}{caveat}"


def format_title(format: str) -> str:
    """The format as people write it."""
    return format.upper() if format == "tf32" else format


def network_title(network: str) -> str:
    """The network as people write it."""
    if network in TITLES:
        return TITLES[network]
    for start, spelled in SPELLED.items():
        if network.startswith(start):
            return spelled + network.removeprefix(start).replace("_", " ")
    return network


def _time_cells(one: Compared) -> str:
    published, forecast = one.point.seconds, one.forecast.time
    if one.point.per_second:
        rate = one.point.batch / forecast
        unit = SPACE + "per second"
        shown = f"{one.point.per_second:,.10g}{unit}", write(rate, "samples_per_s", rate / 20)
    else:
        shown = write(published, "s", published / 100), write(forecast, "s", forecast / 20)
    outside = "" if one.held else ", outside"
    return (
        f'<td data-kind="published">{shown[0]}</td><td data-kind="forecast">{shown[1]}</td>'
        f"<td>{_factor(one.ratio)}{outside}</td>"
    )


def _fit_cells(one: Fitted) -> str:
    ran = "ran" if one.point.ran else "did not run"
    verdict = "fits" if one.fits else "does not fit"
    wrong = "" if one.right else ", wrong"
    return (
        f'<td data-kind="published">{ran}</td><td data-kind="forecast">'
        f"{write(100 * one.share, 'percent', 1)}, {verdict}{wrong}</td>"
    )


def _occupied_cells(point: Point) -> str:
    tensors = accuracy.step_of(point).peak_bytes
    return (
        f'<td data-kind="published">{write(point.occupied, "gigabytes", 1e8)}</td>'
        f'<td data-kind="forecast">{write(tensors, "gigabytes", 1e8)}</td>'
    )


def _factor(value: float) -> str:
    return f"{value:.2f}"


def _link(address: str, words: str) -> str:
    return f'<a href="{escape(address)}">{escape(words)}</a>'


def _folded(summary: str, head: Sequence[str], body: str) -> str:
    """A table behind its title."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    return (
        f'<details class="points-table" data-search-exclude=""><summary>{escape(summary)}</summary>'
        f'<div class="chart-scroll" tabindex="0" role="region" aria-label="{escape(summary)}">'
        f"<table><thead><tr>{titles}</tr></thead>{body}</table></div></details>"
    )


SHOWN: dict[str, Callable[[], str]] = {
    "scatter": scatter,
    "by-card": by_card_table,
    "training": training_table,
    "launches": launches_table,
    "fits": fits_table,
    "occupied": occupied_table,
    "own": own_summary,
    "own-misses": own_misses,
    "rule": rule_list,
    "cards": cards_table,
}
