"""The first minute: a guess which device finishes a training first, and two lanes that show it."""

import json
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from markdown import Markdown

from lesson_code.forecast.cards import read_cards
from lesson_site.fences import Options, fence
from lesson_site.page import current_page
from results.reader_card import FIRST
from results.store import Figure, Store, open_store

Winner = Literal["CPU", "GPU", "close"]


@dataclass(frozen=True)
class Training:
    """A training that both devices run.

    Attributes:
        name: What is trained, in words.
        cpu: The figure of the CPU's time.
        gpu: The figure of the GPU's time; ``{card}`` stands for the reader's card.
        why: What decides it, in a sentence, for each outcome that it can have.
    """

    name: str
    cpu: str
    gpu: str
    why: dict[Winner, str]

    def of_a_card(self) -> bool:
        """Whether the GPU's time is a forecast for a card."""
        return "{card}" in self.gpu


CLOSE = (
    "How long the GPU takes depends on the computer around it, and both of its ends are possible."
)
TRAININGS = (
    Training(
        "ten epochs of MNIST with 100 hidden units",
        "published.width.narrow.cpu",
        "published.width.narrow.gpu",
        {
            "CPU": "Each step computes so little that handing the work to the GPU takes longer.",
            "GPU": "Even this narrow layer was enough work for that GPU.",
            "close": CLOSE,
        },
    ),
    Training(
        "the steps of an epoch of this lesson’s model",
        "small_resnet.classifier_epoch.cpu",
        "forecast.mnist_64.float32.{card}.epoch",
        {
            "CPU": "Starting its operations takes longer than this CPU’s arithmetic.",
            "GPU": "Starting its operations takes less time than this CPU’s arithmetic.",
            "close": "The GPU spends nearly all of it on starting operations, and how long that "
            "takes depends on the computer around it.",
        },
    ),
    Training(
        "a step of two hidden layers of width 4096, on 1,024 images",
        "step_sweep.width_4096.batch_1024.cpu",
        "forecast.sweep_4096_1024.float32.{card}.time",
        {
            "CPU": "This CPU’s arithmetic is faster than what the card is forecast to need.",
            "GPU": "Now the step is nearly all arithmetic, and thousands of cores share it.",
            "close": CLOSE,
        },
    ),
)


def winner(cpu: float, low: float, high: float) -> Winner:
    """Who finishes first; ``close`` where the GPU's earliest and latest time enclose the CPU's."""
    if high < cpu:
        return "GPU"
    return "CPU" if low > cpu else "close"


@fence()
def who_first(source: str, options: Options, md: Markdown) -> str:
    """Three trainings to guess, each with the outcome in a table that is closed at first."""
    store = open_store()
    known = [each for each in TRAININGS if store.figure(each.cpu).known]
    data = {
        "cards": {card.id: card.name for card in read_cards().values()},
        "trainings": [_data(each, store) for each in known],
    }
    link = f"{current_page(md).root}benchmarks/race/"
    rows = "".join(_row(each, store) for each in known)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (
        f'<div class="who-first"><who-first data-trainings="{escape(text)}" data-race="{link}">'
        "<details><summary>The results, without a guess</summary><table><thead><tr>"
        f"<th>training</th><th>CPU</th><th>GPU</th><th>first</th></tr></thead><tbody>{rows}"
        "</tbody></table></details></who-first></div>"
    )


def _data(training: Training, store: Store) -> dict[str, Any]:
    cpu = store.figure(training.cpu)
    gpus = {
        card.id: _window(store.figure(training.gpu.format(card=card.id)))
        for card in (read_cards().values() if training.of_a_card() else ())
    }
    if not gpus:
        gpus = {"": _window(store.figure(training.gpu))}
    possible = {winner(cpu.value or 0, low, high) for low, high, _ in gpus.values()}
    return {
        "name": training.name,
        "cpu": [cpu.value, _told(cpu)],
        "gpu": gpus,
        "why": {each: training.why[each] for each in sorted(possible)},
    }


def _window(figure: Figure) -> list[Any]:
    """Earliest and latest second, and the figure in words."""
    low, high = figure.low or figure.value or 0, figure.high or figure.value or 0
    return [_digits(low), _digits(high), _told(figure)]


def _digits(value: float) -> float:
    return float(f"{value:.3g}")


def _row(training: Training, store: Store) -> str:
    cpu = store.figure(training.cpu)
    gpu = store.figure(training.gpu.format(card=FIRST))
    on = f" on a {read_cards()[FIRST].name}" if training.of_a_card() else ""
    low, high, _ = _window(gpu)
    who = winner(cpu.value or 0, low, high)
    told = "too close to call" if who == "close" else who
    return (
        f"<tr><td>{escape(training.name)}</td>{_cell(cpu)}{_cell(gpu, on)}"
        f"<td>{told}. {escape(training.why[who])}</td></tr>"
    )


def _cell(figure: Figure, on: str = "") -> str:
    name = f' data-figure="{escape(figure.name)}" data-kind="{figure.kind}"'
    mark = _told(figure).removeprefix(figure.text)
    return f"<td><span{name}>{escape(figure.text)}</span>{escape(on + mark)}</td>"


def _told(figure: Figure) -> str:
    """The figure with its kind, and of a forecast the band."""
    band = f", {figure.band}" if figure.band else ""
    return f"{figure.text} ({figure.kind}{band})"
