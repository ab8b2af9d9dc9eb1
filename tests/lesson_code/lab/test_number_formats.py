"""The formats' limits, what small numbers lose in them, and what small updates do."""

import json

import pytest
import torch

from lesson_code.lab import number_formats


def test_a_library_may_add_parts_of_a_long_sum_in_16_bits() -> None:
    """PyTorch allows it in matrix products until it is switched off."""
    allowed = torch.backends.cuda.matmul

    assert allowed.allow_fp16_reduced_precision_reduction
    assert allowed.allow_bf16_reduced_precision_reduction


def printed_rows(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that were printed, each with single spaces."""
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_the_table_of_formats_is_what_pytorch_says_of_its_types(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Bits, limits, spacing and digits of float32, float16 and bfloat16, and of TF32."""
    number_formats.print_formats()

    assert [
        "float32 float16 bfloat16 TF32",
        "bytes in memory 4 2 2 4",
        "sign/exponent/fraction 1/8/23 1/5/10 1/8/7 1/8/10",
        "largest 3.40e+38 65,504 3.39e+38 3.40e+38",
        "smallest normal 1.18e-38 6.10e-05 1.18e-38 1.18e-38",
        "smallest above zero 1.40e-45 5.96e-08 9.18e-41 -",
        "spacing just above 1 1.19e-07 9.77e-04 7.81e-03 9.77e-04",
        "decimal digits 7.2 3.3 2.4 3.3",
    ] == printed_rows(capsys)


@pytest.mark.parametrize("dtype", number_formats.FORMATS.values())
def test_the_smallest_number_is_one_that_the_type_holds(dtype: torch.dtype) -> None:
    """The formula's value survives; half of it becomes zero, as the tie goes to the even number."""
    smallest = number_formats.smallest_above_zero(dtype)
    half = torch.tensor(smallest, dtype=torch.float64) / 2

    assert smallest == torch.tensor(smallest, dtype=torch.float64).to(dtype).item()
    assert 0.0 == half.to(dtype).item()


def test_storage_errors_are_the_register_s() -> None:
    """Each number directly and times 65,536 first, in percent."""
    errors = number_formats.print_storage_error()

    expected = {
        "1e_3": (0.040, 0.040),
        "1e_5": (0.136, 0.013),
        "1e_6": (1.33, 0.024),
        "1e_7": (19.2, 0.001),
        "3e_8": (98.7, 0.020),
        "1e_8": (100.0, 0.028),
    }
    assert expected.keys() == errors.keys()
    for number, (direct, scaled) in expected.items():
        assert direct == pytest.approx(100 * errors[number]["direct"], rel=0.01, abs=5e-4)
        assert scaled == pytest.approx(100 * errors[number]["scaled"], rel=0.01, abs=5e-4)


def test_a_number_becomes_zero_at_half_the_smallest_one_and_not_above() -> None:
    """2^-25 becomes zero; the next float32 number, 3e-8 and 5e-8 become 2^-24."""
    edge = torch.tensor(2.0**-25)
    above = torch.nextafter(edge, torch.tensor(1.0))

    assert 0.0 == edge.half().item()
    for survivor in (above, torch.tensor(3e-8), torch.tensor(5e-8)):
        assert 2.0**-24 == survivor.half().item()


def test_a_thousand_small_updates_are_lost_in_16_bits() -> None:
    """Float16 and bfloat16 stay where they began; float32 arrives, with its own small error."""
    found = number_formats.print_lost_updates()

    for name in ("float16", "bfloat16"):
        assert {"stored": 1.234375, "one": 1.234375, "thousand": 1.234375} == found[name]
    assert 1.3340165 == pytest.approx(found["float32"]["thousand"], abs=1e-6)


@pytest.mark.parametrize(("update", "moves"), [(4.88e-4, False), (4.89e-4, True)])
def test_an_update_must_exceed_half_the_spacing(update: float, moves: bool) -> None:
    """Either side of 4.88e-4, upward and downward."""
    weight = torch.tensor(1.234, dtype=torch.float16)

    assert moves == (weight + update != weight).item()
    assert moves == (weight - update != weight).item()


def test_weights_take_what_their_parameters_and_types_say() -> None:
    """700 and 350 GB, 4.3 GB, and 102.2 MB; four times the float32 weights with Adam."""
    found = number_formats.print_weights()

    assert 700e9 == found["gpt3"]["float32"]
    assert 350e9 == found["gpt3"]["sixteen_bit"]
    assert 4.3e9 == pytest.approx(found["stable_diffusion_v1"]["float32"], rel=0.01)
    assert 25_557_032 * 4 == found["resnet50"]["float32"]
    assert all(4 * sizes["float32"] == sizes["adam"] for sizes in found.values())
    json.dumps(found)
