"""Charts of measured and recorded values: static SVG, with the finding, the provenance and a table.

Positions along the width are percentages and letters have a fixed size, so a chart is as readable
on a telephone as on a wide screen. Colours are ``currentColor`` and the variables ``--chart-1`` …
of the style sheet, so both palettes work; nothing is said by colour alone. What has not been
measured is never a bar.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markdown import Markdown

from lesson_site import derived, recordings
from lesson_site.derived import Cell
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.figure_store import NOT_MEASURED, Figure, Store, open_store
from lesson_site.quantities import in_words, write

DEMONSTRATION = "gpu_training/float16_demonstration:print_demonstration"
Row = Sequence[str]


@dataclass(frozen=True)
class Chart:
    """Everything that a figure on a page consists of.

    Attributes:
        title: What is shown.
        finding: What it says, computed from the values.
        svg: The drawing without its outer element.
        height: Its height in pixels.
        head: Titles of the table's columns.
        rows: The same values as text.
        source: Where and when they were measured.
    """

    title: str
    finding: str
    svg: str
    height: int
    head: Row
    rows: Sequence[Row]
    source: str


@fence(show=True)
def chart(source: str, options: Options, md: Markdown) -> str:
    """The chart that ``show`` names."""
    name = options["show"]
    if name not in CHARTS:
        raise PageError(f"there is no chart {name!r}; there are {', '.join(sorted(CHARTS))}")
    return to_html(name, CHARTS[name](open_store()), int(md.htmlStash.html_counter))


def to_html(name: str, chart: Chart, number: int = 0) -> str:
    """The chart as a ``figure`` element: drawing, table, and the finding as its caption, last.

    Args:
        name: The chart's name; with ``number`` it makes its ids unique on the page.
        chart: What to show.
        number: A number that no other block of the page has.
    """
    of = f"chart-{name}-{number}"
    cells = "".join(f'<th scope="col">{escape(title)}</th>' for title in chart.head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in chart.rows
    )
    source = f' <span class="chart-source">{escape(chart.source)}</span>' if chart.source else ""
    return (
        f'<figure class="chart chart-{name}">'
        f'<svg class="chart-drawing" width="100%" height="{chart.height}" role="img" '
        f'aria-labelledby="{of}-title" aria-describedby="{of}-finding">'
        f'<title id="{of}-title">{escape(chart.title)}</title>'
        f'<desc id="{of}-finding">{escape(chart.finding)}</desc>{chart.svg}</svg>'
        '<details class="chart-table" data-search-exclude="">'
        "<summary>The same values as a table</summary>"
        f'<div class="chart-scroll" tabindex="0" role="region" aria-label="{escape(chart.title)}">'
        f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div></details>"
        f"<figcaption>{escape(chart.finding)}{source}</figcaption></figure>"
    )


# The hook: two tasks, two devices


@dataclass(frozen=True)
class Bar:
    """One bar of the hook.

    Attributes:
        task: What was trained.
        device: ``CPU`` or ``GPU``.
        figure: Its time per epoch, or that nothing has measured it.
    """

    task: str
    device: str
    figure: Figure


HOOK = (
    ("Tiny model, 100 samples", "tiny_epoch.samples_100"),
    ("MNIST model, 60,000 images", "mnist_epoch"),
)


def hook(store: Store) -> Chart:
    """Seconds per epoch of the tiny task and of MNIST, on CPU and GPU."""
    bars = [
        Bar(task, device.upper().replace("CUDA", "GPU"), store.figure(f"{name}.{device}"))
        for task, name in HOOK
        for device in ("cpu", "cuda")
    ]
    svg, height = _log_bars(bars)
    return Chart(
        "Time of one training epoch",
        hook_finding(bars),
        svg,
        height,
        ("Task", "Device", "Time per epoch"),
        [(bar.task, bar.device, _with_noise(bar.figure.text, bar.figure.noisy)) for bar in bars],
        _source(store, "tiny_epoch", "mnist_epoch"),
    )


def hook_finding(bars: Sequence[Bar]) -> str:
    """One sentence for each task, and one for what is missing."""
    if not any(bar.figure.measured for bar in bars):
        return "Nothing of this has been measured yet."
    if not any(bar.figure.measured for bar in bars if bar.device == "GPU"):
        tiny, mnist = (bar.figure for bar in bars if bar.device == "CPU")
        missing = "The GPU’s times have not been measured yet."
        if tiny.value is None or mnist.value is None:
            return missing
        quotient = mnist.value / tiny.value
        times = write(quotient, "times", quotient / 10)
        return (
            f"On the CPU, the tiny epoch takes {tiny.text} and the MNIST epoch {mnist.text}, "
            f"{times} as long. {missing}"
        )
    sentences = []
    for cpu, gpu in zip(bars[::2], bars[1::2], strict=True):
        sentences.append(_winner(cpu, gpu))
    return " ".join(sentences)


def _winner(cpu: Bar, gpu: Bar) -> str:
    slow, fast = cpu.figure.value, gpu.figure.value
    if slow is None or fast is None:
        return f"{cpu.task}: one of the two times has not been measured yet."
    winner, loser = ("GPU", "CPU") if fast < slow else ("CPU", "GPU")
    quotient = max(slow, fast) / min(slow, fast)
    if quotient < 1.1:
        return f"{cpu.task}: CPU and GPU take about the same time."
    times = write(quotient, "times", quotient / 10)
    return f"{cpu.task}: the {winner} is {times} as fast as the {loser}."


def _log_bars(bars: Sequence[Bar]) -> tuple[str, int]:
    """Horizontal bars over a logarithmic axis, each under its label; unmeasured ones are words."""
    values = [bar.figure.value for bar in bars if bar.figure.value is not None]
    # A third of a decade at least, since a bar of almost no length would look like nothing
    low = math.floor(math.log10(min(values)) - 0.33) if values else 0
    high = max(low + 1, math.ceil(math.log10(max(values)))) if values else 1

    def across(value: float) -> float:
        return 100 * (math.log10(value) - low) / (high - low)

    parts, y = [], 0
    for index, bar in enumerate(bars):
        if index == 0 or bar.task != bars[index - 1].task:
            y += 32 if index else 16
            parts.append(_text(0, y, bar.task, weight="bold"))
        y += 21
        label = f"{bar.device}: {bar.figure.text}"
        parts.append(_text(0, y, label, css="" if bar.figure.measured else "chart-missing"))
        y += 6
        if bar.figure.value is None:
            parts.append(
                f'<rect x="0.5" y="{y + 0.5}" width="99.5%" height="13" fill="none" '
                'stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="3 4"/>'
            )
        else:
            color = 1 if bar.device == "CPU" else 2
            parts.append(
                f'<rect x="0" y="{y}" width="{across(bar.figure.value):.2f}%" height="14" '
                f'fill="var(--chart-{color}, currentColor)"/>'
            )
        y += 14
    y += 10
    for power in range(low, high + 1):
        at = across(10.0**power)
        parts.insert(
            0,
            f'<line x1="{at:.2f}%" x2="{at:.2f}%" y1="24" y2="{y}" stroke="currentColor" '
            'stroke-opacity="0.18"/>',
        )
        if high - low <= 5 or power % 2 == low % 2:
            anchor = "start" if power == low else "end" if power == high else "middle"
            parts.append(
                _text(at, y + 15, write(10.0**power, "s", 10.0**power), anchor=anchor, size=12)
            )
    parts.append(
        _text(0, y + 34, "Logarithmic axis: each line is ten times the one before.", size=12)
    )
    return "".join(parts), y + 40


# The sweep: one training step over width and batch size


def sweep(store: Store) -> Chart:
    """Time per training step over hidden width and batch size; the GPU's ratio where measured."""
    result = store.result_for("step_sweep")
    cells = derived.sweep_cells(result.cases["step_sweep"]) if result else []
    svg, height = _heat_map(cells)
    rows = []
    for cell in cells:
        gpu = NOT_MEASURED if cell.cuda is None else write(cell.cuda.value, "s", cell.cuda.spread)
        ratio = (
            NOT_MEASURED
            if cell.speedup is None
            else write(cell.speedup, "times", cell.speedup / 10)
        )
        cpu = _with_noise(write(cell.cpu.value, "s", cell.cpu.spread), cell.cpu.noisy)
        rows.append((f"{cell.width:,}", f"{cell.batch_size:,}", cpu, gpu, ratio))
    return Chart(
        "Time of one training step over model width and batch size",
        sweep_finding(cells),
        svg,
        height,
        ("Hidden width", "Batch size", "CPU", "GPU", "CPU time / GPU time"),
        rows,
        _source(store, "step_sweep"),
    )


def sweep_finding(cells: Sequence[Cell]) -> str:
    """What the batch costs at the smallest width, and where the GPU begins to win."""
    if not cells:
        return "Nothing of this has been measured yet."
    width = min(cell.width for cell in cells)
    row = sorted((c for c in cells if c.width == width), key=lambda cell: cell.batch_size)
    first, last = row[0], row[-1]
    growth = last.cpu.value / first.cpu.value
    larger = last.batch_size / first.batch_size
    finding = (
        f"At width {width:,} a batch {larger:,.0f} times as large takes the CPU "
        f"{write(growth, 'times', growth / 10)} as long."
    )
    measured = [cell for cell in cells if cell.speedup is not None]
    if not measured:
        return f"{finding} The GPU’s ratio has not been measured yet."
    winning = [cell for cell in measured if (cell.speedup or 0) > 1]
    if not winning:
        return f"{finding} The GPU wins in no cell."
    if len(winning) == len(measured):
        return f"{finding} The GPU wins in every cell."
    return f"{finding} The GPU wins in {len(winning)} of {len(measured)} cells, those with a frame."


def _heat_map(cells: Sequence[Cell]) -> tuple[str, int]:
    """Rows of widths, columns of batch sizes; each cell says its time, its tint only repeats it."""
    if not cells:
        return _text(0, 20, f"The sweep is {NOT_MEASURED}."), 30
    widths = sorted({cell.width for cell in cells})
    batches = sorted({cell.batch_size for cell in cells})
    compared = any(cell.speedup is not None for cell in cells)
    gutter, top, tall = 15.0, 46, 52 if compared else 38
    wide = (100 - gutter) / len(batches)
    logs = [math.log10(cell.cpu.value) for cell in cells]
    low, span = min(logs), max(max(logs) - min(logs), 1e-9)
    parts = [_text(gutter, 14, "Batch size", size=13, weight="bold")]
    parts.append(_text(0, 36, "Width", size=13, weight="bold"))
    for column, batch in enumerate(batches):
        middle = gutter + (column + 0.5) * wide
        parts.append(_text(middle, 36, f"{batch:,}", anchor="middle", size=13))
    for row, width in enumerate(widths):
        parts.append(_text(0, top + row * tall + tall / 2 + 4, f"{width:,}", size=13))
    for cell in cells:
        x = gutter + batches.index(cell.batch_size) * wide
        y = top + widths.index(cell.width) * tall
        tint = 0.06 + 0.3 * (math.log10(cell.cpu.value) - low) / span
        wins = cell.speedup is not None and cell.speedup > 1
        frame = ' stroke="currentColor" stroke-width="2"' if wins else ""
        parts.append(
            f'<rect x="{x + 0.4:.2f}%" y="{y + 2}" width="{wide - 0.8:.2f}%" height="{tall - 4}" '
            f'fill="var(--chart-1, currentColor)" fill-opacity="{tint:.2f}"{frame}/>'
        )
        text = write(cell.cpu.value, "s", max(cell.cpu.spread, cell.cpu.value / 10))
        middle = x + wide / 2
        parts.append(_text(middle, y + (21 if compared else 24), text, anchor="middle", size=12))
        if compared:
            ratio = "–" if cell.speedup is None else f"{cell.speedup:.2g}×"
            parts.append(_text(middle, y + 39, ratio, anchor="middle", size=12, weight="bold"))
    y = top + len(widths) * tall + 18
    below = (
        "Bold: CPU time divided by GPU time. A frame: the GPU wins."
        if compared
        else "Time of a step on the CPU. GPU: not measured yet."
    )
    parts.append(_text(0, y, below, size=13))
    return "".join(parts), y + 8


# The float16 demonstration: loss of the four arms

ARMS = (
    ("float32", "float32", ""),
    ("mixed_precision", "mixed precision", "2 4"),
    ("all_float16", "all float16", "8 4"),
    ("autocast_without_scaler", "autocast without scaler", "2 5"),
)


def float16_losses(_: Store) -> Chart:
    """Loss per epoch of the four arms with gradients below float16's range."""
    recording = recordings.read(DEMONSTRATION)
    title = "Loss of four runs whose gradients are too small for float16"
    if recording is None:
        text = f"The losses are {NOT_MEASURED}."
        return Chart(
            title,
            "Nothing of this has been recorded yet.",
            _text(0, 20, text),
            30,
            ("Run",),
            [],
            "",
        )
    arms = recording.data["shrunk"]
    losses = {label: list(map(float, arms[name]["loss"])) for name, label, _ in ARMS}
    epochs = range(1, len(losses["float32"]) + 1)
    svg, height = _lines(losses)
    return Chart(
        title,
        float16_finding(losses),
        svg,
        height,
        ("Run", *(f"Epoch {epoch}" for epoch in epochs)),
        [(label, *(f"{loss:.4f}" for loss in losses[label])) for label in losses],
        recording.caption,
    )


def float16_finding(losses: dict[str, list[float]], learnt_below: float = 0.5) -> str:
    """Which runs learnt, and at which loss the others stayed."""
    learnt = [label for label, values in losses.items() if values[-1] < learnt_below * values[0]]
    stuck = [label for label in losses if label not in learnt]
    if not stuck:
        return f"All {in_words(len(losses))} runs learn."
    if not learnt:
        return "None of the runs learns."
    low = _list([f"{losses[label][-1]:.4f}" for label in learnt])
    high = min(losses[label][-1] for label in stuck)
    return (
        f"{_capital(_list(learnt))} {'learn' if len(learnt) > 1 else 'learns'} (last loss {low}); "
        f"{_list(stuck)} {'stay' if len(stuck) > 1 else 'stays'} where they began, above "
        f"{math.floor(high * 10) / 10:.1f}."
    )


def _lines(losses: dict[str, list[float]]) -> tuple[str, int]:
    """A line for each run, labelled directly; runs that coincide share a label."""
    left, right, top, bottom = 8.0, 96.0, 30.0, 190.0
    highest = max(max(values) for values in losses.values())
    most = math.ceil(highest * 2) / 2
    epochs = len(next(iter(losses.values())))

    def x(epoch: int) -> float:
        return left + (right - left) * epoch / max(1, epochs - 1)

    def y(loss: float) -> float:
        return bottom - (bottom - top) * loss / most

    parts = [_text(0, 12, "Loss", size=13, weight="bold")]
    for tick in range(math.floor(most) + 1):
        parts.append(
            f'<line x1="{left}%" x2="{right}%" y1="{y(tick):.1f}" y2="{y(tick):.1f}" '
            'stroke="currentColor" stroke-opacity="0.18"/>'
        )
        parts.append(_text(0, y(tick) + 4, str(tick), size=12))
    for epoch in range(epochs):
        parts.append(_text(x(epoch), bottom + 20, str(epoch + 1), anchor="middle", size=12))
    parts.append(_text(left, bottom + 40, "Epoch", size=13, weight="bold"))
    for group, together in enumerate(_coinciding(losses)):
        for label in together:
            style = next(
                (number, dash) for number, (_, of, dash) in enumerate(ARMS, 1) if of == label
            )
            values = losses[label]
            dash = f' stroke-dasharray="{style[1]}"' if style[1] else ""
            color = 1 if group == 0 else 3
            width = 3 if not style[1] else 4 if style[1] == "2 4" else 3
            for epoch in range(epochs - 1):
                parts.append(
                    f'<line x1="{x(epoch):.2f}%" x2="{x(epoch + 1):.2f}%" '
                    f'y1="{y(values[epoch]):.1f}" y2="{y(values[epoch + 1]):.1f}" '
                    f'stroke="var(--chart-{color}, currentColor)" stroke-width="{width}"{dash}/>'
                )
        loss = losses[together[0]][-1]
        words = _list(together)
        parts.append(_text(right, y(loss) - 9, words, anchor="end", size=13, weight="bold"))
    return "".join(parts), int(bottom) + 48


def _coinciding(losses: dict[str, list[float]], tolerance: float = 0.05) -> list[list[str]]:
    """Runs whose losses lie on top of each other in a drawing of this size, together."""
    groups: list[list[str]] = []
    for label, values in losses.items():
        for group in groups:
            pairs = zip(values, losses[group[0]], strict=True)
            if all(abs(a - b) < tolerance for a, b in pairs):
                group.append(label)
                break
        else:
            groups.append([label])
    return groups


# What they share

CHARTS: dict[str, Callable[[Store], Chart]] = {
    "hook": hook,
    "sweep": sweep,
    "float16_losses": float16_losses,
}


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = 14,
    weight: str = "",
    css: str = "",
) -> str:
    """Letters at ``x`` percent of the width and ``y`` pixels from the top."""
    more: dict[str, Any] = {"font-weight": weight, "class": css}
    if anchor != "start":
        more["text-anchor"] = anchor
    attributes = "".join(f' {name}="{value}"' for name, value in more.items() if value)
    return (
        f'<text x="{x:.2f}%" y="{y:.0f}" font-size="{size}" fill="currentColor"{attributes}>'
        f"{escape(text)}</text>"
    )


def _source(store: Store, *case_names: str) -> str:
    result = store.result_for(*case_names)
    return f"Measured on {result.where}." if result else ""


def _with_noise(text: str, noisy: bool) -> str:
    return f"{text} (noisy)" if noisy else text


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
