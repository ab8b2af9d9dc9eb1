"""3 × 3 convolutions of ResNet-50 in every number format and memory layout, with their errors.

On the CPU in float32; on a GPU in float32 with TF32 off and on, bfloat16 and float16, each with the
channels kept apart and with the channels of a pixel side by side (``channels_last``). The error is
the distance to the result in float64, relative to its size.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import torch
from torch.nn import functional as F

from benchmarks.cases import Part, Plan
from benchmarks.cases.matmul import FORMATS, Format
from benchmarks.method import Arm, measure
from lesson_code.devices import float32_products
from results.cases import Family, names_of
from results.entry import Entry

SEED = 0
LAYOUTS = {"": torch.contiguous_format, "_channels_last": torch.channels_last}


@dataclass(frozen=True)
class Shape:
    """Images (batch, channels, side, side) and as many channels out; stride 1, padding 1."""

    batch: int
    channels: int
    side: int

    @property
    def flop(self) -> float:
        """A multiplication and an addition for each weight at each pixel."""
        return 2.0 * self.batch * self.channels**2 * 9 * self.side**2


# The first and the third stage of ResNet-50: wide images with few channels, and the reverse.
SHAPES = {"channels_64": Shape(32, 64, 56), "channels_256": Shape(32, 256, 14)}
QUICK_SHAPES = {"channels_64": Shape(2, 64, 14), "channels_256": Shape(1, 256, 7)}
WORDS = {"tf32": "TF32"} | {name: f"{shape.channels} channels" for name, shape in SHAPES.items()}
FAMILIES = (
    Family(
        "{shape}.cpu",
        "a 3 × 3 convolution of ResNet-50, 32 images with {shape}, in float32 on the CPU",
        {"shape": tuple(SHAPES)},
        words=WORDS,
        rate="flop_per_s",
    ),
    *(
        Family(
            f"{{shape}}.cuda_{{format}}{layout}",
            "a 3 × 3 convolution of ResNet-50, 32 images with {shape}, in {format} on the GPU"
            f"{', channels_last' if layout else ''}",
            {"shape": tuple(SHAPES), "format": tuple(FORMATS)},
            device="cuda",
            words=WORDS,
            rate="flop_per_s",
        )
        for layout in LAYOUTS
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each shape; its devices, formats and layouts take turns."""
    for name, shape in (QUICK_SHAPES if plan.quick else SHAPES).items():
        yield Part(name, partial(_compare, plan, name, shape), expected_s=4)


def _compare(plan: Plan, name: str, shape: Shape) -> dict[str, Entry]:
    contiguous = torch.contiguous_format
    arms = {f"{name}.cpu": _arm(shape, plan.cpu, Format(torch.float32), contiguous)}
    if plan.gpu:
        for format_name, format in FORMATS.items():
            for suffix, layout in LAYOUTS.items():
                arm = _arm(shape, plan.gpu, format, layout)
                arms[f"{name}.cuda_{format_name}{suffix}"] = arm
    return measure(arms, plan.repetitions, warmups=3)


def _arm(shape: Shape, device: torch.device, format: Format, layout: torch.memory_format) -> Arm:
    generator = torch.Generator().manual_seed(SEED)
    images = torch.randn(
        shape.batch, shape.channels, shape.side, shape.side, generator=generator
    )  # (B, C, H, W)
    weights = torch.randn(shape.channels, shape.channels, 3, 3, generator=generator)
    x, w = (t.to(device, format.dtype, memory_format=layout) for t in (images, weights))
    out = torch.empty(0)

    def convolve() -> None:
        nonlocal out
        out = F.conv2d(x, w, padding=1)

    def switches() -> AbstractContextManager[None]:
        return float32_products(format.tf32)

    def error() -> dict[str, float]:
        exact = F.conv2d(
            images.to(device, torch.float64), weights.to(device, torch.float64), padding=1
        )
        return {"relative_error": float((out - exact).norm() / exact.norm())}

    settings = {
        "shape": [shape.batch, shape.channels, shape.side, shape.side],
        "kernel": "3 × 3, stride 1, padding 1",
        "dtype": str(format.dtype).removeprefix("torch."),
        "tf32": format.tf32,
        "channels_last": layout is torch.channels_last,
    }
    return Arm(convolve, device, settings, SEED, shape.flop, switches, error)
