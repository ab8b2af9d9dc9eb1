"""Plain Python rounds as PyTorch does, and adapts a loss scale as PyTorch does."""

import math
import random

import pytest
import torch

from lesson_code.gpu_training.float16_arithmetic import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    Format,
    LossScale,
    rounded,
    spacing,
    updated,
)

KINDS = {
    "float16": (FLOAT16, torch.float16),
    "bfloat16": (BFLOAT16, torch.bfloat16),
    "float32": (FLOAT32, torch.float32),
}
both = pytest.mark.parametrize(("kind", "dtype"), KINDS.values(), ids=list(KINDS))


def patterns(dtype: torch.dtype) -> torch.Tensor:
    """Every number that fits into the 16 bits of a type."""
    return torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(dtype)


def bits(numbers: torch.Tensor) -> list[str]:
    """Numbers to compare exactly: signs of zero count, and all NaNs are one."""
    return [number.hex() for number in numbers.double().tolist()]


def floats(count: int) -> torch.Tensor:
    """Float32 numbers of every size, since their 32 bits are random; NaNs are among them."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(-(2**31), 2**31, (count,), generator=generator).int().view(torch.float32)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_number_of_a_format_stays_as_it_is(name: str) -> None:
    """All 65,536 patterns: subnormal numbers, both zeros, infinities and NaNs included."""
    kind, dtype = KINDS[name]
    numbers = patterns(dtype)

    kept = [rounded(number, kind).hex() for number in numbers.double().tolist()]

    assert bits(numbers) == kept


@pytest.mark.uncounted
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halfway_and_beside_it_the_same_number_is_chosen(name: str) -> None:
    """Between every two neighbours: just below the middle, on it, and just above it."""
    kind, dtype = KINDS[name]
    numbers = patterns(dtype).float()
    finite = numbers[numbers.isfinite()].unique()
    middles = (finite[1:].double() + finite[:-1].double()).div(2).float()
    down, up = (torch.full((1,), way * math.inf) for way in (-1, 1))
    tried = torch.cat([middles.nextafter(down), middles, middles.nextafter(up)])

    kept = [rounded(number, kind).hex() for number in tried.double().tolist()]

    assert bits(tried.to(dtype)) == kept


@both
def test_float32_numbers_of_all_sizes_become_the_same(kind: Format, dtype: torch.dtype) -> None:
    """Random bits: most are far too large or too small for float16."""
    numbers = floats(20_000)

    kept = [rounded(number, kind).hex() for number in numbers.double().tolist()]

    assert bits(numbers.to(dtype)) == kept


def test_python_numbers_become_the_same_float32() -> None:
    """Random float64 numbers, from below the smallest to above the largest float32."""
    generator = random.Random(0)
    numbers = [
        generator.uniform(-2, 2) * 2.0 ** generator.randint(-152, 128) for _ in range(20_000)
    ]

    kept = [rounded(number, FLOAT32).hex() for number in numbers]

    assert bits(torch.tensor(numbers, dtype=torch.float32)) == kept


@pytest.mark.parametrize(
    ("number", "kept"),
    [
        (65504.0, 65504.0),
        (65519.0, 65504.0),
        (65520.0, math.inf),
        (-65520.0, -math.inf),
        (2.0**-24, 2.0**-24),
        (2.0**-25, 0.0),
        (1.5 * 2.0**-25, 2.0**-24),
    ],
)
def test_the_ends_of_float16(number: float, kept: float) -> None:
    """65520 is infinite, and 2**-25 is zero."""
    assert kept == rounded(number, FLOAT16) == torch.tensor(number).half().item()


@both
def test_the_spacing_leads_to_the_next_number(kind: Format, dtype: torch.dtype) -> None:
    """Also among the subnormal numbers, and from zero."""
    for number in (0.0, 2.0**-24, 2.0**-20, 0.1, 1.0, 1.234, 1024.0, 60_000.0):
        here = torch.tensor(number, dtype=dtype)
        beyond = torch.nextafter(here, torch.tensor(math.inf, dtype=dtype))
        assert beyond.double().item() - here.double().item() == spacing(number, kind)


@both
@pytest.mark.parametrize(("weight", "update", "times"), [(0.1, 1e-5, 10_000), (1.234, 1e-4, 1000)])
def test_updates_are_lost_where_pytorch_loses_them(
    kind: Format, dtype: torch.dtype, weight: float, update: float, times: int
) -> None:
    """The two examples of the pages, down to the last bit."""
    expected = torch.tensor(weight, dtype=dtype)
    for _ in range(times):
        expected += update

    assert expected.item() == updated(weight, rounded(update, FLOAT32), times, kind)


def test_an_update_above_half_the_spacing_runs_twice_as_fast_and_then_stops() -> None:
    """What the page says of 3e-5 and 3.1e-5 at a weight of 0.1."""
    weight = rounded(0.1, FLOAT16)

    after_one = updated(weight, 3.1e-5, 1, FLOAT16) - weight

    assert weight == updated(weight, 3e-5, 10_000, FLOAT16)
    assert spacing(weight, FLOAT16) == after_one == pytest.approx(2 * 3.1e-5, rel=0.02)
    assert 0.125 == updated(weight, 3.1e-5, 10_000, FLOAT16)
    assert 2 * spacing(weight, FLOAT16) == spacing(0.125, FLOAT16)


def test_a_factor_that_overflows_again_costs_one_step_in_an_interval() -> None:
    """What the lesson's page says: three clean steps and a skipped one, without an end."""
    scale = LossScale(factor=2.0**24, growth_interval=3)
    skipped = []
    for _ in range(40):
        skipped.append(math.isinf(rounded(0.02 * scale.factor, FLOAT16)))
        scale.update(skipped[-1])

    assert [True] * 3 + [False, False, False, True] * 9 == skipped[:39]


def test_2049_becomes_2048() -> None:
    """It lies halfway between 2048 and 2050."""
    assert 2.0 == spacing(2049, FLOAT16)
    assert 2048.0 == rounded(2049, FLOAT16)


def factors(overflows: list[bool], **settings: float) -> list[tuple[float, int]]:
    """The factor and the clean steps of a real scaler, after steps that overflow or do not."""
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", **settings)
    found = []
    for overflowed in overflows:
        scaler.scale(weight.sum())
        weight.grad = torch.tensor([math.inf if overflowed else 1.0])
        scaler.step(optimizer)
        scaler.update()
        found.append((scaler.get_scale(), scaler.state_dict()["_growth_tracker"]))
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"init_scale": 2.0**24, "growth_interval": 3},
        {"init_scale": 1000.0, "growth_factor": 1.7, "backoff_factor": 0.3, "growth_interval": 2},
        {"init_scale": 2.0**126, "growth_interval": 1},
        {"init_scale": 2.0**-148, "growth_interval": 40},
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_factor_is_that_of_gradscaler(settings: dict[str, float], share: float) -> None:
    """After each of many steps, of which a share overflows; at both ends of float32 as well."""
    generator = random.Random(1)
    overflows = [generator.random() < share for _ in range(200)]
    named = {("factor" if name == "init_scale" else name): v for name, v in settings.items()}
    scale = LossScale(**named)  # type: ignore[arg-type]
    found = []
    for overflowed in overflows:
        scale.update(overflowed)
        found.append((scale.factor, scale.clean_steps))

    assert factors(overflows, **settings) == found


def test_the_factor_doubles_after_two_thousand_clean_steps() -> None:
    """With the values that both have unless told; 1,999 change nothing."""
    expected = factors([False] * 2000)
    scale = LossScale()
    found = []
    for _ in range(2000):
        scale.update(overflowed=False)
        found.append((scale.factor, scale.clean_steps))

    assert [(2.0**16, 1999), (2.0**17, 0)] == found[-2:]
    assert expected == found
