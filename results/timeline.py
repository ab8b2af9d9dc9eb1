"""The timeline's loops: from what a reader chooses to the seconds of each part, with their band.

``results/timeline_steps.json`` has the operations of the lesson's training steps, written by
``python -m benchmarks.timeline_steps``; ``lesson_code/forecast`` the cards and the constants;
``lesson_code/timeline`` runs the loop.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lesson_code.forecast.cards import Card, read_cards
from lesson_code.forecast.formula import ARITHMETIC_SHARE, BAND, BANDWIDTH_SHARE, HOST
from lesson_code.timeline.simulation import TENSORS, Kernel, Loop, Run, simulate

FILE = Path("results/timeline_steps.json")


class TimelineError(ValueError):
    """Counted operations or measured loops that can't be used; the message says what to do."""


@dataclass(frozen=True)
class Operation:
    """An operation of a training step, at any batch.

    Attributes:
        phase: The part of the step: ``forward``, ``backward`` or ``update``.
        name: As PyTorch calls it.
        flop: Floating-point operations, whatever the batch.
        sample_flop: And for each sample.
        bytes: Bytes read and written, whatever the batch.
        sample_bytes: And for each sample.
    """

    phase: str
    name: str
    flop: int
    sample_flop: int
    bytes: int
    sample_bytes: int


@dataclass(frozen=True)
class Model:
    """A model's training step.

    Attributes:
        sample_bytes: Of a sample and its label, which travel to the GPU.
        operations: Forward and backward.
        update: The optimizer's, as PyTorch does it by default.
        fused: The optimizer's with ``fused=True``.
    """

    sample_bytes: int
    operations: tuple[Operation, ...]
    update: tuple[Operation, ...]
    fused: tuple[Operation, ...]


def write_models(models: Mapping[str, Model], torch: str, path: Path) -> None:
    """Write the operations, one a line.

    Raises:
        OSError: If the file can't be written.
    """
    parts = []
    for name, model in models.items():
        lists = (model.operations, model.update, model.fused)
        written = ",\n".join(
            "[\n" + ",\n".join(json.dumps(astuple(one)) for one in some) + "\n]" for some in lists
        )
        parts.append(f"{json.dumps(name)}: [{model.sample_bytes},\n{written}]")
    models_text = ",\n".join(parts)
    text = f'{{"version": 1, "torch": {json.dumps(torch)}, "models": {{\n{models_text}\n}}}}\n'
    draft = path.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


@lru_cache(maxsize=2)
def read_models(path: Path = FILE) -> dict[str, Model]:
    """The models by their name.

    Raises:
        TimelineError: If the file can't be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: Model(size, *(tuple(Operation(*one) for one in some) for some in lists))
            for name, (size, *lists) in content["models"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise TimelineError(
            f"can't read {path}: {problem}; `python -m benchmarks.timeline_steps` writes it"
        ) from None


class Ends(NamedTuple):
    """A quantity that nobody measured on the reader's machine: its best, likely and worst value."""

    best: float
    likely: float
    worst: float


def between(best: float, worst: float) -> Ends:
    """As far from the one as from the other, as a factor."""
    return Ends(best, math.sqrt(best * worst), worst)


# Seconds and bytes a second; notes_of() in lesson_site/timeline says where each comes from.
LAUNCH = Ends(*HOST)
COPY = between(10e-6, 30e-6)  # the fixed part of a copy; a V100 takes the longest
COPY_RATE = between(26.03e9, 12.35e9)  # PCIe 4 and PCIe 3
STAGING_RATE = between(12e9, 4e9)  # within the computer's memory, assumed
KERNEL = between(0.99e-6, 1.46e-6)  # a kernel that has nothing to do, in a graph
# What a reader may choose
BATCHES = (16, 32, 64, 256, 1024, 4096)
WORKERS = (0, 1, 2, 4)
IMAGES = {"lesson": 1.0, "slow": 10.0, "device": 0.0}  # times what the lesson's take to prepare


def trip_of(size: int) -> Ends:
    """Seconds in which a batch of ``size`` bytes goes to the GPU from ordinary memory.

    Python waits for it: for a copy within the computer's memory, and for that of each tensor.
    """
    parts = zip(COPY, COPY_RATE, STAGING_RATE, strict=True)
    return Ends(*(TENSORS * copy + size / rate + size / staging for copy, rate, staging in parts))


@dataclass(frozen=True)
class Choice:
    """What a reader has chosen.

    Attributes:
        model: A key of ``read_models()``.
        batch: Samples of a step.
        images: One of ``IMAGES``.
        workers: Processes that prepare batches.
        pinned: Pinned memory, and copies that are not waited for.
        reads_loss: Whether each step reads its loss.
        fused: Whether one kernel updates all weights.
        graph: Whether the step is recorded, and asked for as one.
        card: A card's id.
    """

    model: str = "mnist"
    batch: int = 64
    images: str = "lesson"
    workers: int = 0
    pinned: bool = False
    reads_loss: bool = True
    fused: bool = False
    graph: bool = False
    card: str = "t4"


class Corner(NamedTuple):
    """Which end of the bands of host and GPU is taken: -1 the best, 0 the likely, 1 the worst."""

    host: int
    gpu: int


LIKELY = Corner(0, 0)
FASTEST, SLOWEST = Corner(-1, -1), Corner(1, 1)
BUSIEST, IDLEST = Corner(-1, 1), Corner(1, -1)  # of the GPU
CORNERS = (LIKELY, FASTEST, SLOWEST, BUSIEST, IDLEST)


@dataclass(frozen=True)
class Own:
    """What was measured on our CPU.

    Attributes:
        load: Seconds in which the lesson's loader prepares an image.
        hand: Seconds in which Python takes over a batch from a worker.
        is_measured: Whether a run of ours has measured the loader; else its time is assumed.
    """

    load: float
    hand: float
    is_measured: bool


def loop_of(choice: Choice, corner: Corner, own: Own, card: Card, model: Model) -> Loop:
    """The loop that a reader has chosen, at a corner of its band."""
    band = (card.band or BAND) ** corner.gpu

    def host(ends: Ends) -> float:
        return ends[1 + corner.host]

    def seconds(one: Operation) -> float:
        flop = one.flop + one.sample_flop * choice.batch
        moved = one.bytes + one.sample_bytes * choice.batch
        arithmetic = flop / (ARITHMETIC_SHARE * card.peak["float32"])
        traffic = moved / (BANDWIDTH_SHARE * card.bandwidth)
        return max((arithmetic + traffic) * band, KERNEL[1 + corner.gpu])

    on_device = not IMAGES[choice.images]
    size = model.sample_bytes * choice.batch
    update = model.fused if choice.fused else model.update
    return Loop(
        kernels=tuple(Kernel(one.phase, seconds(one)) for one in (*model.operations, *update)),
        launch=host(LAUNCH),
        load=IMAGES[choice.images] * own.load * choice.batch,
        workers=0 if on_device else choice.workers,
        hand=own.hand,
        copy=TENSORS * host(COPY) + size / host(COPY_RATE),
        staging=size / host(STAGING_RATE),
        answer=host(COPY),
        pinned=choice.pinned,
        reads_loss=choice.reads_loss,
        graph=choice.graph,
    )


_simulated = lru_cache(maxsize=256)(simulate)  # a page and the whole lesson show the same loops


def runs_of(choice: Choice, own: Own) -> dict[Corner, Run]:
    """The loop at every corner of its band."""
    card, model = read_cards()[choice.card], read_models()[choice.model]
    return {corner: _simulated(loop_of(choice, corner, own, card, model)) for corner in CORNERS}
