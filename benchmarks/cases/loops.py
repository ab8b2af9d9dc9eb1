"""One matrix product, 100 × 100, as Python loops and as a library call, on one thread of the CPU.

What a GPU is praised for is often this quotient, and no GPU takes part in it. A second thread
would do nothing for the loops, and a product this small loses more than it gains by one.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from lesson_code.devices import one_thread
from lesson_code.lab.products import of_indexed_tensors, of_lists, of_tensors
from results.cases import Family, names_of
from results.entry import Entry

SIZE = 100
QUICK_SIZE = 8
REPETITIONS = {"quick": 15, "slow": 3}  # the loop over tensors takes seconds
WARMUPS = {"quick": 3, "slow": 1}
PARTS = {"quick": ("cpu_library", "cpu_lists"), "slow": ("cpu_indexed_tensors",)}
FAMILIES = tuple(
    Family(name, f"product of two {SIZE} × {SIZE} matrices by {how}, on the CPU")
    for name, how in (
        ("cpu_library", "one library call"),
        ("cpu_lists", "three loops over Python lists"),
        ("cpu_indexed_tensors", "three loops over tensor elements"),
    )
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """The two that are quick take turns; the slow one is apart."""
    yield Part("quick", partial(_measure, plan, "quick"), expected_s=4, cpu_only=True)
    yield Part("slow", partial(_measure, plan, "slow"), expected_s=60, cpu_only=True)


def _measure(plan: Plan, part: str) -> dict[str, Entry]:
    n = QUICK_SIZE if plan.quick else SIZE
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.rand(n, n, generator=generator) for _ in range(2))
    lists = a.tolist(), b.tolist()
    ways: dict[str, Callable[[], object]] = {
        "cpu_library": partial(of_tensors, a, b),
        "cpu_lists": partial(of_lists, *lists),
        "cpu_indexed_tensors": partial(of_indexed_tensors, a, b),
    }
    settings = {"n": n, "dtype": "float32", "threads": 1}
    arms = {
        name: Arm(ways[name], plan.cpu, settings, amount=2.0 * n**3, around=one_thread)
        for name in PARTS[part]
    }
    repetitions = min(plan.repetitions, 3) if plan.quick else REPETITIONS[part]
    return measure(arms, repetitions, WARMUPS[part])
