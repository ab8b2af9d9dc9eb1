"""The same element-wise operation on ten numbers and on ten million, on the CPU and on a GPU.

``x * 2 + 1`` in float32. On the GPU twice: with the numbers there already, and with the trip there
and back within the time. Without the trip the operations are queued one after the other.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from results.cases import ON, Family, names_of
from results.entry import Entry

SIZES = {"small": 10, "large": 10_000_000}
QUICK_SIZES = {"small": 10, "large": 100_000}
SEED = 0
FAMILIES = tuple(
    Family(
        f"{size}.{arm}",
        f"x * 2 + 1 on {numbers} float32 numbers, {where}",
        device=arm.partition("_")[0],
    )
    for size, numbers in (("small", "10"), ("large", "10 million"))
    for arm, where in (*ON.items(), ("cuda_with_transfer", "sent to the GPU and fetched again"))
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each size; the devices take turns."""
    for size, elements in (QUICK_SIZES if plan.quick else SIZES).items():
        yield Part(size, partial(_compare, plan, size, elements), expected_s=2)


def _compare(plan: Plan, size: str, elements: int) -> dict[str, Entry]:
    x = torch.randn(elements, generator=torch.Generator().manual_seed(SEED))
    arms = {f"{size}.cpu": _arm(partial(operation, x), plan.cpu, elements)}
    if plan.gpu:
        there = partial(operation, x.to(plan.gpu))
        arms[f"{size}.cuda"] = _arm(there, plan.gpu, elements)
        with_transfer = partial(operation_with_transfer, x, plan.gpu)
        arms[f"{size}.cuda_with_transfer"] = _arm(with_transfer, plan.gpu, elements)
    return measure(arms, plan.repetitions, warmups=3)


def operation(x: torch.Tensor) -> torch.Tensor:
    """Two operations on every element; each is a kernel of its own on a GPU."""
    return x * 2 + 1


def operation_with_transfer(x: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Send ``x`` to the device, work on it there, and fetch the result."""
    return operation(x.to(device)).cpu()


def _arm(work: Callable[[], object], device: torch.device, elements: int) -> Arm:
    settings = {"operation": "x * 2 + 1", "elements": elements, "dtype": "float32"}
    return Arm(work, device, settings, SEED)
