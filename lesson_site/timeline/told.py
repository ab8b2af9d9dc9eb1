"""What is said of one choice; ``timeline/told.js`` says the same of every choice.

Forecasts have one digit, or two where the first is a 1, and always their band.
"""

from dataclasses import dataclass, replace

from lesson_code.forecast.cards import read_cards
from lesson_code.timeline.simulation import Block, Run
from lesson_site.timeline.words import BLOCKS, MOVES, ORIGINS, WORDS
from results.quantities import coarse, outward, rounded, write, write_band
from results.timeline import (
    BUSIEST,
    COPY,
    COPY_RATE,
    FASTEST,
    IDLEST,
    KERNEL,
    LAUNCH,
    LIKELY,
    SLOWEST,
    STAGING_RATE,
    Choice,
    Corner,
    read_models,
    runs_of,
)
from results.timeline_measured import own

HONEST = 1.5  # so many times what the clock reads a step may take, and the clock is called right
SAME = 1.05  # so many times the lowest rate, and there is no band worth a word
Runs = dict[Corner, Run]


@dataclass(frozen=True)
class Move:
    """What may be tried next.

    Attributes:
        question: The button's text.
        choice: What a press makes of the choice.
        done: What is then said to be done; empty if the press goes back to the start.
    """

    question: str
    choice: Choice
    done: str


def sentences(choice: Choice, runs: Runs) -> list[str]:
    """Who waits for whom, how much the GPU works, how fast it goes, and what a clock reads."""
    waits = {corner: _waits(choice, runs[corner]) for corner in (IDLEST, BUSIEST)}
    first = waits[IDLEST]
    if first != waits[BUSIEST]:
        first = WORDS["either"].format(slow=first, fast=waits[BUSIEST])
    likely = runs[LIKELY]
    honest = likely.step < HONEST * likely.clock
    return [
        f"{first[0].upper()}{first[1:]}.",
        WORDS["busy"].format(share=share(runs[IDLEST].busy, runs[BUSIEST].busy)),
        WORDS["speed"].format(likely=_rate(likely), band=_band(runs)),
        WORDS["true" if honest else "lying"].format(
            clock=about(likely.clock), step=about(likely.step)
        ),
    ]


def _waits(choice: Choice, run: Run) -> str:
    """Who waits for whom in a run."""
    ahead = choice.images == "device" or choice.pinned
    name = {
        "workers": "workers 1" if choice.workers == 1 else "workers",
        "launch": "launch graph" if choice.graph else "launch",
        "gpu": "gpu ahead" if ahead and not choice.reads_loss else "gpu",
    }.get(run.cause, run.cause)
    return WORDS[name].format(kernels=_kernels(choice), size=size(choice))


def _kernels(choice: Choice) -> int:
    model = read_models()[choice.model]
    return len(model.operations) + len(model.fused if choice.fused else model.update)


def size(choice: Choice) -> str:
    """The bytes of a batch."""
    found = float(read_models()[choice.model].sample_bytes * choice.batch)
    return write(found, "megabytes", coarse(found))


def share(low: float, high: float) -> str:
    """Two parts of a time, in percent."""
    ends = [min(100.0, max(0.1, 100 * part)) for part in (low, high)]
    texts = [write(end, "percent", coarse(end)) for end in ends]
    return texts[0] if texts[0] == texts[1] else write_band(ends[0], ends[1], "percent")


def about(seconds: float) -> str:
    """A time, as a forecast is written."""
    return write(seconds, "s", coarse(seconds))


def _rate(run: Run) -> str:
    return rounded(1 / run.period, coarse(1 / run.period))


def _band(runs: Runs) -> str:
    """The lowest and the highest rate, rounded away from each other; nothing between equal ones."""
    low, high = (1 / runs[corner].period for corner in (SLOWEST, FASTEST))
    if high / low < SAME:
        return WORDS["no band"]
    ends = outward(low, up=False), outward(high, up=True)
    texts = [rounded(end, coarse(end)) for end in ends]
    return WORDS["band"].format(low=texts[0], high=texts[1])


def next_move(choice: Choice) -> Move:
    """The first rung that is not climbed yet; from the top, back to the start."""
    for name, value, question, done in MOVES:
        if choice.images == "device" and name in ("workers", "pinned"):
            continue
        if getattr(choice, name) != value:
            asked = WORDS["what if"].format(question=question)
            return Move(asked, replace(choice, **{name: value}), done)  # type: ignore[arg-type]
    start = Choice(model=choice.model, batch=choice.batch, card=choice.card)
    return Move(WORDS["top"], start, "")


def moved(move: Move, before: Runs) -> str:
    """What a press has changed; nothing is said of going back."""
    if not move.done:
        return ""
    after = runs_of(move.choice, own())
    return WORDS["moved"].format(
        done=move.done, after=_rate(after[LIKELY]), before=_rate(before[LIKELY])
    )


def told_of(block: Block, choice: Choice) -> str:
    """What a block is, how long it is, and where its length comes from."""
    key = f"{block.lane} {block.kind}"
    what, origin = BLOCKS[f"{key} pinned" if key == "python copy" and choice.pinned else key]
    if origin == "load" and choice.images == "slow":
        origin = "load slow"
    parts = WORDS["kernels"].format(parts=len(block.pieces))
    return WORDS["block"].format(
        step=block.step + 1,
        what=what.format(parts=parts, size=size(choice)),
        seconds=about(block.seconds),
        start=_moment(block.start),
        end=_moment(block.end),
        origin=origins()[origin],
    )


def _moment(seconds: float) -> str:
    """A moment of the run, with three digits, so that blocks follow each other."""
    return write(seconds, "s") if seconds else "0"


def title(choice: Choice, steps: int) -> str:
    """What the picture shows."""
    return WORDS["title"].format(steps=steps, card=read_cards()[choice.card].name)


ASSUMED = {
    "launch": write_band(LAUNCH.best, LAUNCH.worst, "s"),
    "copy": write_band(COPY.best, COPY.worst, "s"),
    "rate": write_band(COPY_RATE.worst, COPY_RATE.best, "bytes_per_s"),
    "staging": write_band(STAGING_RATE.worst, STAGING_RATE.best, "bytes_per_s"),
    "kernel": write_band(KERNEL.best, KERNEL.worst, "s"),
}


def origins() -> dict[str, str]:
    """Where the length of each block comes from, in words."""
    load = "load" if own().is_measured else "load assumed"
    named = {**ORIGINS, "load": ORIGINS[load]}
    return {name: text.format(**ASSUMED) for name, text in named.items()}
