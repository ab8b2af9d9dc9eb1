"""The fence of the timeline: one choice drawn and told; the element ``training-timeline`` goes on.

Without JavaScript the picture and its sentences are alone, and the controls are not shown.
"""

from collections.abc import Mapping
from html import escape

from markdown import Markdown

from lesson_site.apart import apart
from lesson_site.card_options import card_options
from lesson_site.charts.drawing import to_svg
from lesson_site.errors import PageError
from lesson_site.fences import Options, fence
from lesson_site.timeline.data import payload
from lesson_site.timeline.drawing import draw, steps_shown
from lesson_site.timeline.measured import measured_table
from lesson_site.timeline.told import next_move, sentences, title
from lesson_site.timeline.words import IMAGES, LABELS, MODELS
from results.timeline import BATCHES, LIKELY, WORKERS, Choice, read_models, runs_of
from results.timeline_measured import own

STARTS = {
    "textbook": Choice(),
    "large": Choice(model="large", batch=1024, images="device", reads_loss=False),
    "fed": Choice(images="device", reads_loss=False),
    "tiny": Choice(model="tiny", batch=32, images="device", reads_loss=False),
}
SWITCHES = ("pinned", "reads_loss", "fused", "graph")


@fence(show=True)
def timeline(source: str, options: Options, md: Markdown) -> str:
    """A loop in time that begins as one of ``STARTS``, or the table of those ``measured``."""
    if options["show"] == "measured":
        return measured_table()
    if options["show"] not in STARTS:
        known = ", ".join((*STARTS, "measured"))
        raise PageError(f"show is {options['show']!r}; it must be one of {known}")
    choice = STARTS[options["show"]]
    runs = runs_of(choice, own())
    nodes, height = draw(runs[LIKELY], choice)
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences(choice, runs))
    name = escape(title(choice, steps_shown(choice)))
    # Around it all is an element that Markdown knows as a block.
    return (
        f'<div class="timeline"><training-timeline data-search-exclude{apart(payload())}>'
        f'<figure data-kind="forecast"><figcaption>{name}</figcaption>'
        f'<svg class="timeline-drawing" width="100%" height="{height}" role="img" '
        f'aria-label="{name}; the sentences below say what it shows">{to_svg(nodes)}</svg></figure>'
        f'<p class="timeline-try"><button type="button" class="md-button md-button--primary" '
        f'data-do="move">{escape(next_move(choice).question)}</button></p>'
        '<div role="status"><p class="timeline-moved"></p>'
        f'<div class="timeline-says" data-kind="forecast">{said}</div></div>'
        f'<div class="timeline-try">{_button("back", "Previous block")}'
        f"{_button('next', 'Next block')}{_button('play', 'Play')}</div>"
        '<p class="timeline-block timeline-try" role="status">Press a block of the picture, or go '
        "from one to the next, and read here what happens in it.</p>"
        f'<details class="timeline-try"><summary>Choose everything yourself</summary>'
        f"{_controls(choice)}</details></training-timeline></div>"
    )


def _button(action: str, text: str) -> str:
    return f'<button type="button" class="md-button" data-do="{action}">{text}</button>'


def _controls(choice: Choice) -> str:
    models = {name: MODELS[name] for name in read_models()}
    batches = {str(batch): f"{batch:,}" for batch in BATCHES}
    workers = {str(count): str(count) for count in WORKERS}
    lists = {
        "model": (models, choice.model),
        "batch": (batches, str(choice.batch)),
        "images": (IMAGES, choice.images),
        "workers": (workers, str(choice.workers)),
    }
    switches = "".join(
        f'<label><input type="checkbox" name="{name}" autocomplete="off"'
        f"{' checked' if getattr(choice, name) else ''}> {LABELS[name]}</label>"
        for name in SWITCHES
    )
    listed = "".join(_list(name, *entry) for name, entry in lists.items())
    listed += _select("card", card_options(choice.card))
    return f"<fieldset><legend>The loop</legend>{listed}{switches}</fieldset>"


def _list(name: str, options: Mapping[str, str], chosen: str) -> str:
    listed = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in options.items()
    )
    return _select(name, listed)


def _select(name: str, options: str) -> str:
    return (
        f'<label>{LABELS[name]} <select name="{name}" autocomplete="off">{options}</select></label>'
    )
