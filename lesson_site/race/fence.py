"""The fence that puts the race on a page: an element with what was recorded before it.

The element runs nothing before a press. It gets the size of what that press will load, so that the
button can say it, the curves of PyTorch that a machine of ours recorded, and what PyTorch would
reach on each card by forecast, to draw beside the reader's own.
"""

import json
from html import escape
from typing import Any

from markdown import Markdown

from lesson_code.forecast.cards import read_cards
from lesson_site import vendor
from lesson_site.apart import apart
from lesson_site.charts.base import Source, forecast_of, measured_together
from lesson_site.fences import Options, fence
from results.catalogue import Definition
from results.own_forecasts import card_of
from results.store import Result, Store, open_store

# Recorded racers, with the figures of their products.
PRODUCTS = {"cpu": "matmul.n_{n}.cpu_rate", "cuda": "matmul.n_{n}.cuda_float32_rate"}
DIGITS = 6  # of a recorded rate: more than a chart can show

FORECAST = "forecast.race_{width}_{batch}.float32.{card}.sent_rate"

Rates = dict[str, dict[str, float]]


@fence()
def race(source: str, options: Options, md: Markdown) -> str:
    """The race."""
    # Around it is an element that Markdown knows as a block.
    return f'<div class="race">{race_html(open_store())}</div>'


def race_html(store: Store) -> str:
    """The element with its data; in it, what a reader without JavaScript finds."""
    recorded = json.dumps({"curves": curves(store)}, ensure_ascii=False, separators=(",", ":"))
    attributes = {**download_sizes(), "recorded": recorded}
    written = "".join(f' data-{name}="{escape(value)}"' for name, value in attributes.items())
    return (
        f"<race-gpu{written}{apart(forecasts(store))}>"
        "<p>Here your CPU and your GPU would train the lesson’s model in this page, one batch size "
        "after the other. That needs JavaScript. What PyTorch reached on a machine of ours is "
        'drawn <a href="#recorded">below</a>, with its numbers as a table.</p>'
        "</race-gpu>"
    )


def download_sizes() -> dict[str, str]:
    """What a press loads in MB, by the library's build; nothing where it was not fetched."""
    sizes = {build: vendor.race_download_mb(build) for build in vendor.RACE_BUILDS}
    return {f"mb-{build}": f"{mb:.1f}" for build, mb in sizes.items() if mb is not None}


def curves(store: Store) -> list[dict[str, Any]]:
    """What PyTorch reached, as the race draws it: by racer, samples and operations a second.

    What comes from one result file shares a curve and its label; what has no value is left out.
    """
    known = store.only(in_browser=False)
    steps, products = measured_together(known, "race"), measured_together(known, "matmul")
    together = steps.where == products.where
    found = []
    for racer in PRODUCTS:
        raced, multiplied = _steps(steps, racer), _products(products, racer)
        if together:
            found.append(_curve(steps, racer, raced, multiplied))
        else:
            found += [_curve(steps, racer, raced, {}), _curve(products, racer, {}, multiplied)]
    return [curve for curve in found if curve["steps"] or curve["products"]]


def forecasts(store: Store) -> dict[str, Any]:
    """By card: its label, and the samples a second of PyTorch, by width and batch size.

    Each is a value, how it is written, both ends of its band, and how these are written.
    """
    sizes = sorted(
        {
            (int(d.member["width"]), int(d.member["batch"]))
            for d in store.definitions.values()
            if d.case == "race" and "batch" in d.member
        }
    )
    found: dict[str, Any] = {}
    for card in read_cards().values():
        steps: dict[str, Any] = {}
        for width, batch in sizes:
            told = forecast_of(store, FORECAST.format(width=width, batch=batch, card=card.id))
            if told is not None:
                row = (told.value, told.text, told.low, told.high, told.band)
                steps.setdefault(str(width), {})[str(batch)] = row
        found[card.id] = {"label": card.name, "steps": steps}
    return found


def _raced(source: Source) -> list[Definition]:
    """The rates of the race."""
    known = source.store.definitions.values()
    return [d for d in known if d.kind == "rate" and d.case == "race"]


def _steps(source: Source, racer: str) -> Rates:
    """Samples a second of a racer, by width and by batch size."""
    found: Rates = {}
    for definition in _raced(source):
        value = source.figure(definition.name).value
        if definition.devices == (racer,) and not definition.in_browser and value is not None:
            of_width = found.setdefault(str(definition.member["width"]), {})
            of_width[str(definition.member["batch"])] = _short(value)
    return found


def _products(source: Source, racer: str) -> dict[str, float]:
    """Operations a second of a racer, for the products that browsers race with."""
    sizes = dict.fromkeys(d.member["n"] for d in _raced(source) if "n" in d.member)
    names = {n: PRODUCTS[racer].format(n=n) for n in sizes}
    known = {n: name for n, name in names.items() if name in source.store.definitions}
    values = {n: source.figure(name).value for n, name in known.items()}
    return {str(n): _short(value) for n, value in values.items() if value is not None}


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _curve(source: Source, racer: str, steps: Rates, products: dict[str, float]) -> dict[str, Any]:
    """A curve, named: a recorded one must never pass for the reader's own.

    That of a GPU says which card it is, where the card is forecast too.
    """
    label = "".join(_label(result, racer) for result in source.store.results)
    ran = [result.provenance for result in source.store.results if racer == "cuda"]
    called = [card.name for card in map(card_of, ran) if card]
    named = {"racer": racer, "label": label, **({"card": called[0]} if called else {})}
    return {**named, "steps": steps, "products": products}


def _label(result: Result, racer: str) -> str:
    at = result.provenance
    device = at["gpu"] if racer == "cuda" else f"{at['processor']}, {result.threads}"
    return f"PyTorch on {device} (recorded {at['date']})"
