"""The model beside what is counted on tensors without values, which needs no GPU."""

from collections.abc import Mapping
from html import escape

from lesson_site.errors import PageError
from lesson_site.mission.measured import LAPTOP_CAPTION, MOMENTS, SHOWN, compared, name_of
from lesson_site.mission.table import Table, table_html
from results.counted_memory import CountedMemoryError, Moments, counted_with, read_counted
from results.predictions import CONFIGURATIONS, LAPTOP, Configuration

HEAD = ("Moment", "Model", "Counted", "Difference")
EVERY_HEAD = ("Configuration", "Peak by the model", "Counted", "Difference")
EVERY = "Every configuration, counted"


def counted_panel() -> str:
    """The tables of the committed counts.

    Raises:
        PageError: If they can't be read.
    """
    try:
        counted, torch = read_counted(), counted_with()
    except CountedMemoryError as problem:
        raise PageError(str(problem)) from None
    moments = "".join(table_html(_moments(c, counted[c.name])) for c in SHOWN)
    peaks = [
        _peaks(EVERY, CONFIGURATIONS, counted),
        _peaks(f"{LAPTOP_CAPTION}, counted", LAPTOP, counted),
    ]
    source = f"Computed, not measured: counted with the operations of PyTorch {torch}."
    return (
        f"<p>{escape(source)}</p>{moments}"
        f"<details><summary>{EVERY}</summary>{''.join(map(table_html, peaks))}</details>"
    )


def _moments(c: Configuration, found: Moments) -> Table:
    rows = [
        (title, *compared(c.phases[phase], found[phase], 2)) for phase, title in MOMENTS.items()
    ]
    return Table(f"{name_of(c)}: counted", HEAD, tuple(rows))


def _peaks(
    caption: str, configurations: tuple[Configuration, ...], counted: Mapping[str, Moments]
) -> Table:
    rows = [
        (name_of(c), *compared(c.phases["peak"], counted[c.name]["peak"], 2))
        for c in configurations
    ]
    return Table(caption, EVERY_HEAD, tuple(rows))
