"""What the browser needs to run loops: operations, rates of cards, ends of bands, and words."""

from typing import Any

from lesson_code.forecast import formula
from lesson_code.forecast.cards import read_cards
from lesson_code.timeline import simulation
from lesson_site.timeline import drawing, told, words
from results import timeline
from results.timeline import Model, Operation, read_models
from results.timeline_measured import own


def payload() -> dict[str, Any]:
    """Everything, as the modules in ``docs/assets/elements/timeline`` read it."""
    ends = [
        *(timeline.LAUNCH, timeline.COPY, timeline.COPY_RATE),
        *(timeline.STAGING_RATE, timeline.KERNEL),
    ]
    measured = own()
    return {
        "shares": [formula.ARITHMETIC_SHARE, formula.BANDWIDTH_SHARE, formula.BAND],
        "ends": [list(each) for each in ends],
        "own": [measured.load, measured.hand],
        "phases": simulation.PHASES,
        "models": {name: _model(model) for name, model in read_models().items()},
        "cards": {
            card.id: [card.name, card.peak["float32"], card.bandwidth, card.band]
            for card in read_cards().values()
        },
        "images": timeline.IMAGES,
        "words": words.WORDS,
        "lanes": words.LANES,
        "short": words.SHORT,
        "blocks": words.BLOCKS,
        "origins": told.origins(),
        "moves": words.MOVES,
        "steps": drawing.STEPS,
    }


def _model(model: Model) -> list[Any]:
    lists = (model.operations, model.update, model.fused)
    return [model.sample_bytes, *([_operation(one) for one in some] for some in lists)]


def _operation(one: Operation) -> list[int]:
    phase = simulation.PHASES.index(one.phase)
    return [phase, one.flop, one.sample_flop, one.bytes, one.sample_bytes]
