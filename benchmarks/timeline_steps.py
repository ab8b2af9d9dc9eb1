"""The operations of a training step, one by one, from which the timeline draws its kernels.

``python -m benchmarks.timeline_steps`` writes ``results/timeline_steps.json``. What an operation
computes and moves grows with the batch along a line, so that two batches tell it for all.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from benchmarks.cases.mixed_precision import large_network
from lesson_code.forecast.counter import StepCounter, count_step
from lesson_code.models import MNISTClassifier, SmallResNet, TinyClassifier
from results.timeline import FILE, Model, Operation, write_models

FEW, MANY = 64, 1024  # samples
LABEL_BYTES = 8
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "tiny": (TinyClassifier, (26,)),
    "mnist": (MNISTClassifier, (1, 28, 28)),
    "resnet": (SmallResNet, (1, 28, 28)),
    "large": (large_network, (784,)),
}
LOSS = "nll_loss_forward"  # the last operation of the way forward
UPDATES = ("_foreach", "_fused")


@dataclass(frozen=True)
class Counted:
    """One operation at one batch."""

    name: str
    flop: int
    bytes: int


@dataclass
class Lister(StepCounter):
    """A counter that keeps each operation; one of several launches in as many equal parts."""

    listed: list[Counted] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def count(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Count it, and note by how much the sums have grown."""
        flop, moved, launches = self.flop["float32"], self.bytes, self.launches
        super().count(func, args, kwargs, result)
        flop, moved = self.flop["float32"] - flop, self.bytes - moved
        name = func._schema.name.removeprefix("aten::")
        for left in range(self.launches - launches, 0, -1):
            self.listed.append(Counted(name, flop // left, moved // left))
            flop, moved = flop - flop // left, moved - moved // left


def operations(model: str, batch: int, fused: bool) -> list[Counted]:
    """The operations of a step in their order."""
    build, shape = MODELS[model]
    with torch.device("meta"):
        network = build()
        inputs = torch.zeros((batch, *shape))
        targets = torch.zeros((batch,), dtype=torch.int64)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=fused)
    counter = Lister()
    count_step(network, optimizer, nn.CrossEntropyLoss(), (inputs, targets), counter=counter)
    return counter.listed


def along_the_batch(model: str, fused: bool) -> list[Operation]:
    """Each operation with what it needs at any batch."""
    few, many = (operations(model, batch, fused) for batch in (FEW, MANY))
    names = [one.name for one in few]
    last = names.index(LOSS)
    found = []
    for number, (less, more) in enumerate(zip(few, many, strict=True)):
        phase = "forward" if number <= last else "backward"
        phase = "update" if less.name.startswith(UPDATES) else phase
        flop = (more.flop - less.flop) // (MANY - FEW)
        moved = (more.bytes - less.bytes) // (MANY - FEW)
        fixed = less.flop - FEW * flop, less.bytes - FEW * moved
        found.append(Operation(phase, less.name, fixed[0], flop, fixed[1], moved))
    return found


def model(name: str) -> Model:
    """A model's step with either optimizer, and the bytes of a sample."""
    _, shape = MODELS[name]
    values = torch.Size(shape).numel()
    plain, fused = (along_the_batch(name, fused) for fused in (False, True))
    return Model(
        sample_bytes=4 * values + LABEL_BYTES,
        operations=tuple(one for one in plain if one.phase != "update"),
        update=tuple(one for one in plain if one.phase == "update"),
        fused=tuple(one for one in fused if one.phase == "update"),
    )


def main() -> int:
    """Count all models and write the file."""
    write_models({name: model(name) for name in MODELS}, torch.__version__.split("+")[0], FILE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
