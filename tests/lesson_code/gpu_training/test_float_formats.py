"""The formats in plain Python are PyTorch's, bit for bit."""

import math
import random

import pytest
import torch

from lesson_code.gpu_training.float_formats import (
    BFLOAT16,
    E4M3,
    E5M2,
    FLOAT16,
    FLOAT32,
    FORMATS,
    TF32,
    FloatFormat,
)

IN_TORCH = {
    FLOAT32: (torch.float32, torch.uint32),
    BFLOAT16: (torch.bfloat16, torch.uint16),
    FLOAT16: (torch.float16, torch.uint16),
    E5M2: (torch.float8_e5m2, torch.uint8),
    E4M3: (torch.float8_e4m3fn, torch.uint8),
}
SMALL = [kind for kind in IN_TORCH if kind.bits <= 16]


def name(kind: FloatFormat) -> str:
    """What the test is called."""
    return kind.name


def same(one: float, other: float) -> bool:
    """Equal, the sign of zero included, or both not a number."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def torch_values(kind: FloatFormat, patterns: list[int]) -> list[float]:
    """What PyTorch reads in patterns of bits."""
    dtype, integers = IN_TORCH[kind]
    found: list[float] = torch.tensor(patterns, dtype=integers).view(dtype).double().tolist()
    return found


def torch_kept(kind: FloatFormat, numbers: list[float]) -> list[float]:
    """What PyTorch makes of numbers that are float32's.

    Until April 2026 it made of those too large for E4M3 what is not a number; now they become the
    largest.
    """
    single = torch.tensor(numbers, dtype=torch.float32)
    found: list[float] = single.to(IN_TORCH[kind][0]).double().tolist()
    if kind.has_infinity:
        return found
    return [
        math.copysign(kind.largest, number) if math.isnan(kept) else kept
        for number, kept in zip(numbers, found, strict=True)
    ]


def some_numbers(kind: FloatFormat) -> list[float]:
    """Numbers of float32 of every size that the format tells apart, and those around its limits."""
    draw = random.Random(11)
    low, high = math.log2(kind.lost) - 3, min(math.log2(kind.largest) + 3, 126)
    anywhere = [draw.choice((-1, 1)) * 2 ** draw.uniform(low, high) for _ in range(5000)]
    limits = torch.tensor([kind.lost, kind.smallest_normal, min(kind.overflow, 3.3e38), 1.0])
    around = [
        limits,
        limits.nextafter(torch.zeros(())),
        limits.nextafter(torch.full((), math.inf)),
    ]
    exact = torch.cat([torch.tensor(anywhere, dtype=torch.float32), *around])
    found: list[float] = exact.double().tolist()
    return found


@pytest.mark.uncounted
@pytest.mark.parametrize("kind", SMALL, ids=name)
def test_every_pattern_means_what_it_means_in_pytorch(kind: FloatFormat) -> None:
    """Of 8 and of 16 bits all patterns are read."""
    patterns = list(range(2**kind.bits))

    expected = torch_values(kind, patterns)

    assert all(same(e, kind.value(p)) for e, p in zip(expected, patterns, strict=True))


def test_patterns_of_float32_mean_what_they_mean_in_pytorch() -> None:
    """A random part of them, with the smallest and the largest."""
    patterns = [0, 1, 2**31, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]
    patterns += random.Random(3).sample(range(2**32), 5000)

    expected = torch_values(FLOAT32, patterns)

    assert all(same(e, FLOAT32.value(p)) for e, p in zip(expected, patterns, strict=True))


@pytest.mark.parametrize("kind", SMALL, ids=name)
def test_rounding_is_pytorchs(kind: FloatFormat) -> None:
    """On numbers of every size, on both sides of each limit and on the limits themselves."""
    numbers = [number for number in some_numbers(kind) if number]

    expected = torch_kept(kind, numbers)

    wrong = [
        (n, e, kind.kept(n))
        for n, e in zip(numbers, expected, strict=True)
        if not same(e, kind.kept(n))
    ]
    assert [] == wrong


@pytest.mark.parametrize("kind", SMALL, ids=name)
def test_what_is_lost_and_what_overflows_is_told_beforehand(kind: FloatFormat) -> None:
    """A number becomes zero up to the one limit, and infinite or the largest from the other on."""
    numbers = [number for number in some_numbers(kind) if number]

    kept = torch_kept(kind, numbers)

    for number, found in zip(numbers, kept, strict=True):
        assert (found == 0) == (abs(number) <= kind.lost), number
        assert math.isinf(found) == (kind.overflows(number) and kind.has_infinity), number
        assert abs(found) == kind.largest or not kind.overflows(number) or kind.has_infinity


@pytest.mark.parametrize("kind", list(IN_TORCH), ids=name)
def test_limits_are_those_of_finfo(kind: FloatFormat) -> None:
    """Largest, smallest normal, smallest and the spacing above one."""
    limits = torch.finfo(IN_TORCH[kind][0])

    assert limits.bits == kind.bits
    assert limits.max == kind.largest
    assert limits.smallest_normal == kind.smallest_normal
    assert limits.smallest_normal * limits.eps == kind.smallest
    assert limits.eps == kind.neighbours(kind.pattern(1.0))[1] - 1


@pytest.mark.uncounted
@pytest.mark.parametrize("kind", SMALL, ids=name)
def test_neighbours_follow_one_another(kind: FloatFormat) -> None:
    """Between a number and its neighbour lies no other one of the format.

    Of 16 bits it is every fortieth number, all whose spacing differs on both sides, all within five
    of zero and of the ends, and those beside them.
    """
    values = sorted({v for v in torch_values(kind, list(range(2**kind.bits))) if not math.isnan(v)})
    last = len(values) - 1
    special = {i for i, value in enumerate(values) if abs(math.frexp(value)[0]) == 0.5}
    special |= {at + i for at in (0, values.index(0.0), last) for i in range(-5, 6)}
    some = range(0, last, 40 if kind.bits == 16 else 1)
    looked_at = {*some, *(at + i for at in special for i in (-1, 0, 1))} & set(range(1, last))

    assert len(looked_at) >= min(last - 1, 1500)
    for at in looked_at:
        below, number, above = values[at - 1 : at + 2]
        assert (below, above) == kind.neighbours(kind.pattern(number))


def test_behind_the_last_number_there_is_none() -> None:
    """Infinity has a neighbour on one side, what is not a number has none."""
    assert [FLOAT16.largest, True] == [
        FLOAT16.neighbours(FLOAT16.pattern(math.inf))[0],
        math.isnan(FLOAT16.neighbours(FLOAT16.pattern(math.inf))[1]),
    ]
    assert all(map(math.isnan, FLOAT16.neighbours(FLOAT16.pattern(math.nan))))
    assert math.isnan(E4M3.neighbours(E4M3.pattern(448.0))[1])


@pytest.mark.parametrize("kind", FORMATS, ids=name)
def test_a_number_of_the_format_keeps_its_bits(kind: FloatFormat) -> None:
    """From bits to the number and back."""
    draw = random.Random(5)
    patterns = [draw.randrange(2**kind.bits) for _ in range(3000)]

    for pattern in patterns:
        if kind.kind(pattern) != "not a number":
            assert pattern == kind.pattern(kind.value(pattern))


def test_tf32_has_the_range_of_float32_and_the_digits_of_float16() -> None:
    """It is float32 without its last thirteen bits."""
    assert FLOAT32.smallest_normal == TF32.smallest_normal
    assert FLOAT16.neighbours(FLOAT16.pattern(1.0)) == TF32.neighbours(TF32.pattern(1.0))
    assert FLOAT32.value(FLOAT32.pattern(0.1) >> 13 << 13) == TF32.value(FLOAT32.pattern(0.1) >> 13)


def test_too_many_bits_are_refused() -> None:
    """The message says how many the format has."""
    with pytest.raises(ValueError, match="float16 has 16 bits"):
        FLOAT16.value(2**16)
