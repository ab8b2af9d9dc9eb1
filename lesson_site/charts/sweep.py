"""The sweep: one training step over model width and batch size, and where the GPU begins to win."""

import math
from collections.abc import Sequence
from typing import Any

from lesson_site.charts.base import (
    NOTHING_MEASURED,
    Chart,
    Row,
    Source,
    measured_together,
    times,
    with_noise,
)
from lesson_site.charts.drawing import text
from lesson_site.charts.plots import Trace
from results import derived
from results.derived import Cell
from results.quantities import rounded, write
from results.store import NOT_MEASURED, Store

DEVICES = ("cpu", "cuda", "speedup")
TILE = 0.94  # of a cell, so that tiles do not touch


def draw(store: Store) -> Chart:
    """Time per training step over hidden width and batch size; the GPU's ratio where measured."""
    source = measured_together(store, "step_sweep")
    entries = source.store.results[0].cases["step_sweep"] if source.store.results else {}
    cells = derived.sweep_cells(entries)
    svg, height = _heat_map(cells)
    return Chart(
        "Time of one training step over model width and batch size",
        finding(cells),
        svg,
        height,
        ("Hidden width", "Batch size", "CPU", "GPU", "CPU time / GPU time"),
        [_row(cell, source) for cell in cells],
        source.where,
        [_trace(cells, source)] if cells else [],
        _layout(cells),
    )


def finding(cells: Sequence[Cell]) -> str:
    """What the batch costs at the smallest width, and where the GPU begins to win."""
    if not cells:
        return NOTHING_MEASURED
    width = min(cell.width for cell in cells)
    row = sorted((c for c in cells if c.width == width), key=lambda cell: cell.batch_size)
    first, last = row[0], row[-1]
    growth = last.cpu.value / first.cpu.value
    larger = last.batch_size / first.batch_size
    begin = (
        f"At width {width:,} a batch {larger:,.0f} times as large takes the CPU "
        f"{times(growth)} as long."
    )
    noisy = sum(cell.cpu.noisy or (cell.cuda is not None and cell.cuda.noisy) for cell in cells)
    noise = f" {noisy} of {len(cells)} cells are noisy." if noisy else ""
    return f"{begin} {_winning(cells)}{noise}"


def _winning(cells: Sequence[Cell]) -> str:
    measured = [cell for cell in cells if cell.speedup is not None]
    if not measured:
        return "The GPU’s ratio has not been measured yet."
    winning = [cell for cell in measured if _wins(cell)]
    if not winning:
        return "The GPU wins in no cell."
    if len(winning) == len(measured):
        return "The GPU wins in every cell."
    return f"The GPU wins in {len(winning)} of {len(measured)} cells, those with a frame."


def _wins(cell: Cell) -> bool:
    return cell.speedup is not None and cell.speedup > 1


def _name(cell: Cell, device: str) -> str:
    """The catalogue's name of a cell's figure."""
    return f"step_sweep.width_{cell.width}.batch_{cell.batch_size}.{device}"


def _row(cell: Cell, source: Source) -> Row:
    figures = source.figures([_name(cell, device) for device in DEVICES])
    return (f"{cell.width:,}", f"{cell.batch_size:,}", *figures)


def _cpu_text(cell: Cell) -> str:
    """The CPU's time with two digits, which is what a cell has room for."""
    return write(cell.cpu.value, "s", max(cell.cpu.spread, cell.cpu.value / 10))


def _ratio_text(cell: Cell) -> str:
    return "–" if cell.speedup is None else f"{rounded(cell.speedup, cell.speedup / 10)}×"


def _tint(cell: Cell, cells: Sequence[Cell]) -> tuple[int, float]:
    """A cell's colour and its strength, 0 to 1: who wins by how much, else the CPU's time."""
    if any(other.speedup is not None for other in cells):
        if cell.speedup is None:
            return 1, 0.0
        most = max(abs(math.log10(c.speedup)) for c in cells if c.speedup is not None)
        return (2 if _wins(cell) else 1), abs(math.log10(cell.speedup)) / max(most, 1e-9)
    logs = [math.log10(other.cpu.value) for other in cells]
    span = max(max(logs) - min(logs), 1e-9)
    return 1, (math.log10(cell.cpu.value) - min(logs)) / span


def _heat_map(cells: Sequence[Cell]) -> tuple[str, int]:
    """Rows of widths, columns of batch sizes; each cell says its time, its tint only repeats it."""
    if not cells:
        return text(0, 20, f"The sweep is {NOT_MEASURED}."), 30
    widths = sorted({cell.width for cell in cells})
    batches = sorted({cell.batch_size for cell in cells})
    compared = any(cell.speedup is not None for cell in cells)
    gutter, top, tall = 15.0, 46, 52 if compared else 38
    wide = (100 - gutter) / len(batches)
    parts = [text(gutter, 14, "Batch size", size=13, weight="bold")]
    parts.append(text(0, 36, "Width", size=13, weight="bold"))
    for column, batch in enumerate(batches):
        middle = gutter + (column + 0.5) * wide
        parts.append(text(middle, 36, f"{batch:,}", anchor="middle", size=13))
    for row, width in enumerate(widths):
        parts.append(text(0, top + row * tall + tall / 2 + 4, f"{width:,}", size=13))
    for cell in cells:
        x = gutter + batches.index(cell.batch_size) * wide
        y = top + widths.index(cell.width) * tall
        color, strength = _tint(cell, cells)
        frame = ' stroke="currentColor" stroke-width="2"' if _wins(cell) else ""
        parts.append(
            f'<rect x="{x + 0.4:.2f}%" y="{y + 2}" width="{wide - 0.8:.2f}%" height="{tall - 4}" '
            f'fill="var(--chart-{color}, currentColor)" '
            f'fill-opacity="{0.06 + 0.3 * strength:.2f}"{frame}/>'
        )
        middle = x + wide / 2
        time_y = y + (21 if compared else 24)
        parts.append(text(middle, time_y, _cpu_text(cell), anchor="middle", size=12))
        if compared:
            ratio = _ratio_text(cell)
            parts.append(text(middle, y + 39, ratio, anchor="middle", size=12, weight="bold"))
    y = top + len(widths) * tall + 18
    below = (
        "Bold: CPU time divided by GPU time. A frame: the GPU wins."
        if compared
        else "Time of a step on the CPU. GPU: not measured yet."
    )
    parts.append(text(0, y, below, size=13))
    return "".join(parts), y + 8


def _trace(cells: Sequence[Cell], source: Source) -> Trace:
    """Tiles: bars between whole numbers, so that Plotly's smallest bundle draws them."""
    widths = sorted({cell.width for cell in cells})
    batches = sorted({cell.batch_size for cell in cells})
    compared = any(cell.speedup is not None for cell in cells)
    tints = [_tint(cell, cells) for cell in cells]
    return {
        "type": "bar",
        "name": "CPU time / GPU time" if compared else "Time of a step on the CPU",
        "x": [batches.index(cell.batch_size) for cell in cells],
        "base": [widths.index(cell.width) - TILE / 2 for cell in cells],
        "y": [TILE] * len(cells),
        "width": TILE,
        "text": [_tile_text(cell, compared) for cell in cells],
        "hovertext": [_hover(cell, source, compared) for cell in cells],
        "hoverinfo": "text",
        "customdata": [_name(cell, "speedup" if compared else "cpu") for cell in cells],
        "meta": {
            "colors": [color for color, _ in tints],
            "strengths": [round(0.06 + 0.3 * strength, 2) for _, strength in tints],
        },
        "showlegend": False,
    }


def _tile_text(cell: Cell, compared: bool) -> str:
    return f"{_cpu_text(cell)}<br>{_ratio_text(cell)}" if compared else _cpu_text(cell)


def _hover(cell: Cell, source: Source, compared: bool) -> str:
    cpu, cuda, speedup = (source.figure(_name(cell, device)) for device in DEVICES)
    lines = [
        f"Width {cell.width:,}, batch size {cell.batch_size:,}",
        f"CPU: {with_noise(cpu)}",
        f"GPU: {with_noise(cuda)}",
    ]
    return "<br>".join([*lines, f"CPU time / GPU time: {speedup.text}"] if compared else lines)


def _layout(cells: Sequence[Cell]) -> dict[str, Any]:
    widths = sorted({cell.width for cell in cells})
    batches = sorted({cell.batch_size for cell in cells})

    def axis(title: str, values: Sequence[int]) -> dict[str, Any]:
        return {
            "title": {"text": title},
            "tickvals": list(range(len(values))),
            "ticktext": [f"{value:,}" for value in values],
            "showgrid": False,
        }

    return {
        "height": 110 + 74 * len(widths),
        "xaxis": axis("Batch size", batches),
        "yaxis": axis("Hidden width", widths) | {"range": [len(widths) - 0.5, -0.5]},
        "shapes": [_frame(cell, widths, batches) for cell in cells if _wins(cell)],
    }


def _frame(cell: Cell, widths: list[int], batches: list[int]) -> dict[str, Any]:
    x, y = batches.index(cell.batch_size), widths.index(cell.width)
    half = TILE / 2
    ends = {"x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half}
    return {"type": "rect", **ends, "line": {"width": 2}}
