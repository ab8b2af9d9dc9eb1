"""The fence ``lesson-floats``: bits to switch, gradients by epoch, and a loss scale to slide.

Without JavaScript there is one number, one scale, and the tables.
"""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown import Markdown

from lesson_code.gpu_training.exponent_histogram import LARGEST_SCALE, Histogram, as_row
from lesson_code.gpu_training.float_formats import (
    BFLOAT16,
    E4M3,
    E5M2,
    FLOAT16,
    FORMATS,
    FloatFormat,
)
from lesson_site.apart import apart
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.floats import drawing, gradients, words
from lesson_site.floats.gradients import PLACES, Recorded

SWITCHED = (FLOAT16, BFLOAT16)
SCALED = (FLOAT16, BFLOAT16, E5M2, E4M3)
FIRST_NUMBER = 0.1
FIRST_PLACE = "logits"
FIRST_EPOCH = 5
SCALE_POWERS = range(LARGEST_SCALE + 1)
TABLE_SCALES = (0, 8, 16, 24)
FORMAT_HEAD = (
    "Sign, exponent, fraction",
    "Largest",
    "Smallest with all digits",
    "Smallest above zero",
    "Apart just above 1",
)


@fence(show=True)
def floats(source: str, options: Options, md: Markdown) -> str:
    """The part that ``show`` names: ``switches``, ``epochs`` or ``scale``."""
    parts = {"switches": _switches, "epochs": _epochs, "scale": _scale}
    if options["show"] not in parts:
        raise PageError(f"show is {options['show']!r}; it must be one of {', '.join(parts)}")
    # Around it all is an element that Markdown knows as a block.
    return f'<div class="results floats">{parts[options["show"]]()}</div>'


def _switches() -> str:
    recorded = gradients.read()
    histogram = recorded.together(FIRST_PLACE, FIRST_EPOCH)
    outlines = gradients.paths(histogram, FLOAT16, 0)
    pattern = FLOAT16.pattern(FIRST_NUMBER)
    number = FLOAT16.value(pattern)
    told = (
        words.becomes(FLOAT16, FIRST_NUMBER),
        words.reading(FLOAT16, pattern),
        words.beside(FLOAT16, pattern),
    )
    note = f"The hill: recorded gradients at {PLACES[FIRST_PLACE]}, epoch {FIRST_EPOCH}"
    every = {"kept": "".join(outlines.values())}
    drawn = drawing.whole_line(FORMATS, FLOAT16, number, every, note)
    head = ("Format", f"{words.written(FIRST_NUMBER)} becomes", *FORMAT_HEAD)
    rows = [[kind.name, words.written(kind.kept(FIRST_NUMBER)), *_facts(kind)] for kind in FORMATS]
    window = drawing.WHOLE
    data = {
        "formats": [_format_data(kind) for kind in FORMATS],
        "switched": [kind.name for kind in SWITCHED],
        "number": FIRST_NUMBER,
        "window": [window.low, window.high],
    }
    said = "".join(f"<p>{sentence}</p>" for sentence in told)
    return (
        f'<float-switches data-floats="{_json(data)}">'
        f'<div class="float-says" role="status">{said}</div><div class="chart-frame">{drawn}</div>'
        f"{_table('Six formats', head, rows)}</float-switches>"
    )


def _facts(kind: FloatFormat) -> list[str]:
    """A format's layout and limits, as cells."""
    apart = kind.neighbours(kind.pattern(1.0))[1] - 1
    numbers = (kind.largest, kind.smallest_normal, kind.smallest, apart)
    layout = f"1, {kind.exponent_bits}, {kind.fraction_bits}"
    return [layout, *(words.written(number) for number in numbers)]


def _epochs() -> str:
    recorded = gradients.read()
    drawn, y = "", 0
    for epoch in recorded.epochs:
        histogram = recorded.together(FIRST_PLACE, epoch)
        outlines = gradients.paths(histogram, FLOAT16, 0)
        lost = gradients.share(histogram.lost(FLOAT16), histogram.others)
        one = drawing.small_line(FLOAT16, outlines, f"epoch {epoch}", f"{lost} lost")
        drawn += f'<svg y="{y}" width="100%" height="84" overflow="visible">{one}</svg>'
        y += 88
    drawn = drawing.axis(drawing.NEAR, 20, y - 12) + drawn
    label = f"Gradients at {PLACES[FIRST_PLACE]} by size, in {len(recorded.epochs)} epochs"
    rows = [
        [str(epoch), _between(recorded.losses[epoch]), *_lost_by_place(recorded, epoch)]
        for epoch in recorded.epochs
    ]
    head = ("Epoch", "Loss", *(f"at {name}" for name in PLACES.values()))
    caption = "Share of the gradients that float16 would round to zero"
    svg = drawing.drawing(label, y + 10, drawn)
    return f'<div class="chart-frame">{svg}</div>{_table(caption, head, rows)}{_source(recorded)}'


def _lost_by_place(recorded: Recorded, epoch: int) -> list[str]:
    return [_spread(recorded.counts[place, epoch], FLOAT16, 0) for place in PLACES]


def _spread(runs: Sequence[Histogram], kind: FloatFormat, power: int) -> str:
    return gradients.spread([run.lost(kind, power) for run in runs], [run.others for run in runs])


def _between(losses: Sequence[float]) -> str:
    low, high = f"{min(losses):.4f}", f"{max(losses):.4f}"
    return low if low == high else f"{low} to {high}"


def _scale() -> str:
    recorded = gradients.read()
    epoch = FIRST_EPOCH
    histogram = recorded.together(FIRST_PLACE, epoch)
    said = "".join(f"<p>{each}</p>" for each in gradients.sentences(histogram, FLOAT16, 0))
    label = "Recorded gradients by size, and where a format begins and ends"
    drawn = drawing.near_line(FLOAT16, gradients.paths(histogram, FLOAT16, 0), label)
    rows = [
        [name, *(_lost_and_over(recorded, place, epoch, power) for power in TABLE_SCALES)]
        for place, name in PLACES.items()
    ]
    head = ("Gradients at", *(f"{2**power:,}" for power in TABLE_SCALES))
    caption = f"Share that float16 loses in epoch {epoch}, by loss scale"
    window = drawing.NEAR
    data = {
        "formats": [_format_data(kind) for kind in SCALED],
        "places": PLACES,
        "epochs": recorded.epochs,
        "first": [epoch, FIRST_PLACE],
        "powers": [SCALE_POWERS[0], SCALE_POWERS[-1]],
        "window": [window.low, window.high],
    }
    counts = {
        place: [as_row(recorded.together(place, each)) for each in recorded.epochs]
        for place in PLACES
    }
    return (
        f'<gradient-scale{apart(counts)} data-floats="{_json(data)}">'
        f'<div class="float-says" role="status">{said}</div><div class="chart-frame">{drawn}</div>'
        f"{_table(caption, head, rows)}</gradient-scale>{_source(recorded)}"
    )


def _lost_and_over(recorded: Recorded, place: str, epoch: int, power: int) -> str:
    runs = recorded.counts[place, epoch]
    over = sum(run.too_large(FLOAT16, power) for run in runs)
    text = _spread(runs, FLOAT16, power)
    return f"{text}; {over:,} too large" if over else text


def _format_data(kind: FloatFormat) -> list[Any]:
    return [kind.name, kind.exponent_bits, kind.fraction_bits, int(kind.has_infinity)]


def _json(data: Any) -> str:
    return escape(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def _source(recorded: Recorded) -> str:
    return (
        f'<p class="memory-source">Recorded in float32 training on MNIST: {recorded.images:,} '
        f"images, batches of {recorded.batch_size}, {recorded.optimizer}, {recorded.seeds} seeds, "
        f"one step in {recorded.every} counted. A range is that of the seeds; every gradient is "
        "rounded by itself, and those that are zero in float32 are left out. "
        f"{escape(recorded.source)}.</p>"
    )


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    return (
        f'<div class="results-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="results-table two-way"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
