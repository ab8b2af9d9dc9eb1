"""Attention in 16 bits."""

import math

import pytest
import torch

from lesson_code.lab.transformer_precision import (
    FORMATS,
    WAYS,
    difference_to_float32,
    large_inputs,
    mask_scores,
    print_softmax,
    softmax_by_hand,
    softmax_shifted,
    train_reverser,
)


def test_the_exponential_overflows_first() -> None:
    """A score of 12 is enough, and subtracting the largest one mends it."""
    scores = torch.tensor([12.0, 10.0], dtype=torch.float16)

    assert softmax_by_hand(scores).isnan().any()
    torch.testing.assert_close(
        torch.softmax(scores.float(), -1), softmax_shifted(scores).float(), rtol=0.01, atol=0.001
    )
    assert 11.09 == pytest.approx(print_softmax()["largest_score"], abs=0.005)


def test_eleven_is_the_last_score_that_survives() -> None:
    """The limit lies between 11 and 12."""
    assert torch.tensor(11.0, dtype=torch.float16).exp().isfinite()
    assert torch.tensor(12.0, dtype=torch.float16).exp().isinf()


@pytest.mark.parametrize(("way", "finite"), list(zip(WAYS, (False, True, True), strict=True)))
def test_large_scores_overflow_unless_scaled_first(way: str, finite: bool) -> None:
    """The same numbers are finite when the queries are scaled before the product."""
    assert finite == bool(WAYS[way](*large_inputs()).isfinite().all())


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_agree_on_ordinary_numbers(way: str) -> None:
    """They are one formula, written three times."""
    q, k, v = (torch.randn(1, 2, 8, 16) for _ in range(3))

    torch.testing.assert_close(WAYS["scaled_dot_product_attention"](q, k, v), WAYS[way](q, k, v))


def test_what_masks_do_in_float16() -> None:
    """A number that float16 lacks raises; a row that is masked as a whole becomes NaN."""
    found = mask_scores()

    assert "RuntimeError" == found["-1e9"]
    assert "[1.0, 0.0, 0.0]" == found["-inf"] == found["finfo.min"]
    assert "[nan, nan, nan]" == found["-inf, whole row"]
    assert "[0.33, 0.33, 0.33]" == found["finfo.min, whole row"]


def test_the_loss_curves_agree() -> None:
    """All three formats learn the task, and end within 0.02 of each other."""
    curves = {name: train_reverser(dtype) for name, dtype in FORMATS.items()}
    exact = curves.pop("float32")

    assert math.log(10) < exact[0]
    assert exact[-1] < 0.1
    for losses in curves.values():
        assert max(abs(a - b) for a, b in zip(exact, losses, strict=True)) < 0.02


def test_bfloat16_is_the_coarser_one() -> None:
    """It has three bits less, so its error is about eight times as large."""
    coarse, fine = (difference_to_float32(dtype) for dtype in (torch.bfloat16, torch.float16))

    assert 4 * fine < coarse < 0.05
