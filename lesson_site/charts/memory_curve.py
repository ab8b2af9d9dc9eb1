"""The memory dashboard of the lab: bytes alive over a few training steps, healthy and leaking."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lesson_site.charts.axis import linear_axis
from lesson_site.charts.base import NOTHING_RECORDED, Chart, Row
from lesson_site.charts.description import Below, Mark, Plane, Series
from results import recorded
from results.quantities import write
from results.store import Store

CURVE = "lab/memory_dashboard:print_curve"
SNAPSHOT = "lab/memory_dashboard:print_snapshot"
TITLE = "Bytes alive over three training steps"
SNAPSHOT_TITLE = "Bytes that were asked of the GPU's allocator over four training steps"
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
    """Megabytes asked of a GPU's allocator, from the snapshot that it wrote."""
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
    said = f"On the GPU, loop A ends with {healthy} alive, and loop C with {leaking}."
    table = (("Loop", "At most", "At the end"), cells)  # the curve has hundreds of points
    return _chart(SNAPSHOT_TITLE, said, curves, table, recording.caption)


def _nothing(title: str) -> Chart:
    return Chart(title, NOTHING_RECORDED, _plane({}), ("Loop",), [], "")


def _chart(
    title: str,
    said: str,
    curves: dict[str, list[tuple[float, float]]],
    table: tuple[Sequence[str], Sequence[Row]],
    source: str,
) -> Chart:
    return Chart(title, said, _plane(curves), *table, source)


def _plane(curves: dict[str, list[tuple[float, float]]]) -> Plane:
    """Steps, since memory stays level until the next operation."""
    axis = linear_axis([x for points in curves.values() for x, _ in points], "count")
    series = [
        Series(label, color, [(x, Mark(y, _size(y))) for x, y in curves[loop]], dash, "step")
        for loop, (label, color, dash) in LOOPS.items()
        if loop in curves
    ]
    below = Below("Operations so far", axis.low, axis.high, axis.ticks)
    return Plane(below, "Alive", "megabytes", series)


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
