"""The memory dashboard of the lab: bytes alive over a few training steps, healthy and leaking."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from lesson_site.charts import plots
from lesson_site.charts.base import Chart, Row
from lesson_site.charts.drawing import GUTTER, Axis, Line, line_chart, linear_axis, text, y_of
from lesson_site.charts.plots import Trace
from results import recorded
from results.quantities import write
from results.store import NOT_MEASURED, Store

CURVE = "lab/memory_dashboard:print_curve"
SNAPSHOT = "lab/memory_dashboard:print_snapshot"
TITLE = "Bytes alive over three training steps"
SNAPSHOT_TITLE = "Bytes that the GPU's allocator had given out over four training steps"
LOOPS = {"A": ("Loop A", 1, ""), "C": ("Loop C", 3, "8 4")}
STEP_BYTES = 100_000.0  # the smallest difference that the drawing's texts show


def draw(_: Store) -> Chart:
    """Megabytes alive after each operation, of a loop that lets go and of one that keeps."""
    recording = recorded.read(CURVE)
    if recording is None:
        return _nothing(TITLE)
    rows: list[dict[str, Any]] = recording.data
    curves = {loop: [(row["operation"], row[loop]) for row in rows] for loop in LOOPS}
    head = ("Step and operation", *(label for label, _, _ in LOOPS.values()))
    cells = [
        (f"{row['step']}, {row['name']}", *(_size(row[loop]) for loop in LOOPS)) for row in rows
    ]
    return _chart(TITLE, finding(rows), curves, (head, cells), recording.caption)


def draw_snapshot(_: Store) -> Chart:
    """Megabytes given out by a GPU's allocator, from the snapshot that it wrote."""
    recording = recorded.read(SNAPSHOT, "cuda")
    if recording is None:
        return _nothing(SNAPSHOT_TITLE)
    curves: dict[str, list[tuple[float, float]]] = {
        loop: [(event, alive) for event, alive in recording.data[loop]] for loop in LOOPS
    }
    cells = [
        (LOOPS[loop][0], _size(max(alive for _, alive in points)), _size(points[-1][1]))
        for loop, points in curves.items()
    ]
    healthy, leaking = (at_the_end for *_rest, at_the_end in cells)
    said = f"On the GPU, loop A ends with {healthy} given out, and loop C with {leaking}."
    table = (("Loop", "At most", "At the end"), cells)  # the curve has hundreds of points
    return _chart(SNAPSHOT_TITLE, said, curves, table, recording.caption)


def _nothing(title: str) -> Chart:
    drawing = text(0, 20, f"The bytes alive are {NOT_MEASURED}.")
    nothing = "Nothing of this has been recorded yet."
    return Chart(title, nothing, drawing, 30, ("Loop",), [], "")


def _chart(
    title: str,
    said: str,
    curves: dict[str, list[tuple[float, float]]],
    table: tuple[Sequence[str], Sequence[Row]],
    source: str,
) -> Chart:
    x = linear_axis([x for points in curves.values() for x, _ in points], "count")
    y = linear_axis([y for points in curves.values() for _, y in points], "megabytes")
    lines = [Line(label, curves[loop], color, dash) for loop, (label, color, dash) in LOOPS.items()]
    keys = [replace(line, points=()) for line in lines]
    svg, height = line_chart(keys, x, y, ("Operations so far", "Alive"))
    svg += "".join(_polyline(line, x, y) for line in lines)
    layout = {
        "height": 380,
        "xaxis": plots.axis_layout("Operations so far", x),
        "yaxis": plots.axis_layout("Alive", y),
    }
    traces = [_trace(line) for line in lines]
    return Chart(title, said, svg, height, *table, source, traces, layout)


def finding(rows: list[dict[str, Any]]) -> str:
    """What each loop holds after its steps."""
    ends = [before for before, after in pairwise(rows) if before["step"] != after["step"]]
    ends.append(rows[-1])
    healthy, leaking = ([end[loop] for end in ends] for loop in LOOPS)
    added = (leaking[-1] - leaking[0]) / (len(ends) - 1)
    return (
        f"Loop A comes back to {_size(healthy[-1])} after each step; "
        f"each step leaves loop C {_size(added)} higher."
    )


def _size(size: float) -> str:
    return write(size, "megabytes", STEP_BYTES / 10)


def _polyline(line: Line, x: Axis, y: Axis) -> str:
    """A curve as one element, since a page has a budget of them; its width is stretched.

    It stays level until the next point, as memory does.
    """
    path = [f"M{1000 * x.share(line.points[0][0]):.0f} {y_of(y, line.points[0][1]):.0f}"]
    path += [f"H{1000 * x.share(a):.0f}V{y_of(y, b):.0f}" for a, b in line.points[1:]]
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return (
        f'<svg x="{GUTTER}%" y="0" width="{96 - GUTTER}%" height="230" viewBox="0 0 1000 230" '
        f'preserveAspectRatio="none" overflow="visible"><path d="{"".join(path)}" fill="none" '
        f'stroke="var(--chart-{line.color}, currentColor)" stroke-width="2"{dash} '
        'vector-effect="non-scaling-stroke"/></svg>'
    )


def _trace(line: Line) -> Trace:
    """A loop for Plotly; recorded, not measured by the job, so no figure of a result file."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": line.label,
        "x": [x for x, _ in line.points],
        "y": [y for _, y in line.points],
        "line": {"dash": "dash" if line.dash else "solid", "shape": "hv"},
        "hovertext": [f"{line.label}, {x:.0f}: {_size(y)}" for x, y in line.points],
        "hoverinfo": "text",
        "meta": line.color,
    }
