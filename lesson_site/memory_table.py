"""The fence that shows what training ResNet-50 holds in memory, part by part.

What a batch makes a step keep was recorded; weights, gradients and optimizer state follow from
``lesson_code/lab/state_bytes.py``. Every cell of every choice is written here. Without JavaScript
the table of batch 32 with Adam is there; the custom element ``memory-table`` swaps the cells.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, get_args

from markdown import Markdown

from lesson_code.lab.state_bytes import Optimizer, Precision, state_bytes
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.page import current_page
from results import recorded

MODULE = "lab/training_memory"
STEPS: dict[Precision, str] = {
    "float32": f"{MODULE}:print_float32_steps",
    "autocast": f"{MODULE}:print_autocast_steps",
}
KINDS = f"{MODULE}:print_saved_by_kind"
COPIES = "weight copies, 16 bit"
OPTIMIZERS: tuple[Optimizer, ...] = get_args(Optimizer)
BATCHES = (8, 32, 64)
STANDING: tuple[Optimizer, int] = ("Adam", 32)
COLUMNS = ("float32", "autocast", "float32 ÷ autocast")
NONE = "–"


@dataclass(frozen=True)
class StepBytes:
    """Bytes of the parts of a training step.

    Attributes:
        batch: The images and their labels.
        saved: Kept for backward besides the batch; the weight copies are among it.
        weight_copies: Those that autocast makes in 16 bits.
        peak: What is kept at the step's fullest moment; less than all parts together, because the
            recorded loop clears the gradients before forward.
    """

    weights: int
    gradients: int
    optimizer: int
    buffers: int
    batch: int
    saved: int
    weight_copies: int
    peak: int

    @property
    def together(self) -> int:
        """All parts, as if they were there at the same time; the weight copies count as saved."""
        return sum(
            (self.weights, self.gradients, self.optimizer, self.buffers, self.batch, self.saved)
        )


def step_bytes(precision: Precision, optimizer: Optimizer, batch_size: int) -> StepBytes:
    """The parts of one training step of ResNet-50.

    The recorded steps are Adam's. The fullest moment comes early in backward and not in the
    update, so that another optimizer differs there by its state and by nothing else.

    Raises:
        PageError: If it is not recorded.
    """
    recorded = _data(STEPS[precision])
    step = recorded[str(batch_size)]
    state = state_bytes(recorded["parameters"], precision, optimizer)
    peak = step["peak"]
    return StepBytes(
        weights=state.weights,
        gradients=state.gradients,
        optimizer=state.optimizer,
        buffers=peak["buffers"],
        batch=peak["inputs"],
        saved=step["saved"],
        weight_copies=_data(KINDS)[precision][COPIES],
        peak=peak["total"] - peak["optimizer"] + state.optimizer,
    )


@fence(show=True)
def memory_table(source: str, options: Options, md: Markdown) -> str:
    """The table that ``show`` names.

    ``parts`` is the one to choose from; ``estimates`` sets what is often written beside what was
    measured; ``batches`` compares the peaks at all batch sizes. ``bars`` draws the parts with Adam,
    for the batch that is chosen; it needs no JavaScript.
    """
    tables = {
        **{"parts": _parts_table, "estimates": _estimates_table, "batches": _batches_table},
        "bars": _bars,
    }
    if options["show"] not in tables:
        raise PageError(f"show is {options['show']!r}; it must be one of {', '.join(tables)}")
    table = tables[options["show"]]()
    # Around it all is an element that Markdown knows as a block.
    return f'<div class="results">{table}<p class="memory-source">{_source(md)}</p></div>'


def _parts_table() -> str:
    """The table of the standing choice, and the cells of all others for the browser."""
    choices = {
        optimizer: {str(batch): _choice(optimizer, batch) for batch in BATCHES}
        for optimizer in OPTIMIZERS
    }
    optimizer, batch = STANDING
    standing = choices[optimizer][str(batch)]
    rows = dict(zip(ROWS, standing["cells"], strict=True))
    data = escape(json.dumps(choices, ensure_ascii=False))
    return (
        f'<memory-table data-optimizer="{optimizer}" data-batch="{batch}" data-choices="{data}">'
        f"{_table(standing['caption'], ('Part', *COLUMNS), rows)}"
        f'<p class="memory-says">{standing["says"]["both"]}</p></memory-table>'
    )


# Megabytes as older tutorials give them for this very step.
ESTIMATES = {
    "Weights": ("100", "100"),
    "16-bit weight copies": (NONE, "50"),
    "Gradients": ("100", "50"),
    "Adam's state": ("200", "200"),
    "Saved for backward": ("about 2,000", "about 1,000"),
    "Sum of the parts": ("2,400", "1,400"),
}


def _estimates_table() -> str:
    """What is often written of a step, and what was measured."""
    full, mixed = (step_bytes(precision, *STANDING) for precision in STEPS)
    measured = [
        [_mb(size) if size else NONE for size in sizes]
        for sizes in (
            (full.weights, mixed.weights),
            (full.weight_copies, mixed.weight_copies),
            (full.gradients, mixed.gradients),
            (full.optimizer, mixed.optimizer),
            (full.saved, mixed.saved),
            (full.together, mixed.together),
        )
    ]
    rows = {
        name: [estimates[0], counted[0], estimates[1], counted[1]]
        for (name, estimates), counted in zip(ESTIMATES.items(), measured, strict=True)
    }
    columns = ("Part", "float32, estimate", "measured", "“FP16”, estimate", "autocast, measured")
    caption = "ResNet-50, batch 32, Adam: MB, as often estimated and as measured"
    return _table(caption, columns, rows)


def _batches_table() -> str:
    """The peaks with Adam at each batch size, and with the other optimizers at one."""
    optimizer, batch = STANDING
    others = [(other, batch) for other in reversed(OPTIMIZERS) if other != optimizer]
    rows = {}
    for steps in (*((optimizer, size) for size in BATCHES), *others):
        full, mixed = (step_bytes(precision, *steps).peak for precision in STEPS)
        name = f"{steps[0]}, batch {steps[1]}"
        rows[name] = [_mb(full), _mb(mixed), f"{full / mixed:.2f}"]
    return _table("ResNet-50: MB at the peak of a step", ("Step", *COLUMNS), rows)


PARTS = ("Weights", "Gradients", "Adam’s moments", "Kept for backward", "16-bit weight copies")
BAR, BELOW, LINE = 22, 8, 16  # heights in pixels


def _bars() -> str:
    """Each batch size as two bars with a table, one of which is shown."""
    optimizer, standing = STANDING
    drawn = {
        batch: [_bar_parts(step_bytes(precision, optimizer, batch)) for precision in STEPS]
        for batch in BATCHES
    }
    longest = max(sum(parts) for pair in drawn.values() for parts in pair)
    choices = "".join(
        f'<label><input type="radio" name="memory-bars" value="{batch}" autocomplete="off"'
        f"{' checked' if batch == standing else ''}> {batch}</label>"
        for batch in BATCHES
    )
    figures = "".join(_pair_of_bars(batch, pair, longest) for batch, pair in drawn.items())
    return (
        f'<div class="memory-bars"><fieldset><legend>Images in a batch of ResNet-50, trained with '
        f"{optimizer}</legend>{choices}</fieldset>{figures}</div>"
    )


def _bar_parts(step: StepBytes) -> list[int]:
    """Bytes in the order of ``PARTS``; batch and buffers are too small to be seen."""
    kept = step.saved - step.weight_copies
    return [step.weights, step.gradients, step.optimizer, kept, step.weight_copies]


def _pair_of_bars(batch: int, pair: Sequence[Sequence[int]], longest: int) -> str:
    nodes = []
    for index, (precision, parts) in enumerate(zip(STEPS, pair, strict=True)):
        top = index * (LINE + BAR + BELOW)
        label = f"{precision}: {_mb(sum(parts))} MB"
        nodes.append(f'<text x="0" y="{top + LINE - 4}">{label}</text>')
        at = 0
        for number, size in enumerate(parts, start=1):
            nodes.append(
                f'<rect class="part-{number}" x="{100 * at / longest:.2f}%" y="{top + LINE}" '
                f'width="{100 * size / longest:.2f}%" height="{BAR}"/>'
            )
            at += size
    full, mixed = pair
    caption = f"ResNet-50, batch {batch}: MB of each part"
    rows = {
        f'<i class="part-{number}"></i>{name}': [_mb(size) if size else NONE for size in sizes]
        for number, (name, *sizes) in enumerate(zip(PARTS, full, mixed, strict=True), start=1)
    }
    height = len(pair) * (LINE + BAR + BELOW)
    drawn = f'<svg width="100%" height="{height}" aria-hidden="true">{"".join(nodes)}</svg>'
    return (
        f'<figure class="batch-{batch}">{drawn}{_table(caption, ("Part", *STEPS), rows)}</figure>'
    )


def _table(caption: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> str:
    """A table that moves sideways inside itself where the screen is narrow."""
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    body = "".join(
        f'<tr{_row_class(name)}><th scope="row">{name}</th>'
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for name, cells in rows.items()
    )
    return (
        f'<div class="results-scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="results-table memory-parts"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


ROWS = (
    "Weights",
    "Gradients, all of them",
    "Optimizer state",
    "Batch-norm buffers",
    "Images and labels",
    "Saved for backward",
    "of these, 16-bit weight copies",
    "Sum of the parts",
    "Peak of the step",
)


def _choice(optimizer: Optimizer, batch: int) -> dict[str, Any]:
    """What the table says about one optimizer and batch size, as text."""
    full, mixed = (step_bytes(precision, optimizer, batch) for precision in STEPS)
    of = f"ResNet-50, batch {batch}, {optimizer}"
    ratio = f"{full.peak / mixed.peak:.2f}"
    peaks = (_mb(full.peak), _mb(mixed.peak))
    columns = (_parts(full), _parts(mixed), _ratios(full, mixed))
    return {
        "caption": f"{of}: MB in a training step",
        "cells": [list(row) for row in zip(*columns, strict=True)],
        "says": {
            "both": f"{of}: the peak is {peaks[0]} MB in float32 and {peaks[1]} MB under autocast, "
            f"a ratio of {ratio}.",
            "float32": f"{of}, float32: {_says(full)}",
            "autocast": f"{of}, autocast: {_says(mixed)}",
        },
    }


def _says(step: StepBytes) -> str:
    return f"the parts add up to {_mb(step.together)} MB, and the peak is {_mb(step.peak)} MB."


def _sizes(step: StepBytes) -> tuple[int, ...]:
    """In the order of the rows."""
    return (
        *(step.weights, step.gradients, step.optimizer, step.buffers, step.batch, step.saved),
        *(step.weight_copies, step.together, step.peak),
    )


def _parts(step: StepBytes) -> list[str]:
    return [_mb(size) if size else NONE for size in _sizes(step)]


def _ratios(full: StepBytes, mixed: StepBytes) -> list[str]:
    pairs = zip(_sizes(full), _sizes(mixed), strict=True)
    return [f"{a / b:.2f}" if a and b else NONE for a, b in pairs]


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f}"


def _row_class(name: str) -> str:
    if name.startswith("of these"):
        return ' class="part-of"'
    return ' class="total"' if name in ("Sum of the parts", "Peak of the step") else ""


def _source(md: Markdown) -> str:
    """Where the cells come from."""
    page = current_page(md)
    links = [
        f'<a href="{escape(page.code(f"lab/{name}.py"))}"><code>lab/{name}.py</code></a>'
        for name in ("state_bytes", "training_memory")
    ]
    recording = recorded.read(STEPS["float32"])
    assert recording is not None
    return (
        f"1 MB is 10⁶ bytes. Computed with {links[0]} from what {links[1]} measured on fake "
        f"tensors. {escape(recording.caption)}"
    )


def _data(target: str) -> Any:
    """What a recorded function returned."""
    recording = recorded.read(target)
    if recording is None:
        raise PageError(f"nothing is recorded; run `python -m lesson_site record {target}`")
    return recording.data
