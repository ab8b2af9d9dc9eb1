"""Charts of measured and recorded values, one module each.

Each describes itself once and becomes a drawing with its finding as the caption, where it was
measured, and the values as a table. The description goes along for the browser, in which readers
point at marks and add their own machine.
"""

from collections.abc import Callable

from markdown import Markdown

from lesson_site.charts import (
    amp,
    channels_last,
    float16_losses,
    hook,
    ladder,
    learning_curves,
    matmul,
    memory_curve,
    memory_peaks,
    pipeline_shares,
    race,
    roofline,
    sweep,
)
from lesson_site.charts.base import Chart, to_html, with_cards
from lesson_site.charts.contributed import with_contributed
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from results import contributed
from results.store import Store, open_store

FOR_CARDS: dict[str, Callable[[Store, str], Chart]] = {
    "amp": amp.draw,
    "ladder": ladder.draw,
    "race": race.draw,
    "sweep": sweep.draw,
}
CHARTS: dict[str, Callable[[Store], Chart]] = {
    "amp": amp.draw,
    "channels_last": channels_last.draw,
    "float16_losses": float16_losses.draw,
    "hook": hook.draw,
    "ladder": ladder.draw,
    "learning_curves": learning_curves.draw,
    "matmul": matmul.draw,
    "memory_curve": memory_curve.draw,
    "memory_peaks": memory_peaks.draw,
    "memory_snapshot": memory_curve.draw_snapshot,
    "pipeline_shares": pipeline_shares.draw,
    "race": race.draw,
    "roofline": roofline.draw,
    "sweep": sweep.draw,
}


@fence(show=True)
def chart(source: str, options: Options, md: Markdown) -> str:
    """The chart that ``show`` names."""
    name = options["show"]
    if name not in CHARTS:
        raise PageError(f"there is no chart {name!r}; there are {', '.join(sorted(CHARTS))}")
    store = open_store()
    drawn = with_contributed(described(name, store), contributed.read(store), store.definitions)
    return to_html(name, drawn, int(md.htmlStash.html_counter))


def described(name: str, store: Store) -> Chart:
    """The chart of this name, for every card of which it has forecasts."""
    return with_cards(FOR_CARDS[name], store) if name in FOR_CARDS else CHARTS[name](store)
