"""The tables of optimizers and number formats, recomputation's arithmetic, and utilisation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_code.accounting import model_flop_per_s, transformer_training_flop
from lesson_code.lab.checkpoint_segments import alive_in_backward, best_size
from lesson_code.mission.architecture import (
    GPT2_XL,
    forward_layer_flops_per_token,
    gpt_param_count,
    model_flops_per_token,
)
from lesson_code.mission.comparisons import (
    Quantity,
    chapter_walkthrough_gb,
    mixed_saving,
    optimizer_table,
    quantity_bytes,
)
from lesson_code.mission.constants import REGIMES, ROUNDED_PARAMETERS
from lesson_code.mission.memory import to_gb
from lesson_code.mission.recomputation import even_cost_saving, recompute_flop_factor
from lesson_code.mission.utilisation import (
    iron_law_seconds,
    mfu_from_throughput,
    throughput_for_mfu,
)

FLOP_PER_TOKEN = model_flops_per_token(GPT2_XL)


def test_the_optimizer_table() -> None:
    """Three columns of multiples, each with its own definition, and the chapter's steps."""
    rows = optimizer_table(gpt_param_count(GPT2_XL))

    assert ["sgd", "momentum", "adam"] == [row.optimizer for row in rows]
    assert [1, 2, 3] == [row.weights_and_state for row in rows]
    assert [1.0, 1.5, 2.0] == [row.static_to_sgd for row in rows]
    assert [2.0, 3.0, 4.0] == [row.static_to_weights for row in rows]
    assert [12.46, 18.69, 24.92] == [round(to_gb(row.static_bytes), 2) for row in rows]
    assert [None, 150_000, 50_000] == [row.steps for row in rows]


def test_adam_takes_three_times_without_gradients_and_twice_with_them() -> None:
    """6 GB become 18, and 12 GB become 24."""
    sgd, _, adam = optimizer_table(ROUNDED_PARAMETERS)

    weights_gb = to_gb(4 * ROUNDED_PARAMETERS)
    assert [6, 18] == [weights_gb * row.weights_and_state for row in (sgd, adam)]
    assert [12, 24] == [to_gb(row.static_bytes) for row in (sgd, adam)]


@pytest.mark.parametrize(
    ("quantity", "batch", "autocast", "zero_mixed", "pure16"),
    [
        ("element", 1, 2.0, 2.0, 2.0),
        ("params_grads", 1, 1.0, 1.0, 2.0),
        ("state", 1, 1.0, 1.0, 2.0),
        ("static", 1, 1.0, 1.0, 2.0),
        ("activations", 1, 1.38, 1.82, 1.84),
        ("ledger", 4, 1.20, 1.49, 1.88),
    ],
)
def test_what_mixed_precision_makes_smaller(
    quantity: Quantity, batch: int, autocast: float, zero_mixed: float, pure16: float
) -> None:
    """Only 16-bit tensors halve; with float32 weights the static total does not shrink."""
    found = [mixed_saving(quantity, regime, batch) for regime in REGIMES]

    assert pytest.approx([1.0, autocast, zero_mixed, pure16], abs=0.005) == found


def test_a_saving_is_that_of_one_text_where_no_batch_is_named() -> None:
    """The ledger's grows with the batch."""
    one, two = (mixed_saving("ledger", "zero_mixed", batch) for batch in (1, 2))

    assert mixed_saving("ledger", "zero_mixed") == one < two


def test_the_quantities_behind_those_ratios() -> None:
    """Bytes per element or parameter, and gigabytes."""
    expected: dict[Quantity, list[int]] = {
        "element": [4, 2, 2, 2],
        "params_grads": [8, 8, 8, 4],
        "state": [8, 8, 8, 4],
        "static": [16, 16, 16, 8],
    }
    for quantity, sizes in expected.items():
        assert sizes == [quantity_bytes(quantity, regime) for regime in REGIMES]
    assert [16.74, 12.12, 9.18, 9.08] == [
        round(to_gb(quantity_bytes("activations", regime)), 2) for regime in REGIMES
    ]
    assert [91.9, 76.5, 61.6, 48.8] == [
        round(to_gb(quantity_bytes("ledger", regime, 4)), 1) for regime in REGIMES
    ]


def test_the_chapters_own_saving() -> None:
    """89 GB become 56.5 and 32.1: 1.58 and 2.8 times less."""
    full, mixed, recomputed = chapter_walkthrough_gb()

    assert full / mixed == pytest.approx(1.58, abs=0.005)
    assert full / recomputed == pytest.approx(2.8, abs=0.05)


def test_recomputation_costs_a_third_of_the_layers_and_less_of_the_whole() -> None:
    """The head is not computed again."""
    forward = forward_layer_flops_per_token(GPT2_XL)

    assert (forward + 3 * forward) / (3 * forward) == pytest.approx(4 / 3)
    assert recompute_flop_factor("full") == pytest.approx(1.318, abs=5e-4)
    assert recompute_flop_factor("none") == 1


def test_the_square_root_argument_saves_less_than_a_transformer_does() -> None:
    """48 layers, 7 under a checkpoint: 3.5 times less, 71 % saved."""
    saving = even_cost_saving(48, 7)

    assert saving == pytest.approx(3.5, abs=0.05)
    assert 1 - 1 / saving == pytest.approx(0.71, abs=0.005)
    assert saving == pytest.approx(48 / alive_in_backward(48, 7, 1, 1))
    assert round(best_size(48, 1, 1)) == 7


def test_one_checkpoint_around_all_layers_saves_nothing() -> None:
    """All of them are recomputed at once, and the one input comes on top."""
    assert even_cost_saving(48, 48) == pytest.approx(48 / 49)


def test_flop_per_token_are_a_tenth_more_than_six_for_each_parameter() -> None:
    """Attention's products and the tied head come on top of the rule of thumb."""
    rule = transformer_training_flop(gpt_param_count(GPT2_XL), 1)

    assert rule == pytest.approx(9.35e9, rel=1e-3)
    assert pytest.approx(1.0274e10, rel=1e-4) == FLOP_PER_TOKEN


def test_the_chapters_throughput_is_a_tenth_of_its_gpu() -> None:
    """1,200 tokens per second are 12.3 TFLOP/s."""
    assert model_flop_per_s(FLOP_PER_TOKEN, 1200) == pytest.approx(12.3e12, abs=0.05e12)
    assert mfu_from_throughput(1200, FLOP_PER_TOKEN, 125e12) == pytest.approx(0.099, abs=5e-4)


@given(st.floats(1e-6, 0.999), st.floats(1, 1e15), st.floats(1e9, 1e18))
def test_throughput_and_mfu_are_each_others_inverse(
    mfu: float, flop_per_token: float, peak_flop_per_s: float
) -> None:
    """There and back gives the same share."""
    tokens_per_s = throughput_for_mfu(mfu, flop_per_token, peak_flop_per_s)

    assert mfu == pytest.approx(mfu_from_throughput(tokens_per_s, flop_per_token, peak_flop_per_s))


def test_devices_share_a_job() -> None:
    """Four that each do a sixteenth of 10^15 operations in a second need 4,000 s for 10^18."""
    assert 4_000 == iron_law_seconds(1e18, 4, peak_flop_per_s=125e12, eta=0.5)
