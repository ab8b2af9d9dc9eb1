"""The sweep: one training step over model width and batch size, and where the GPU begins to win."""

import math
from collections.abc import Sequence

from lesson_site.charts.base import (
    CARD,
    NOTHING_MEASURED,
    Chart,
    Row,
    Source,
    is_forecast,
    measured_together,
)
from lesson_site.charts.description import CARD as CARD_PLACE
from lesson_site.charts.description import Tile, Tiles, mark_of
from results import derived
from results.derived import Cell
from results.quantities import rounded, write
from results.store import Figure, Store

NOISY = " ~"  # behind a cell's time
Gpus = dict[tuple[int, int], Figure]


def draw(store: Store, card: str = CARD) -> Chart:
    """Time per training step over hidden width and batch size; the GPU's ratio where measured."""
    source = measured_together(store, "step_sweep", card=card)
    entries = source.store.results[0].cases["step_sweep"] if source.store.results else {}
    cells = derived.sweep_cells(entries)
    gpus = _gpus(cells, source)
    gpu = CARD_PLACE if is_forecast(list(gpus.values())) else "GPU"
    return Chart(
        "Time of one training step over model width and batch size",
        finding(cells, gpus).replace(CARD_PLACE, source.card_name),
        _tiles(cells, gpus, source),
        ("Hidden width", "Batch size", "CPU", gpu, "CPU time / GPU time"),
        [_row(cell, gpus[cell.width, cell.batch_size], source) for cell in cells],
        source.where,
    )


def _gpus(cells: Sequence[Cell], source: Source) -> Gpus:
    """The GPU's times by width and batch size: all measured, or all forecast."""
    sizes = [(cell.width, cell.batch_size) for cell in cells]
    names = [_name(cell, "cuda") for cell in cells]
    of_card = [f"forecast.sweep_{w}_{b}.float32.card.time" for w, b in sizes]
    return dict(zip(sizes, source.or_forecasts(names, of_card), strict=True))


def finding(cells: Sequence[Cell], gpus: Gpus | None = None) -> str:
    """What the batch costs at the smallest width, and where the GPU begins to win.

    Args:
        cells: The cells that a CPU measured.
        gpus: The GPU's times by width and batch size, where they are forecasts.
    """
    if not cells:
        return NOTHING_MEASURED
    width = min(cell.width for cell in cells)
    row = sorted((c for c in cells if c.width == width), key=lambda cell: cell.batch_size)
    first, last = row[0], row[-1]
    growth = last.cpu.value / first.cpu.value
    larger = last.batch_size / first.batch_size
    begin = (
        f"At width {width:,} a batch {larger:,.0f} times as large takes the CPU "
        f"about {growth:.0f} times as long."  # the time of the smallest batch is often noisy
    )
    noisy = sum(map(_is_noisy, cells))
    noise = f" {noisy} of {len(cells)} cells are noisy." if noisy else ""
    winning = _winning(cells) or _forecast_winning(cells, gpus or {})
    return " ".join(filter(None, [begin, winning])) + noise


def _forecast_winning(cells: Sequence[Cell], gpus: Gpus) -> str:
    """In how many cells a forecast decides who is faster, since its whole band lies on one side."""
    pairs = [(cell.cpu.value, gpus.get((cell.width, cell.batch_size))) for cell in cells]
    bands = [(cpu, f.low, f.high) for cpu, f in pairs if f and f.low and f.high]
    if not bands:
        return ""
    gpu = sum(high < cpu for cpu, _, high in bands)
    here = sum(low > cpu for cpu, low, _ in bands)
    return (
        f"By forecast the {CARD_PLACE} wins with its whole band in {gpu} of {len(bands)} cells, "
        f"those with a frame, and this CPU in {here}; the others are too close to call."
    )


def _is_noisy(cell: Cell) -> bool:
    """Whether one of its measurements was restless."""
    return cell.cpu.noisy or (cell.cuda is not None and cell.cuda.noisy)


def _winning(cells: Sequence[Cell]) -> str:
    measured = [cell for cell in cells if cell.speedup is not None]
    if not measured:
        return ""
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


def _row(cell: Cell, gpu: Figure, source: Source) -> Row:
    cpu, speedup = source.figures([_name(cell, device) for device in ("cpu", "speedup")])
    return (f"{cell.width:,}", f"{cell.batch_size:,}", cpu, gpu, speedup)


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


def _tiles(cells: Sequence[Cell], gpus: Gpus, source: Source) -> Tiles:
    """Rows of widths, columns of batch sizes; each says its time, its tint only repeats it."""
    widths = sorted({cell.width for cell in cells})
    batches = sorted({cell.batch_size for cell in cells})
    compared = any(cell.speedup is not None for cell in cells)
    tiles = []
    for cell in cells:
        color, strength = _tint(cell, cells)
        figures = _row(cell, gpus[cell.width, cell.batch_size], source)[2:]
        time = f"{_cpu_text(cell)}{NOISY if _is_noisy(cell) else ''}"
        words = (time, _ratio_text(cell)) if compared else (time,)
        marks = [mark_of(figure) for figure in figures if isinstance(figure, Figure)]
        place = batches.index(cell.batch_size), widths.index(cell.width)
        tiles.append(Tile(*place, color, strength, words, marks, _wins(cell)))
    forecast = is_forecast(list(gpus.values()))
    note = "A time is the CPU's.\n× is CPU time divided by GPU time.\nA frame: the GPU wins."
    note = note if compared else ""
    note = "□: forecast for the {card}.\nA frame: its whole band wins." if forecast else note
    note += f"\n{NOISY.strip()}: noisy." if any(map(_is_noisy, cells)) else ""
    names = ("CPU", CARD_PLACE if forecast else "GPU", "CPU time / GPU time")
    columns = [f"{batch:,}" for batch in batches]
    rows = [f"{width:,}" for width in widths]
    return Tiles(("Batch size", "Width"), columns, rows, tiles, note, names, source.card_name)
