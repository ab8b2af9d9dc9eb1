"""Attention in 16 bits."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

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


def test_an_infinite_power_is_nan_in_its_own_place_alone() -> None:
    """Infinity by infinity is no number; whatever is finite, by infinity, is 0."""
    probabilities = softmax_by_hand(torch.tensor([12.0, 10.0, 1.0], dtype=torch.float16))

    assert [True, False, False] == probabilities.isnan().tolist()
    assert [0, 0] == probabilities[1:].tolist()


def test_eleven_is_the_last_score_that_survives() -> None:
    """The limit lies between 11 and 12."""
    assert torch.tensor(11.0, dtype=torch.float16).exp().isfinite()
    assert torch.tensor(12.0, dtype=torch.float16).exp().isinf()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_wider_range_moves_the_limit_of_the_exponential(dtype: torch.dtype) -> None:
    """To 88.7, and a score of 100 is NaN in these formats too unless the largest is subtracted."""
    scores = torch.tensor([100.0, 98.0, 0.0], dtype=dtype)

    assert 88.7 == pytest.approx(math.log(torch.finfo(dtype).max), abs=0.05)
    assert softmax_by_hand(scores).isnan().any()
    assert softmax_shifted(scores).isfinite().all()


def test_attention_in_one_call_holds_out_where_scaling_first_does_not() -> None:
    """Its scores are float32."""
    for size in (100.0, 300.0):
        finite = {way: bool(f(*large_inputs(size)).isfinite().all()) for way, f in WAYS.items()}

        assert [False, False, True] == list(finite.values())


def test_the_small_encoder_learns_in_float16_without_a_scaler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though some gradients are 0, and others where float16 ends."""
    seen = []

    def step(self: torch.optim.Adam, _: object = None) -> None:
        every = torch.cat([p.grad.flatten().abs() for p in self.param_groups[0]["params"]])
        seen.append((int((every == 0).sum()), every[every > 0].min().item()))
        adam_step(self)

    adam_step = torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", step)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    monkeypatch.setattr(torch.amp, "GradScaler", lambda *_, **__: scaler)

    assert train_reverser(torch.float16)[-1] < 0.1
    assert all(smallest < 1e-6 for _, smallest in seen)
    assert any(zeros for zeros, _ in seen)


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


def _padded_attention(fill: float | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention over two sequences, of which the second is padding only and not in the loss.

    Args:
        fill: What stands in for masked scores; None for PyTorch's own attention.

    Returns:
        Its output, (2, 5, 4), and the gradient of the layer that makes q, k and v, (4, 4).
    """
    torch.manual_seed(0)
    layer = nn.Linear(4, 4)
    x = layer(torch.randn(2, 5, 4))
    padding = torch.zeros(2, 1, 5, dtype=torch.bool)
    padding[1] = True
    if fill is None:
        output = F.scaled_dot_product_attention(x, x, x, attn_mask=~padding)
    else:
        scores = (x @ x.transpose(-2, -1) / 2).masked_fill(padding, fill)
        output = scores.softmax(-1) @ x
    loss = output[0].square().mean()
    loss.backward()

    assert loss.isfinite()
    assert layer.weight.grad is not None
    return output.detach(), layer.weight.grad


def test_a_sequence_left_out_of_the_loss_still_spoils_the_weights() -> None:
    """The loss is finite, and its zero gradient times NaN is NaN in every weight."""
    output, gradient = _padded_attention(-math.inf)

    assert output[1].isnan().all()
    assert gradient.isnan().all()


def test_masked_fill_keeps_nan_from_queries_and_keys() -> None:
    """The layers of values and output get NaN from a masked row that the loss leaves out."""
    torch.manual_seed(0)
    x, padding = torch.randn(2, 5, 4), torch.zeros(2, 1, 5, dtype=torch.bool)
    padding[1] = True
    query, key, value, out = (nn.Linear(4, 4) for _ in range(4))
    scores = (query(x) @ key(x).transpose(-2, -1) / 2).masked_fill(padding, -math.inf)
    out(scores.softmax(-1) @ value(x))[0].square().mean().backward()

    spoilt = [bool(part.weight.grad.isnan().any()) for part in (query, key, value, out)]
    assert [False, False, True, True] == spoilt


def test_two_masks_keep_the_weights_finite() -> None:
    """The smallest number gives a mean, PyTorch's own attention zeros, and the same gradients."""
    _, by_hand = _padded_attention(torch.finfo(torch.float32).min)
    output, fused = _padded_attention(None)

    assert 0 == output[1].count_nonzero()
    assert by_hand.isfinite().all()
    torch.testing.assert_close(by_hand, fused)


def test_a_row_of_minus_infinity_is_no_number_once_its_largest_is_subtracted() -> None:
    """Minus infinity from itself: NaN, before any power is taken or any sum divided by."""
    row = torch.full((3,), -math.inf)

    assert (row - row.amax()).isnan().all()
    assert row.softmax(-1).isnan().all()


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
