"""The memory ledger: its tables, and what holds for every configuration."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_code.lab.checkpoint_segments import alive_in_backward
from lesson_code.lab.state_bytes import Precision
from lesson_code.lab.state_bytes import state_bytes as lab_state_bytes
from lesson_code.mission.activations import (
    activation_bytes,
    io_activation_bytes,
    kept_activation_bytes,
    layer_activation_bytes,
    layer_input_bytes,
    segmented_activation_bytes,
)
from lesson_code.mission.architecture import GPT2_SMALL, GPT2_XL, Arch, gpt_param_count
from lesson_code.mission.choices import Component, Optimizer, Recompute, Regime
from lesson_code.mission.constants import (
    LEDGER_BATCHES,
    OPTIMIZERS,
    RECOMPUTATIONS,
    REGIMES,
    ROUNDED_PARAMETERS,
)
from lesson_code.mission.memory import (
    bytes_per_param,
    kept_copy_bytes,
    ledger,
    ledger_total_bytes,
    logits_gradient_bytes,
    optimizer_tax_bytes,
    optimizer_vectors,
    phase_bytes,
    regime_for,
    state_bytes,
    static_bytes,
    step_peak_bytes,
    to_gb,
    to_gib,
    weight_copy_bytes,
)

N = gpt_param_count(GPT2_XL)
SBH = 1024 * 1600  # values between two layers, for one text
STATIC: tuple[Component, ...] = ("params", "grads", "master", "state1", "state2")

regimes, optimizers = st.sampled_from(REGIMES), st.sampled_from(OPTIMIZERS)
recomputations, batches = st.sampled_from(RECOMPUTATIONS), st.integers(1, 10_000)
sizes = st.integers(1, 3_000)
archs = st.builds(Arch, st.integers(1, 100), sizes, st.integers(1, 100), sizes, sizes)


def test_the_head_counts_twice_only_if_it_is_a_matrix_of_its_own() -> None:
    """GPT-2's is the token embedding."""
    assert gpt_param_count(GPT2_XL, tied=False) == 1_638_022_400


@pytest.mark.parametrize(
    ("regime", "expected"),
    [
        ("fp32", (4, 4, 0, 4, 4, 0)),
        ("autocast", (4, 4, 0, 4, 4, 2)),
        ("zero_mixed", (2, 2, 4, 4, 4, 0)),
        ("pure16", (2, 2, 0, 2, 2, 0)),
    ],
)
def test_bytes_per_parameter(regime: Regime, expected: tuple[int, ...]) -> None:
    """Parameters, gradients, master copy, two states, copies."""
    assert (*STATIC, "copies") == tuple(bytes_per_param(regime))
    assert expected == tuple(bytes_per_param(regime).values())


@pytest.mark.parametrize(
    ("optimizer", "with_float32", "pure16"), [("sgd", 8, 4), ("momentum", 12, 6), ("adam", 16, 8)]
)
def test_static_bytes_per_parameter(optimizer: Optimizer, with_float32: int, pure16: int) -> None:
    """The same in every regime that has float32 weights; half as much in pure 16 bit."""
    for regime in REGIMES:
        expected = pure16 if regime == "pure16" else with_float32

        assert expected == static_bytes(regime, optimizer, 1)


@pytest.mark.parametrize(
    ("regime", "optimizer", "gb", "gib", "rounded_gb"),
    [
        ("fp32", "sgd", 12.46, 11.61, 12.0),
        ("fp32", "momentum", 18.69, 17.41, 18.0),
        ("fp32", "adam", 24.92, 23.21, 24.0),
        ("pure16", "sgd", 6.23, 5.80, 6.0),
        ("pure16", "momentum", 9.35, 8.70, 9.0),
        ("pure16", "adam", 12.46, 11.61, 12.0),
    ],
)
def test_static_memory_of_gpt2_xl(
    regime: Regime, optimizer: Optimizer, gb: float, gib: float, rounded_gb: float
) -> None:
    """In decimal gigabytes, in gibibytes, and for a billion and a half parameters."""
    size = static_bytes(regime, optimizer, N)

    assert gb == pytest.approx(to_gb(size), abs=0.005)
    assert gib == pytest.approx(to_gib(size), abs=0.005)
    assert rounded_gb == to_gb(static_bytes(regime, optimizer, ROUNDED_PARAMETERS))


def test_weights_alone_are_half_in_16_bit() -> None:
    """6.23 GB and 3.12 GB; the rounded model's are 6 and 3."""
    full, half = ledger("fp32", "sgd", "none", 1), ledger("pure16", "sgd", "none", 1)

    assert to_gb(full["params"]) == pytest.approx(6.23, abs=0.005)
    assert to_gib(full["params"]) == pytest.approx(5.80, abs=0.005)
    assert to_gb(half["params"]) == pytest.approx(3.12, abs=0.005)
    assert to_gib(half["params"]) == pytest.approx(2.90, abs=0.005)
    assert full["params"] == 2 * half["params"]


@pytest.mark.parametrize(
    ("precision", "bookkeeping", "expected"),
    [
        ("fp32", "autocast", "fp32"),
        ("fp32", "zero", "fp32"),
        ("mixed", "autocast", "autocast"),
        ("mixed", "zero", "zero_mixed"),
        ("fp16", "autocast", "pure16"),
        ("fp16", "zero", "pure16"),
    ],
)
def test_controls_name_a_regime(precision: str, bookkeeping: str, expected: str) -> None:
    """Who keeps the float32 weights matters with mixed precision only."""
    assert expected == regime_for(precision, bookkeeping)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("regime", "none", "selective", "full"),
    [
        ("zero_mixed", 587.48, 184.83, 35.72),
        ("autocast", 775.47, 211.76, 56.36),
        ("fp32", 1071.08, 346.31, 56.27),
        ("pure16", 580.89, 178.24, 29.13),
    ],
)
def test_activations_at_the_largest_batch(
    regime: Regime, none: float, selective: float, full: float
) -> None:
    """In GB at batch 64."""
    expected: dict[Recompute, float] = {"none": none, "selective": selective, "full": full}
    for recompute, gb in expected.items():
        found = to_gb(activation_bytes(regime, recompute, 64, GPT2_XL))

        assert gb == pytest.approx(found, abs=0.005)


def test_a_layer_keeps_114_150_and_210_bytes_for_each_value() -> None:
    """GPT-2 XL has 16 attention scores for each value between its layers."""
    expected = {"zero_mixed": 114, "pure16": 114, "autocast": 150, "fp32": 210}
    for regime in REGIMES:
        assert expected[regime] * SBH == layer_activation_bytes(regime, 1, GPT2_XL)


def test_the_layers_without_what_lies_outside() -> None:
    """The published formula alone: 8.97, 2.67 and 0.157 GB for a text, inputs only with "full"."""
    layers = GPT2_XL.n_layer
    outside = io_activation_bytes("zero_mixed", 1, GPT2_XL)
    selective = activation_bytes("zero_mixed", "selective", 1, GPT2_XL) - outside
    inputs = layers * layer_input_bytes("zero_mixed", 1, GPT2_XL)

    expected = pytest.approx((8.97, 2.67, 0.157), abs=0.005)
    assert expected == (
        to_gb(layers * layer_activation_bytes("zero_mixed", 1, GPT2_XL)),
        to_gb(selective),
        to_gb(inputs),
    )
    assert pytest.approx(10.1, abs=0.05) == 64 * to_gb(inputs)


@pytest.mark.parametrize(
    ("regime", "every", "expected"),
    [
        ("zero_mixed", 1, 16.4),
        ("zero_mixed", 4, 9.2),
        ("zero_mixed", 12, 3.7),
        ("autocast", 1, 13.8),
        ("fp32", 1, 19.0),
    ],
)
def test_what_checkpoints_save_depends_on_their_distance(
    regime: Regime, every: int, expected: float
) -> None:
    """Fourfold is a safe lower bound for sensible distances, and exact for none."""
    whole = activation_bytes(regime, "none", 1, GPT2_XL)

    assert expected == pytest.approx(
        whole / segmented_activation_bytes(regime, every, 1, GPT2_XL), abs=0.05
    )


@given(regimes, batches, archs)
def test_a_checkpoint_around_each_layer_is_full_recomputation(
    regime: Regime, batch: int, arch: Arch
) -> None:
    """Both formulas give the same bytes."""
    expected = activation_bytes(regime, "full", batch, arch)

    assert expected == segmented_activation_bytes(regime, 1, batch, arch)


def test_segments_follow_the_rule_that_the_lab_teaches() -> None:
    """Each segment's input, and all inside the open one; the loss's share comes on top."""
    kept = layer_input_bytes("fp32", 2, GPT2_XL)
    inside = layer_activation_bytes("fp32", 2, GPT2_XL)
    outside = io_activation_bytes("fp32", 2, GPT2_XL)
    for every in (1, 2, 4, 12, 48):
        expected = alive_in_backward(GPT2_XL.n_layer, every, kept, inside) + outside

        assert expected == segmented_activation_bytes("fp32", every, 2, GPT2_XL)


@pytest.mark.parametrize(
    ("regime", "precision"),
    [("fp32", "float32"), ("autocast", "autocast"), ("pure16", "all 16 bit")],
)
def test_the_lab_and_the_mission_count_the_same_state(regime: Regime, precision: Precision) -> None:
    """Weights, gradients and state; the lab gives an upper bound for the copies."""
    names = {"sgd": "SGD", "momentum": "SGD with momentum", "adam": "Adam"}
    for optimizer in OPTIMIZERS:
        lab = lab_state_bytes(N, precision, names[optimizer])  # type: ignore[arg-type]

        expected = lab.weights + lab.gradients + lab.optimizer
        assert expected == static_bytes(regime, optimizer, N)
        assert lab.optimizer == state_bytes(regime, optimizer, N)
        assert lab.weight_copies_at_most >= weight_copy_bytes(regime, GPT2_XL)


@given(regimes, recomputations, batches, archs)
def test_activations_are_linear_in_the_batch(
    regime: Regime, recompute: Recompute, batch: int, arch: Arch
) -> None:
    """A batch keeps what its texts would keep one by one."""
    expected = batch * activation_bytes(regime, recompute, 1, arch)

    assert expected == activation_bytes(regime, recompute, batch, arch)


@given(regimes, recomputations, sizes, archs)
def test_a_text_may_be_shorter_than_the_context(
    regime: Regime, recompute: Recompute, seq: int, arch: Arch
) -> None:
    """It then keeps what it would in a model with that context."""
    shorter = Arch(arch.n_layer, arch.d_model, arch.n_head, arch.vocab, seq)

    expected = activation_bytes(regime, recompute, 1, shorter)
    assert expected == activation_bytes(regime, recompute, 1, arch, seq=seq)


def test_recomputing_more_keeps_less() -> None:
    """For GPT-2 in every regime and batch of the instrument."""
    for arch, regime, batch in product((GPT2_XL, GPT2_SMALL), REGIMES, LEDGER_BATCHES):
        none, selective, full = (
            activation_bytes(regime, recompute, batch, arch) for recompute in RECOMPUTATIONS
        )

        assert none > selective > full


@given(regimes, optimizers, recomputations, batches, archs)
def test_the_ledger_adds_up(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch
) -> None:
    """Its static parts are the static bytes, and a step holds these at least."""
    parts = ledger(regime, optimizer, recompute, batch, arch)
    total = ledger_total_bytes(regime, optimizer, recompute, batch, arch)
    static = static_bytes(regime, optimizer, gpt_param_count(arch))

    assert static == sum(parts[name] for name in STATIC)
    assert total == static + parts["copies"] + parts["activations"]
    assert static <= step_peak_bytes(regime, optimizer, recompute, batch, arch)


@given(regimes, optimizers, recomputations, batches, archs)
def test_a_larger_batch_changes_activations_alone(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch
) -> None:
    """They grow; neither the batch nor recomputation moves any other part."""
    one = ledger(regime, optimizer, "none", 1, arch)
    other = ledger(regime, optimizer, recompute, batch + 1, arch)
    same = ledger(regime, optimizer, recompute, 1, arch)

    assert same.pop("activations") < other.pop("activations")
    del one["activations"]
    assert one == same == other


def test_each_optimizer_adds_one_part_as_high_as_the_parameters() -> None:
    """SGD has no state, momentum one vector, Adam two."""
    for vectors, optimizer in enumerate(OPTIMIZERS):
        parts = ledger("fp32", optimizer, "none", 1)
        states = [parts["state1"], parts["state2"]]

        assert vectors == optimizer_vectors(optimizer)
        assert [parts["params"]] * vectors + [0] * (2 - vectors) == states


def test_three_to_six_parts_are_there_at_once() -> None:
    """Of seven that there are."""
    counts = {
        sum(size > 0 for size in ledger(regime, optimizer, recompute, 1).values())
        for regime, optimizer, recompute in product(REGIMES, OPTIMIZERS, RECOMPUTATIONS)
    }

    assert {3, 4, 5, 6} == counts
    assert len(ledger("fp32", "sgd", "none", 1)) == 7


def test_mixed_precision_leaves_the_static_parts_and_adds_copies() -> None:
    """Autocast changes neither weights nor gradients nor state; 16 bit everywhere halves them."""
    full, mixed, half = (ledger(r, "adam", "none", 1) for r in ("fp32", "autocast", "pure16"))

    assert [full[name] for name in STATIC] == [mixed[name] for name in STATIC]
    assert mixed["copies"] == 3_111_324_800
    assert [full[name] for name in STATIC] == [2 * half[name] for name in STATIC]


def test_under_a_checkpoint_the_heads_copy_alone_waits_for_backward() -> None:
    """Two bytes for each of its weights, and for each of all where nothing is recomputed."""
    waiting = [kept_copy_bytes("autocast", recompute, GPT2_XL) for recompute in RECOMPUTATIONS]

    assert [3_111_324_800, 3_111_324_800, 2 * 50_257 * 1_600] == waiting
    assert {0} == {kept_copy_bytes("fp32", recompute, GPT2_XL) for recompute in RECOMPUTATIONS}


def test_bytes_that_were_handed_out_can_be_changed() -> None:
    """What one caller does to them, no other sees."""
    bytes_per_param("fp32")["params"] = 0

    assert 4 == bytes_per_param("fp32")["params"]


@given(st.sampled_from(REGIMES), st.integers(1, 10**12))
def test_the_optimizer_tax_is_two_vectors(regime: Regime, n_params: int) -> None:
    """As many bytes as Adam's state has, since SGD has none."""
    assert optimizer_tax_bytes(regime, n_params) == state_bytes(regime, "adam", n_params)


def test_what_other_exits_from_the_laptops_limit_take() -> None:
    """Gradients that never coexist leave 7.11 GB; a compensated sum in 16 bit takes 9.35 GB."""
    parts = ledger("fp32", "sgd", "full", 1)
    compensated = static_bytes("pure16", "sgd", N) + 2 * N

    assert to_gb(parts["params"] + parts["activations"]) == pytest.approx(7.11, abs=0.005)
    assert to_gb(compensated) == pytest.approx(9.35, abs=0.005)


@pytest.mark.parametrize(
    ("arch", "regime", "batch", "expected_gb", "logits_gb"),
    [
        (GPT2_SMALL, "fp32", 4, (0.498, 1.493, 10.272, 1.991), 1.65),
        (GPT2_XL, "fp32", 1, (6.230, 18.691, 35.427, 24.922), 0.41),
        (GPT2_XL, "autocast", 4, (6.230, 18.691, 70.270, 24.922), 0.82),
    ],
)
def test_what_a_measurement_should_find_at_each_moment(
    arch: Arch, regime: Regime, batch: int, expected_gb: tuple[float, ...], logits_gb: float
) -> None:
    """The model alone, between steps, after forward, after backward; with Adam."""
    found = phase_bytes(regime, "adam", "none", batch, arch)

    assert ["model", "idle", "forward", "backward"] == list(found)
    assert expected_gb == pytest.approx([to_gb(size) for size in found.values()], abs=5e-4)
    gradients = logits_gradient_bytes(regime, batch, arch)
    assert logits_gb == pytest.approx(to_gb(gradients), abs=0.005)
    assert found["forward"] + gradients == step_peak_bytes(regime, "adam", "none", batch, arch)


@given(regimes, optimizers, recomputations, batches, archs)
def test_the_peak_of_a_step_is_one_of_backwards_two_ends(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch
) -> None:
    """What forward leaves beside the gradients of the logits, or all other gradients.

    tests/lesson_code/mission/test_model_against_torch.py counts both in PyTorch's backward pass.
    """
    found = phase_bytes(regime, optimizer, recompute, batch, arch)
    early = found["forward"] + logits_gradient_bytes(regime, batch, arch)

    expected = max(early, found["backward"])
    assert expected == step_peak_bytes(regime, optimizer, recompute, batch, arch)


def test_with_many_texts_a_step_holds_more_than_the_ledger() -> None:
    """The gradients of the logits are no part of it, and outgrow the others."""
    few, many = (
        (step_peak_bytes(*step), ledger_total_bytes(*step))
        for step in (("fp32", "adam", "none", batch) for batch in (4, 16))
    )

    assert few[0] < few[1]
    assert many[0] > many[1]


@given(regimes, optimizers, recomputations, batches, archs)
def test_after_forward_no_recomputed_layer_is_open(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, arch: Arch
) -> None:
    """With checkpoints its activations and the layers' copies come in backward; else all is there.

    On a GPU that is not there tests/benchmarks/cases/test_transformer_memory.py counts the same.
    """
    found = phase_bytes(regime, optimizer, recompute, batch, arch)
    part = ledger(regime, optimizer, recompute, batch, arch)
    missing = 0
    if recompute == "full":
        layers = weight_copy_bytes(regime, arch) - kept_copy_bytes(regime, "full", arch)
        missing = layer_activation_bytes(regime, batch, arch) + layers

    kept = kept_activation_bytes(regime, recompute, batch, arch)
    waiting = part["activations"] + part["copies"] - missing
    assert waiting == found["forward"] - found["idle"]
    assert waiting == kept + kept_copy_bytes(regime, recompute, arch)
