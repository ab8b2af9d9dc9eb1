"""What starting one operation costs: 1,000 tiny ones, queued, and each waited for.

One addition to ten float32 numbers does next to no arithmetic, so its time is what Python, PyTorch
and the launch take. The entries are seconds for one operation.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from lesson_code.devices import synchronize
from results.cases import Family, names_of
from results.entry import Entry

OPERATIONS = 1000
ELEMENTS = 10
FAMILIES = (
    Family("cpu", "adding 1 to ten numbers on the CPU, one of 1,000 in a row"),
    Family(
        "cuda_queued",
        "adding 1 to ten numbers on the GPU, one of 1,000 queued in a row",
        device="cuda",
    ),
    Family(
        "cuda_waited_for",
        "adding 1 to ten numbers on the GPU and waiting for it, one of 1,000 in a row",
        device="cuda",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """All ways, taking turns."""
    yield Part("operations", partial(_compare, plan), expected_s=1)


def _compare(plan: Plan) -> dict[str, Entry]:
    arms = {"cpu": _arm(queued, plan.cpu, "runs at once")}
    if plan.gpu:
        arms["cuda_queued"] = _arm(queued, plan.gpu, "after all operations")
        arms["cuda_waited_for"] = _arm(waited_for, plan.gpu, "after each operation")
    timed = measure(arms, plan.repetitions, warmups=3)
    return {name: _of_one_operation(together) for name, together in timed.items()}


def queued(x: torch.Tensor) -> None:
    """Start all operations and go on."""
    for _ in range(OPERATIONS):
        x.add_(1)


def waited_for(x: torch.Tensor) -> None:
    """Wait for each operation before the next one is started."""
    for _ in range(OPERATIONS):
        x.add_(1)
        synchronize(x.device)


def _arm(work: Callable[[torch.Tensor], None], device: torch.device, waits: str) -> Arm:
    settings = {
        "operation": "x.add_(1)",
        "elements": ELEMENTS,
        "operations": OPERATIONS,
        "waits": waits,
    }
    return Arm(partial(work, torch.zeros(ELEMENTS, device=device)), device, settings)


def _of_one_operation(together: Entry) -> Entry:
    """The entry of all operations, divided by their number."""
    return replace(
        together,
        samples=tuple(seconds / OPERATIONS for seconds in together.samples),
        warmups=tuple(seconds / OPERATIONS for seconds in together.warmups),
        device_samples=tuple(seconds / OPERATIONS for seconds in together.device_samples),
        loops=together.loops * OPERATIONS,
    )
