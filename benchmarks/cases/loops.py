"""One matrix product, 100 × 100, as Python loops and as a library call, all on the CPU.

What a GPU is praised for is often this quotient, and no GPU takes part in it.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from benchmarks.summary import Entry
from lesson_code.lab.products import of_indexed_tensors, of_lists, of_tensors

SIZE = 100
QUICK_SIZE = 8
SLOW_REPETITIONS = 3  # the loop over tensors takes seconds
ENTRIES = ("cpu_library", "cpu_lists", "cpu_indexed_tensors")


def parts(plan: Plan) -> Iterator[Part]:
    """The three ways, taking turns."""
    yield Part("products", partial(_compare, plan), expected_s=40)


def _compare(plan: Plan) -> dict[str, Entry]:
    n = QUICK_SIZE if plan.quick else SIZE
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.rand(n, n, generator=generator) for _ in range(2))
    lists = a.tolist(), b.tolist()
    ways: dict[str, Callable[[], object]] = {
        "cpu_library": partial(of_tensors, a, b),
        "cpu_lists": partial(of_lists, *lists),
        "cpu_indexed_tensors": partial(of_indexed_tensors, a, b),
    }
    arms = {
        name: Arm(way, plan.cpu, {"n": n, "dtype": "float32"}, amount=2.0 * n**3)
        for name, way in ways.items()
    }
    return measure(arms, min(plan.repetitions, SLOW_REPETITIONS))
