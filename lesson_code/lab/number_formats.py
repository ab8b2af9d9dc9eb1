"""Four ways to write a number, what each loses, and what becomes of a small update."""

import torch
from torchvision.models import resnet50

# The first two as their makers give them; torchvision's ResNet-50 can be counted.
PARAMETERS = {"gpt3": 175_000_000_000, "stable_diffusion_v1": 1_066_000_000}
NAMES = {"gpt3": "GPT-3", "stable_diffusion_v1": "Stable Diffusion v1", "resnet50": "ResNet-50"}
FORMATS = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
TF32_FRACTION_BITS = 10  # a way to multiply, not to store: it has no entry in torch.finfo
SCALE = 2.0**16


def resnet50_parameters() -> int:
    """Count them on a model without memory."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in resnet50().parameters())


def print_weights() -> dict[str, dict[str, float]]:
    """Print what weights alone take, and what Adam keeps in float32 before any activation.

    Returns:
        For each model the bytes of its weights in ``float32`` and in ``sixteen_bit``, and of
        weights, gradients and two averages together, ``adam``.
    """
    print(f"{'':20}{'weights':>12}{'weights':>12}{'with gradients':>17}")
    print(f"{'':20}{'float32':>12}{'16 bit':>12}{'and Adam state':>17}")
    found = {}
    for name, count in {**PARAMETERS, "resnet50": resnet50_parameters()}.items():
        sizes = {"float32": 4.0 * count, "sixteen_bit": 2.0 * count, "adam": 16.0 * count}
        weights = f"{_size(sizes['float32']):>12}{_size(sizes['sixteen_bit']):>12}"
        print(f"{NAMES[name]:20}{weights}{_size(sizes['adam']):>17}")
        found[name] = sizes
    return found


def _size(count: float) -> str:
    if count < 1e9:
        return f"{count / 1e6:,.0f} MB"
    return f"{count / 1e9:,.1f} GB" if count < 1e11 else f"{count / 1e9:,.0f} GB"


def fraction_bits(dtype: torch.dtype) -> int:
    """Bits behind the leading one: the spacing just above 1 is 2 to the minus this."""
    return -round(torch.log2(torch.tensor(torch.finfo(dtype).eps)).item())


def exponent_bits(dtype: torch.dtype) -> int:
    """Bits of the exponent: what the sign and the fraction leave."""
    return torch.finfo(dtype).bits - 1 - fraction_bits(dtype)


def smallest_above_zero(dtype: torch.dtype) -> float:
    """The smallest subnormal number: the smallest normal one with one bit of fraction left."""
    limits = torch.finfo(dtype)
    return limits.smallest_normal * limits.eps


def decimal_digits(bits: int) -> float:
    """Decimal digits that a fraction of so many bits is worth, its leading one included."""
    return (bits + 1) * torch.log10(torch.tensor(2.0)).item()


def print_formats() -> None:
    """Print the limits of the formats, TF32 as the float32 that it is stored as."""
    kinds = list(FORMATS.values())
    limits = [torch.finfo(kind) for kind in kinds]
    single = limits[0]
    tf32_spacing = 2.0**-TF32_FRACTION_BITS
    fractions = [*map(fraction_bits, kinds), TF32_FRACTION_BITS]
    exponents = [*map(exponent_bits, kinds), exponent_bits(torch.float32)]
    rows: dict[str, list[str]] = {
        "bytes in memory": [f"{limit.bits // 8}" for limit in (*limits, single)],
        "sign/exponent/fraction": [
            f"1/{exponent}/{fraction}"
            for exponent, fraction in zip(exponents, fractions, strict=True)
        ],
        "largest": [_largest(limit.max) for limit in (*limits, single)],
        "smallest normal": [f"{limit.smallest_normal:.2e}" for limit in (*limits, single)],
        "smallest above zero": [*(f"{smallest_above_zero(kind):.2e}" for kind in kinds), "-"],
        "spacing just above 1": [
            f"{spacing:.2e}" for spacing in (*(limit.eps for limit in limits), tf32_spacing)
        ],
        "decimal digits": [f"{decimal_digits(bits):.1f}" for bits in fractions],
    }
    for name, cells in {"": [*FORMATS, "TF32"], **rows}.items():
        print(f"{name:22}" + "".join(f"{cell:>10}" for cell in cells))


def _largest(number: float) -> str:
    return f"{number:,.0f}" if number < 1e6 else f"{number:.2e}"


# --8<-- [start:storage_error]
def storage_error(number: float, scale: float = 1.0) -> float:
    """How far off a number is, as a share of itself, after it was kept in float16.

    It is multiplied before, and divided again in float32 after.
    """
    kept = torch.tensor(number * scale).half()
    return abs(kept.float().item() / scale - number) / number


# --8<-- [end:storage_error]


def print_storage_error() -> dict[str, dict[str, float]]:
    """Print the error of small numbers in float16, as they are and scaled first.

    Returns:
        For each number, as ``1e_5``, the errors ``"direct"`` and ``"scaled"`` as shares.
    """
    errors = {}
    print(f"{'':8}{'kept as':>12}{'times 65,536':>16}")
    print(f"{'number':>8}{'it is':>12}{'first':>16}")
    for number in ("1e-3", "1e-5", "1e-6", "1e-7", "3e-8", "1e-8"):
        direct, scaled = storage_error(float(number)), storage_error(float(number), SCALE)
        print(f"{number:>8}{direct:>12.3%}{scaled:>16.3%}")
        errors[number.replace("-", "_")] = {"direct": direct, "scaled": scaled}
    return errors


# --8<-- [start:thousand_updates]
def thousand_updates(dtype: torch.dtype) -> float:
    """Where a weight of 1.234 stands after 0.0001 was added to it one thousand times."""
    weight = torch.tensor(1.234, dtype=dtype)
    for _ in range(1000):
        weight += 1e-4
    return weight.item()


# --8<-- [end:thousand_updates]


def print_lost_updates() -> dict[str, dict[str, float]]:
    """Print what one update and one thousand of them make of a weight, in three formats.

    Returns:
        For each format the weight as it is ``stored``, after ``one`` update and after a
        ``thousand``.
    """
    print(f"{'':10}{'stored':>10}{'spacing':>11}{'1 update':>11}{'1,000 updates':>16}")
    found = {}
    for name, dtype in FORMATS.items():
        weight = torch.tensor(1.234, dtype=dtype)
        spacing = torch.finfo(dtype).eps
        one, thousand = (weight + 1e-4).item(), thousand_updates(dtype)
        found[name] = {"stored": weight.item(), "one": one, "thousand": thousand}
        print(f"{name:10}{weight.item():>10.6f}{spacing:>11.2e}{one:>11.6f}{thousand:>16.6f}")
    return found
