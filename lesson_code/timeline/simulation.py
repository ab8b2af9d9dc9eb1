"""A training loop in time: what Python, the loader's workers, the copies and the GPU do, and when.

Standard library only. All times are seconds.
"""

from collections.abc import Iterable
from dataclasses import dataclass

STEPS = 64  # the second half of them is steady, with any number of workers that divides it
AHEAD = 2  # batches that each worker may prepare before they are wanted: the DataLoader's default
DEPTH = 1024  # requests that can lie before the GPU; then Python waits with the next one
TENSORS = 2  # of a batch: images and labels, each with a copy of its own
PHASES = ("forward", "backward", "update")
WAITS = ("batch", "stream", "room", "loss")  # a worker's batch, the GPU before a copy or a request
BUSY = 0.8  # a GPU that works for so much of the time is the one that is waited for


@dataclass(frozen=True)
class Kernel:
    """One operation of a training step: the part of the step that it belongs to, and its time."""

    phase: str
    seconds: float


@dataclass(frozen=True)
class Loop:
    """A training loop, and how long each of its parts takes.

    Attributes:
        kernels: The operations of a step, in their order.
        launch: Python asks the GPU for one operation, or for one graph.
        load: Preparing a batch; 0 where all data are on the GPU already.
        workers: Processes that prepare batches beside Python; 0 if Python does it itself.
        hand: Python takes over a batch from a worker.
        copy: A batch travels to the GPU.
        staging: A batch is copied within the computer's memory: once to be pinned, or, from
            ordinary memory, on each way to the GPU.
        answer: A number travels back from the GPU.
        pinned: Batches are in pinned memory, and their copies are asked for and not waited for.
        reads_loss: Python reads the loss in each step.
        graph: The operations of a step are recorded, and asked for as one.
        on_cpu: There is no GPU: Python computes the operations itself.
    """

    kernels: tuple[Kernel, ...]
    launch: float = 0.0
    load: float = 0.0
    workers: int = 0
    hand: float = 0.0
    copy: float = 0.0
    staging: float = 0.0
    answer: float = 0.0
    pinned: bool = False
    reads_loss: bool = True
    graph: bool = False
    on_cpu: bool = False


@dataclass(frozen=True)
class Block:
    """Something that takes time.

    Attributes:
        lane: Who does it: ``loader``, ``python``, ``copies`` or ``gpu``.
        kind: What: one of ``PHASES``, ``load``, ``pin``, ``hand``, ``copy``, ``graph`` or
            ``answer``; or what Python waits for, one of ``WAITS``.
        step: Of which step, from 0.
        row: Which worker, from 0.
        pieces: When each request or kernel in it begins and ends; there may be gaps between them.
    """

    lane: str
    kind: str
    step: int
    row: int
    pieces: tuple[tuple[float, float], ...]

    @property
    def start(self) -> float:
        """When it begins."""
        return self.pieces[0][0]

    @property
    def end(self) -> float:
        """When it ends."""
        return self.pieces[-1][1]

    @property
    def seconds(self) -> float:
        """How long its pieces take."""
        return sum(end - start for start, end in self.pieces)


@dataclass(frozen=True)
class Run:
    """What came of a loop.

    Attributes:
        blocks: Everything that happened.
        period: Seconds of a step, once the loop is steady.
        busy: The part of the time in which the GPU computes.
        clock: What a clock around the training of a step reads that does not wait for the GPU.
        step: What it reads if it waits, before and after.
        cause: What the loop waits for: ``gpu``, ``load``, ``workers``, ``launch``, ``copy`` or
            ``answer``.
    """

    blocks: tuple[Block, ...]
    period: float
    busy: float
    clock: float
    step: float
    cause: str


class Timeline:
    """Goes through a loop with two clocks: how far Python is, and how far the GPU.

    The GPU has one stream: what is asked for later begins later, a copy like a kernel.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.pieces: dict[tuple[str, str, int, int], list[tuple[float, float]]] = {}
        self.host = 0.0  # so far Python has come
        self.stream = 0.0  # so far the GPU will come with what it was asked for
        self.done: list[float] = []  # when the GPU is through with each request
        self.free = [0.0] * loop.workers
        self.pinned = 0.0
        self.taken: list[float] = []

    def take_batch(self, step: int) -> None:
        """Python makes the next batch, or gets it from a worker."""
        if not self.loop.load:
            return
        if self.loop.workers:
            self.python("batch", step, self.made_by_worker(step))
            self.python("hand", step, self.host + self.loop.hand)
            self.taken.append(self.host)
            return
        self.python("load", step, self.host + self.loop.load)
        if self.loop.pinned:
            self.python("pin", step, self.host + self.loop.staging)

    def made_by_worker(self, step: int) -> float:
        """When the batch is there; its worker began when it was asked, and free."""
        row = step % self.loop.workers
        before = step - AHEAD * self.loop.workers  # when Python took that one, it asked for this
        start = max(self.free[row], self.taken[before] if before >= 0 else 0.0)
        end = self.free[row] = start + self.loop.load
        self.add("loader", "load", step, start, end, row)
        if self.loop.pinned:  # by a thread of its own, one batch after the other
            end = self.pinned = max(end, self.pinned) + self.loop.staging
        return end

    def copy_batch(self, step: int) -> None:
        """The batch travels, behind everything that the GPU was asked for before."""
        if not self.loop.load or self.loop.on_cpu:
            return
        if self.loop.pinned:
            for _ in range(TENSORS):
                self.ask("copy", step)
            start = max(self.host, self.stream)
        else:  # Python waits for the stream, and then for the copy
            self.python("stream", step, self.stream)
            start = self.host + self.loop.staging
            self.python("copy", step, start + self.loop.copy)
        self.stream = start + self.loop.copy
        self.add("copies", "copy", step, start, self.stream)
        self.done += [self.stream] * TENSORS

    def compute(self, step: int) -> None:
        """Python asks for one kernel after the other, and the GPU runs each when it is free."""
        if self.loop.graph and not self.loop.on_cpu:
            self.ask("graph", step)
        for kernel in self.loop.kernels:
            if self.loop.on_cpu:
                self.python(kernel.phase, step, self.host + kernel.seconds)
                continue
            if not self.loop.graph:
                self.ask(kernel.phase, step)
            start = max(self.host, self.stream)
            self.stream = start + kernel.seconds
            self.add("gpu", kernel.phase, step, start, self.stream)
            if not self.loop.graph:
                self.done.append(self.stream)
        if self.loop.graph:
            self.done.append(self.stream)

    def read_loss(self, step: int) -> None:
        """Python waits for the GPU, and for the number."""
        if self.loop.reads_loss and not self.loop.on_cpu:
            self.python("loss", step, self.stream)
            self.python("answer", step, self.host + self.loop.answer)

    def ask(self, kind: str, step: int) -> None:
        """Python asks the GPU for something; where too much lies there already, it waits first."""
        if len(self.done) >= DEPTH:
            self.python("room", step, self.done[-DEPTH])
        self.python(kind, step, self.host + self.loop.launch)

    def python(self, kind: str, step: int, until: float) -> None:
        """Python does something, or waits for something, until a moment."""
        if until > self.host:
            self.add("python", kind, step, self.host, until)
            self.host = until

    def add(self, lane: str, kind: str, step: int, start: float, end: float, row: int = 0) -> None:
        """Keep a piece of what somebody does in a step."""
        self.pieces.setdefault((lane, kind, step, row), []).append((start, end))

    def blocks(self) -> tuple[Block, ...]:
        """What was done, in the order in which it began within each lane."""
        return tuple(Block(*key, tuple(pieces)) for key, pieces in self.pieces.items())


def simulate(loop: Loop, steps: int = STEPS) -> Run:
    """Run ``loop`` for some steps, and look who waits for whom in the second half of them."""
    timeline = Timeline(loop)
    ends, clock, step = [], 0.0, 0.0
    for number in range(steps):
        timeline.take_batch(number)
        begun, free = timeline.host, timeline.stream
        timeline.copy_batch(number)
        timeline.compute(number)
        ends.append(max(timeline.host, timeline.stream) if loop.on_cpu else timeline.stream)
        if number == 1:
            clock, step = timeline.host - begun, ends[number] - max(begun, free)
        timeline.read_loss(number)
    half = steps // 2
    period = (ends[-1] - ends[half - 1]) / (steps - half)
    busy = sum(kernel.seconds for kernel in loop.kernels) / period
    blocks = timeline.blocks()
    late = [block for block in blocks if block.step >= half]
    cause = "gpu" if busy >= BUSY else cause_of(late, loop.on_cpu)
    return Run(blocks, period, busy, clock, step, cause)


def cause_of(blocks: Iterable[Block], on_cpu: bool) -> str:
    """What takes longest of all that a GPU waits for; a CPU waits for itself."""
    launching = "gpu" if on_cpu else "launch"
    causes = dict.fromkeys((*PHASES, "graph"), launching)
    causes |= {"pin": "load", "hand": "workers", "batch": "workers"}
    spent: dict[str, float] = {}
    for block in blocks:
        lane = "copies" if block.kind == "copy" else "python"
        if block.lane == lane and block.kind not in ("stream", "room", "loss"):
            cause = causes.get(block.kind, block.kind)
            spent[cause] = spent.get(cause, 0.0) + block.seconds
    return max(spent, key=lambda cause: spent[cause])
