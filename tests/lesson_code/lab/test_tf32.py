"""TF32, imitated, and its switches."""

import contextlib
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from lesson_code.lab.tf32 import (
    FORMATS,
    float32_precision,
    mix_the_switches,
    overrule_the_new_switch,
    print_switches,
    product_error,
    tf32_switches,
    to_tf32,
)

OLD = re.compile(r"allow_tf32(?:, [\w.]+)* = |float32_matmul_precision\(")
NEW = re.compile(r"fp32_precision(?:, [\w.]+)* = ")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1.0, 1.0),
        (1 + 2**-10, 1 + 2**-10),
        (1 + 2**-11, 1.0),  # a tie, to even
        (1 + 3 * 2**-11, 1 + 2**-9),  # a tie, to even
        (1 + 2**-11 + 2**-23, 1 + 2**-10),
        (-(1 + 2**-11 + 2**-23), -(1 + 2**-10)),
        (0.0, 0.0),
        (3e38, pytest.approx(3e38, rel=1e-3)),
    ],
)
def test_rounding_to_ten_fraction_bits(number: float, expected: float) -> None:
    """To the nearest, ties to even, with the range of float32."""
    assert expected == to_tf32(torch.tensor([number])).item()


def test_tf32_has_the_fraction_of_float16() -> None:
    """Where float16 has all its digits, both round to the same number."""
    x = torch.randn(10_000, generator=torch.Generator().manual_seed(0)).abs() + 0.1

    torch.testing.assert_close(x.half().float(), to_tf32(x), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("float32", 2.2e-6), ("TF32", 1.9e-3), ("float16", 1.9e-3), ("bfloat16", 1.5e-2)],
)
def test_the_error_of_a_product(name: str, expected: float) -> None:
    """TF32 is as exact as float16, and bfloat16 eight times as coarse."""
    assert expected == pytest.approx(product_error(name), rel=0.5)


def test_only_float16_overflows() -> None:
    """With numbers around 10,000 the products leave its range, and only its."""
    found = {name for name in FORMATS if product_error(name, scale=1e4, n=64) == math.inf}

    assert {"float16"} == found


def test_what_is_on_by_default() -> None:
    """Products are full float32; convolutions and recurrent layers may use TF32 unasked."""
    expected = {"matrix products": "none", "convolutions": "tf32", "recurrent layers": "tf32"}

    assert expected == print_switches()


def test_the_switches_are_put_back() -> None:
    """Even when the work inside fails."""
    before, inside = tf32_switches(), {}
    with contextlib.suppress(ZeroDivisionError), float32_precision("ieee"):
        inside = tf32_switches()
        raise ZeroDivisionError

    assert {"ieee"} == set(inside.values())
    assert before == tf32_switches()


def test_float16_loses_bits_of_small_numbers_without_an_overflow() -> None:
    """Below its smallest normal number; TF32 and bfloat16 have float32's range."""
    errors = {name: product_error(name, scale=1e-6, n=256) for name in FORMATS}

    assert 6e-5 < torch.finfo(torch.float16).smallest_normal < 6.2e-5
    assert errors["TF32"] < 0.01 < errors["bfloat16"] < 0.03 < 0.1 < errors["float16"] < math.inf


def test_whoever_sets_last_wins_and_nothing_warns(recwarn: pytest.WarningsRecorder) -> None:
    """An old switch overrules the new one, and all is put back."""
    before = tf32_switches(), torch.get_float32_matmul_precision()

    assert "tf32" == overrule_the_new_switch()
    assert before == (tf32_switches(), torch.get_float32_matmul_precision())
    assert [] == list(recwarn)


@pytest.mark.parametrize(
    ("variable", "expected"),
    [("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1", "tf32"), ("NVIDIA_TF32_OVERRIDE=0", "none")],
)
def test_the_switch_shows_one_of_two_variables(variable: str, expected: str) -> None:
    """PyTorch reads its own when it starts; the other is for NVIDIA's libraries alone."""
    name, _, value = variable.partition("=")
    program = "import torch; print(torch.backends.cuda.matmul.fp32_precision)"

    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        check=True,
    )

    assert expected == ran.stdout.strip()


def test_old_questions_fail_after_the_new_switch() -> None:
    """Both old names refuse to answer."""
    assert ["RuntimeError", "RuntimeError"] == mix_the_switches()


@pytest.mark.parametrize("room", ["lesson_code", "graders", "benchmarks", "lesson_site", "results"])
def test_no_module_sets_both_kinds_of_switches(room: str) -> None:
    """The page's own demonstration is the only one that does."""
    assert OLD.search("products.allow_tf32, convolutions.allow_tf32 = before")
    assert NEW.search('matmul.fp32_precision = "tf32"')
    mixed = [
        path.name
        for path in Path(room).rglob("*.py")
        if OLD.search(text := path.read_text(encoding="utf-8")) and NEW.search(text)
    ]

    assert [name for name in mixed if name != "tf32.py"] == []


def times_the_imitation(found: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> float:
    """How many times as far from the exact product something is as the imitation."""
    exact, imitated = a.double() @ b.double(), to_tf32(a).double() @ to_tf32(b).double()
    return float((found - exact).abs().max() / (imitated - exact).abs().max())


def cut_off(x: torch.Tensor) -> torch.Tensor:
    """Ten fraction bits of float32, and nothing of the others."""
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


def ties_away(x: torch.Tensor) -> torch.Tensor:
    """To the nearest, ties away from zero."""
    return (x.view(torch.int32) + 0x1000 & ~0x1FFF).view(torch.float32)


@pytest.mark.parametrize("rounding", [cut_off, ties_away])
def test_other_ways_of_rounding_err_about_as_much(
    rounding: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """Whatever a GPU does with the last bit stays inside the bounds; full float32 is far below."""
    a, b = torch.randn(2, 512, 512, generator=torch.Generator().manual_seed(0))

    assert 0.5 < times_the_imitation(rounding(a) @ rounding(b), a, b) < 4
    assert times_the_imitation(a @ b, a, b) < 0.01


@pytest.mark.gpu
def test_the_imitation_errs_as_the_gpu_does() -> None:
    """With TF32 on, a product is about as far from the exact one; with TF32 off it is near.

    A GPU from before compute capability 8.0 has no TF32, and computes in float32 either way.
    """
    a, b = torch.randn(2, 1024, 1024, device="cuda")
    with float32_precision("tf32"):
        tf32 = a @ b
    with float32_precision("ieee"):
        full = a @ b

    has_tf32 = torch.cuda.get_device_capability() >= (8, 0)
    least, most = (0.5, 4) if has_tf32 else (0, 0.01)
    assert least < times_the_imitation(tf32, a, b) < most
    assert times_the_imitation(full, a, b) < 0.01
