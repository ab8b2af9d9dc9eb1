"""The fence of the page *Forecast your GPU*: its instrument as it is before anybody chooses.

Python says and draws one choice; the element ``forecast-gpu`` comes with the first other one.
"""

from collections.abc import Mapping, Sequence
from html import escape

from markdown import Markdown

from lesson_code.forecast.cards import read_cards
from lesson_site.apart import apart
from lesson_site.card_options import card_options
from lesson_site.charts.drawing import draw, to_svg
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.forecast.data import counted, payload, sweep
from lesson_site.forecast.models import MODELS
from lesson_site.forecast.told import Choice, Told, crossing, tell
from lesson_site.forecast.words import FORMAT_CHOICES, HOSTS, LAYOUT_NAMES, WORDS
from results.reader_card import FIRST
from results.store import open_store

FIRST_CHOICE = Choice(FIRST, "resnet50", 64, "float32")
HEAD = ("Card", "A step", "Band", "A second", "What limits it", "Fits")
SIX_CARDS = ("t4", "rtx-3090", "rtx-4090", "a100-80gb", "h100", "h200")
THREE_MODELS = (("mnist", 64), ("resnet50", 64), ("gpt2", 8))
CAPTION = "The same step on every card, forecast"
NO_SWEEP = "No CPU of ours has run these steps: python -m benchmarks run --case step_sweep does it."
STATIC_CAPTION = "A training step in float32 without TF32, forecast"
OWN = (
    "Your own model: the file that <code>python -m lesson_code.forecast … --json FILE</code> wrote"
)


@fence(show=True)
def forecast(source: str, options: Options, md: Markdown) -> str:
    """The part that ``show`` names: the ``instrument``, or one of its tables."""
    parts = {"instrument": _instrument, "table": _static_table, "crossing": _crossing}
    if options["show"] not in parts:
        raise PageError(f"show is {options['show']!r}; it must be one of {', '.join(parts)}")
    # Around it all is an element that Markdown knows as a block.
    return f'<div class="results forecast">{parts[options["show"]]()}</div>'


def _instrument() -> str:
    """The choices, what they come to, and the data with which the browser goes on."""
    told = tell(FIRST_CHOICE)
    return (
        f"<forecast-gpu{apart(payload())}>{_controls(FIRST_CHOICE)}"
        f'<div class="forecast-says" role="status">{_sentences(told)}</div>'
        f'<div class="chart-frame">{_drawn(told)}</div>{_table(told)}</forecast-gpu>'
    )


def _controls(choice: Choice) -> str:
    batches = dict.fromkeys(one.batch for one in counted(MODELS[choice.model]))
    names = {
        "model": ("Model", {name: _capital(m.name) for name, m in MODELS.items()}, choice.model),
        "batch": ("Batch", {str(batch): f"{batch:,}" for batch in batches}, str(choice.batch)),
        "format": ("Format", FORMAT_CHOICES, choice.format),
        "layout": ("Images", {str(key): name for key, name in LAYOUT_NAMES.items()}, "0"),
        "host": ("Starting an operation takes", HOSTS, ""),
    }
    lists = _select("card", "Card", card_options(choice.card))
    lists += "".join(_list(name, *entry) for name, entry in names.items())
    file = f'<label class="forecast-own">{OWN} <input type="file" accept=".json"></label>'
    message = '<p class="drop-message" role="status"></p>'
    return f"<fieldset><legend>Choose</legend>{lists}{file}{message}</fieldset>"


def _list(name: str, label: str, options: Mapping[str, str], chosen: str) -> str:
    listed = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in options.items()
    )
    return _select(name, label, listed)


def _select(name: str, label: str, options: str) -> str:
    return (
        f'<div><label for="forecast-{name}">{label}</label>'
        f'<select id="forecast-{name}" name="{name}" autocomplete="off">{options}</select></div>'
    )


def _sentences(told: Told) -> str:
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in told.sentences)


def _drawn(told: Told) -> str:
    nodes, height = draw(told.drawing) if told.drawing else ([], 0)
    return (
        f'<svg class="chart-drawing rows" width="100%" height="{height}" role="img" '
        f'aria-label="The parts of the step, forecast">{to_svg(nodes)}</svg>'
    )


def _table(told: Told) -> str:
    rows = "".join(
        f'<tr{_here(row[0])}><th scope="row">{escape(row[0])}</th>{_cells(row[1:])}</tr>'
        for row in told.cards
    )
    return _scrolled(CAPTION, HEAD, rows)


def _here(name: str) -> str:
    """The mark of the chosen card's row."""
    return ' aria-current="true"' if name == read_cards()[FIRST_CHOICE.card].name else ""


def _cells(texts: Sequence[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _scrolled(caption: str, head: Sequence[str], rows: str) -> str:
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    return (
        f'<div class="results-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="results-table two-way"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _static_table() -> str:
    """Three models on six cards."""
    head = ["Card"]
    head += [f"{_capital(MODELS[model].name)}, batch {batch}" for model, batch in THREE_MODELS]
    rows = "".join(
        f'<tr><th scope="row">{escape(read_cards()[card].name)}</th>'
        f"{_cells([_cell(card, model, batch) for model, batch in THREE_MODELS])}</tr>"
        for card in SIX_CARDS
    )
    return _scrolled(STATIC_CAPTION, head, rows)


def _crossing() -> str:
    """Where the first card would beat our CPU; the instrument fills it for another one."""
    if not sweep():
        return f"<p>{escape(NO_SWEEP)}</p>"
    card = read_cards()[FIRST_CHOICE.card]
    head = ["Width", *(f"{batch:,} images" for batch in sorted({cell.batch for cell in sweep()}))]
    rows = "".join(
        f'<tr><th scope="row">{width}</th>'
        + "".join(f'<td data-who="{who}">{escape(text)}</td>' for who, text in cells)
        + "</tr>"
        for width, cells in crossing(card)
    )
    source = open_store().figure("step_sweep.width_64.batch_16.cpu").source.rpartition("; ")[2]
    table = _scrolled(WORDS["crossing"].format(card=card.name), head, rows)
    measured = f'<p class="memory-source">CPU times measured on {escape(source)}.</p>'
    return f'<div class="forecast-crossing">{table}</div>{measured}'


def _cell(card: str, model: str, batch: int) -> str:
    row = next(
        row
        for row in tell(Choice(card, model, batch, "float32")).cards
        if row[0] == read_cards()[card].name
    )
    return f"{row[1]} ({row[2]})" if row[5] == "yes" else "does not fit"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
