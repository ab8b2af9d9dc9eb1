"""TF32: float32 numbers of which a product looks at ten fraction bits.

Tensor cores of NVIDIA's Ampere generation and later can round the inputs of a float32 product to
TF32 and add up in float32. Without such a GPU the loss of digits can be imitated; which of two
neighbours a number goes to is up to the GPU's library, which may also cut the rest off.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


# --8<-- [start:rounding]
def to_tf32(x: torch.Tensor) -> torch.Tensor:
    """Round float32 to the 10 fraction bits of TF32, to the nearest and ties to even.

    A GPU's library may send ties away from zero instead, or cut off what is below the ten bits.

    Args:
        x: float32, any shape; finite.
    """
    bits = x.contiguous().view(torch.int32)
    half = 0xFFF + (bits >> 13 & 1)  # just under half of the last bit kept, or half of it
    return (bits + half & ~0x1FFF).view(torch.float32)


# --8<-- [end:rounding]


# --8<-- [start:formats]
FORMATS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "float32": lambda x: x,
    "TF32": to_tf32,
    "float16": lambda x: x.to(torch.float16).float(),
    "bfloat16": lambda x: x.to(torch.bfloat16).float(),
}


def product_error(name: str, scale: float = 1.0, n: int = 1024) -> float:
    """Largest error of an n x n product whose inputs are rounded, relative to the mean result.

    Sums are float32 in every format, as in a tensor core. Infinite, if the result is too large
    for the format.
    """
    generator = torch.Generator().manual_seed(0)
    a, b = (scale * torch.randn(n, n, generator=generator) for _ in range(2))
    exact = a.double() @ b.double()
    rounded = FORMATS[name](a) @ FORMATS[name](b)
    if not FORMATS[name](rounded).isfinite().all():
        return math.inf
    return float((rounded - exact).abs().max() / exact.abs().mean())


# --8<-- [end:formats]


def print_errors() -> dict[str, dict[str, float]]:
    """The error of each format, for numbers around 1 and around 10,000."""
    found = {
        name: {"ones": product_error(name), "large": product_error(name, scale=1e4)}
        for name in FORMATS
    }
    print(f"{'inputs':10}{'around 1':>12}{'around 10,000':>16}")
    for name, errors in found.items():
        large = f"{errors['large']:.1e}" if math.isfinite(errors["large"]) else "overflow"
        print(f"{name:10}{errors['ones']:>12.1e}{large:>16}")
    return {name.lower(): {"ones": errors["ones"]} for name, errors in found.items()}


def print_small_errors() -> None:
    """The error of each format with fewer bits than float32, for numbers around a millionth."""
    print(f"{'inputs':10}{'around 0.000001':>18}")
    for name in ("TF32", "float16", "bfloat16"):
        print(f"{name:10}{product_error(name, scale=1e-6):>18.1e}")


# --8<-- [start:switches]
def switches() -> dict[str, Any]:
    """The three places that decide about TF32."""
    matmul: Any = torch.backends.cuda.matmul
    cudnn: Any = torch.backends.cudnn
    return {"matrix products": matmul, "convolutions": cudnn.conv, "recurrent layers": cudnn.rnn}


def tf32_switches() -> dict[str, str]:
    """What may run in TF32 as things stand: "tf32", "ieee", or "none" for nobody said anything."""
    return {what: place.fp32_precision for what, place in switches().items()}


@contextmanager
def keeping_switches() -> Iterator[None]:
    """Put the switches back afterwards, whatever happens in between."""
    before = tf32_switches()
    try:
        yield
    finally:
        for what, place in switches().items():
            place.fp32_precision = before[what]


@contextmanager
def float32_precision(precision: str) -> Iterator[None]:
    """Products, convolutions and recurrent layers in "tf32" or "ieee", for a while."""
    with keeping_switches():
        for place in switches().values():
            place.fp32_precision = precision
        yield


# --8<-- [end:switches]


def print_switches() -> dict[str, str]:
    """The switches of a fresh PyTorch."""
    found = tf32_switches()
    for what, precision in found.items():
        print(f"{what:18}{precision}")
    return found


# --8<-- [start:mixed]
def overrule_the_new_switch() -> str:
    """Forbid TF32 in products with the new switch, then use an old one: what holds."""
    with float32_precision("ieee"):
        torch.set_float32_matmul_precision("high")  # as a library might
        holds = tf32_switches()["matrix products"]
        torch.set_float32_matmul_precision("highest")
    return holds


def mix_the_switches() -> list[str]:
    """Set the new switch, then ask the old ones: the errors, by name."""
    errors = []
    with float32_precision("tf32"):
        for ask in (
            torch.get_float32_matmul_precision,
            lambda: torch.backends.cuda.matmul.allow_tf32,
        ):
            try:
                ask()
            except RuntimeError as problem:
                errors.append(type(problem).__name__)
    return errors


# --8<-- [end:mixed]


def print_mixed() -> None:
    """What holds after both kinds were used, and what the old questions answer."""
    print("ieee, then high:", overrule_the_new_switch())
    print("old questions:  ", *mix_the_switches())
