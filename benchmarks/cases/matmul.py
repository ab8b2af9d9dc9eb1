"""Square matrix products of every size and number format, with the error of each.

On the CPU in float32; on a GPU in float32 with TF32 off and on, bfloat16 and float16. The error is
the distance to the product in float64, relative to its size.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from lesson_code.devices import float32_products
from results.cases import Family, names_of
from results.entry import Entry

SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
QUICK_SIZES = (64, 128)
LARGEST_ON_CPU = 2048
LARGEST_WITH_ERROR = 4096  # a float64 product of 8192 would take longer than all the others
SEED = 0


@dataclass(frozen=True)
class Format:
    """A number format, and whether float32 products may be done in TF32."""

    dtype: torch.dtype
    tf32: bool = False


FORMATS = {
    "float32": Format(torch.float32),
    "tf32": Format(torch.float32, tf32=True),
    "bfloat16": Format(torch.bfloat16),
    "float16": Format(torch.float16),
}
FAMILIES = (
    Family(
        "n_{n}.cpu",
        "a float32 product of two {n} × {n} matrices on the CPU",
        {"n": tuple(n for n in SIZES if n <= LARGEST_ON_CPU)},
        rate="flop_per_s",
    ),
    Family(
        "n_{n}.cuda_{format}",
        "a {format} product of two {n} × {n} matrices on the GPU",
        {"n": SIZES, "format": tuple(FORMATS)},
        device="cuda",
        rate="flop_per_s",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each size; its formats and devices take turns."""
    for n in QUICK_SIZES if plan.quick else SIZES:
        if n <= LARGEST_ON_CPU or plan.gpu:
            yield Part(f"n_{n}", partial(_compare, plan, n), _expected_s(n))


def _expected_s(n: int) -> float:
    """The seconds of a part: a CPU's up to its largest size, above that a GPU's."""
    return 1 + (8e-10 if n <= LARGEST_ON_CPU else 2e-11) * n**3


def _compare(plan: Plan, n: int) -> dict[str, Entry]:
    arms = {}
    if n <= LARGEST_ON_CPU:
        arms[f"n_{n}.cpu"] = product_arm(n, plan.cpu, Format(torch.float32))
    if plan.gpu:
        for name, format in FORMATS.items():
            arms[f"n_{n}.cuda_{name}"] = product_arm(n, plan.gpu, format)
    return measure(arms, plan.repetitions, warmups=3)


def product_arm(n: int, device: torch.device, format: Format) -> Arm:
    """A product of two n × n matrices in a format, with its FLOP and its error.

    Random matrices: products of zeros can be faster than real ones, and hide errors.
    """
    generator = torch.Generator().manual_seed(SEED)
    left, right = (torch.randn(n, n, generator=generator) for _ in range(2))
    a, b = (matrix.to(device, format.dtype) for matrix in (left, right))
    out = torch.empty_like(a)

    def product() -> None:
        torch.matmul(a, b, out=out)

    def switches() -> AbstractContextManager[None]:
        return float32_products(format.tf32)

    def error() -> dict[str, float]:
        if n > LARGEST_WITH_ERROR:
            return {}
        exact = left.to(device, torch.float64) @ right.to(device, torch.float64)
        return {"relative_error": float((out - exact).norm() / exact.norm())}

    settings = {"n": n, "dtype": str(format.dtype).removeprefix("torch."), "tf32": format.tf32}
    return Arm(product, device, settings, SEED, 2.0 * n**3, switches, error)
