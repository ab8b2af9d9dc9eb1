"""The tables of float16 say what float16 does."""

import math

import pytest
import torch

from lesson_code.gpu_training import float16_numbers


def printed_rows(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The words of each printed line below the heading; no line is wider than 72 columns."""
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 72
    return [line.split() for line in lines[1:]]


def in_float16(number: float) -> float:
    """What float16 keeps of a number."""
    return torch.tensor(number, dtype=torch.float16).item()


def test_small_numbers_lose_digits_first_and_vanish_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The printed table: 1e-6 survives, 2.99e-8 is doubled, 2.98e-8 and less are zero."""
    float16_numbers.print_small_numbers()

    rows = [(number, kept) for number, kept, _ in printed_rows(capsys)]

    assert rows == [
        ("1e-4", "0.00010002"),
        ("1e-5", "1.0014e-05"),
        ("1e-6", "1.0133e-06"),
        ("1e-7", "1.1921e-07"),
        ("2.99e-8", "5.9605e-08"),
        ("2.98e-8", "0"),
        ("1e-8", "0"),
        ("65504", "65504"),
        ("65519", "65504"),
        ("65520", "inf"),
    ]


def test_the_error_of_each_number_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """1.3 percent at 1e-6, 19 percent at 1e-7, everything at 1e-8."""
    float16_numbers.print_small_numbers()

    errors = {number: error for number, _, error in printed_rows(capsys)}

    assert errors["1e-6"] == "1.33%"
    assert errors["1e-7"] == "19.21%"
    assert errors["1e-8"] == "100.00%"


def test_zero_begins_exactly_at_two_to_the_minus_25() -> None:
    """2**-25, about 2.98e-8, becomes zero; the next float32 above it becomes 2**-24."""
    threshold = torch.tensor(2.0**-25)

    above = torch.nextafter(threshold, torch.tensor(1.0))

    assert threshold.half().item() == 0
    assert above.half().item() == 2**-24
    assert math.isclose(threshold.item(), 2.98e-8, rel_tol=1e-3)


def test_float16_ends_at_65504() -> None:
    """Up to 65519 a number is rounded down to it; from 65520 on it is infinite."""
    kept = [in_float16(number) for number in (65504.0, 65519.0, 65520.0)]

    assert kept == [65504.0, 65504.0, math.inf]


def test_small_updates_are_lost_in_float16(capsys: pytest.CaptureFixture[str]) -> None:
    """10,000 updates of 0.00001 leave a float16 weight at 0.09998; float32 arrives at 0.2."""
    float16_numbers.print_lost_updates()

    half, single = printed_rows(capsys)

    assert half == ["float16", "0.09998", "0.09998", "0.09998"]
    assert single[:3] == ["float32", "0.10000", "0.10001"]
    assert float(single[3]) == pytest.approx(0.2, abs=1e-4)


def test_bfloat16_loses_updates_that_float16_keeps() -> None:
    """It has float32's range and fewer digits: near 1 a step of 0.001 is lost in it alone."""
    ends = {}
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        weight = torch.tensor(1.0, dtype=dtype)
        for _ in range(100):
            weight += 1e-3
        ends[dtype] = weight.item()

    assert 1.0 == ends[torch.bfloat16]
    assert 1.05 < ends[torch.float16] < 1.15
    assert torch.finfo(torch.bfloat16).tiny == torch.finfo(torch.float32).tiny
