"""The values that the mission's pages rest on, one by one.

Bytes and counts are exact, percentages hold to 0.005 points, times to the last digit given.
"""

import pytest

from lesson_code.mission.activations import (
    activation_bytes,
    layer_activation_bytes,
    segmented_activation_bytes,
)
from lesson_code.mission.architecture import (
    GPT2_SMALL,
    GPT2_XL,
    castable_param_count,
    gpt_param_count,
    model_flops_per_token,
)
from lesson_code.mission.choices import Optimizer, Recompute, Regime
from lesson_code.mission.comparisons import chapter_walkthrough_gb
from lesson_code.mission.constants import (
    A100_PEAK_FLOP_PER_S,
    H100_PEAK_FLOP_PER_S,
    V100_FLOAT32_PEAK_FLOP_PER_S,
    V100_PEAK_FLOP_PER_S,
)
from lesson_code.mission.fit import max_batch
from lesson_code.mission.memory import (
    ledger_total_bytes,
    optimizer_tax_bytes,
    static_bytes,
    step_peak_bytes,
    to_gb,
    to_gib,
    weight_copy_bytes,
)
from lesson_code.mission.pipeline import kernel_efficiency, pipeline, upgrade_speedup
from lesson_code.mission.recomputation import recompute_flop_factor
from lesson_code.mission.utilisation import (
    host_batch_bytes,
    iron_law_seconds,
    mfu_from_throughput,
    throughput_for_mfu,
)

ROUNDED = 1_500_000_000
N = 1_557_611_200
F = model_flops_per_token(GPT2_XL)
PERCENT = 0.005


def test_v01_to_v04_parameters_and_their_copies() -> None:
    """The head is the token embedding; autocast casts nearly all."""
    assert gpt_param_count(GPT2_XL) == N
    assert gpt_param_count(GPT2_SMALL) == 124_439_808
    assert castable_param_count(GPT2_XL) == 1_555_662_400
    assert weight_copy_bytes("autocast", GPT2_XL) == 3_111_324_800
    assert to_gb(weight_copy_bytes("autocast", GPT2_XL)) == pytest.approx(3.11, abs=0.005)


@pytest.mark.parametrize(
    ("regime", "optimizer", "n_params", "expected"),
    [
        ("fp32", "sgd", ROUNDED, 12_000_000_000),
        ("fp32", "momentum", ROUNDED, 18_000_000_000),
        ("fp32", "adam", ROUNDED, 24_000_000_000),
        ("pure16", "sgd", ROUNDED, 6_000_000_000),
        ("fp32", "sgd", N, 12_460_889_600),
        ("fp32", "momentum", N, 18_691_334_400),
        ("fp32", "adam", N, 24_921_779_200),
        ("autocast", "adam", N, 24_921_779_200),
        ("zero_mixed", "adam", N, 24_921_779_200),
        ("zero_mixed", "sgd", N, 12_460_889_600),
        ("pure16", "sgd", N, 6_230_444_800),
        ("pure16", "momentum", N, 9_345_667_200),
        ("pure16", "adam", N, 12_460_889_600),
    ],
)
def test_static_bytes(regime: Regime, optimizer: Optimizer, n_params: int, expected: int) -> None:
    """Parameters, gradients, master copy and state."""
    assert expected == static_bytes(regime, optimizer, n_params)


def test_v18_to_v21_what_adam_takes_more() -> None:
    """Twelve gigabytes, which are fewer gibibytes."""
    assert optimizer_tax_bytes("fp32", ROUNDED) == 12_000_000_000
    assert optimizer_tax_bytes("fp32", N) == 12_460_889_600
    assert optimizer_tax_bytes("pure16", N) == 6_230_444_800
    assert to_gib(static_bytes("fp32", "adam", N)) == pytest.approx(23.21, abs=0.005)


@pytest.mark.parametrize(
    ("regime", "expected"),
    [
        ("zero_mixed", 186_777_600),
        ("autocast", 245_760_000),
        ("fp32", 344_064_000),
    ],
)
def test_bytes_of_a_layer(regime: Regime, expected: int) -> None:
    """114, 150 and 210 bytes for each of the 1,638,400 values."""
    assert expected == layer_activation_bytes(regime, 1, GPT2_XL)


@pytest.mark.parametrize(
    ("regime", "recompute", "batch", "expected"),
    [
        ("zero_mixed", "none", 1, 9_179_369_472),
        ("zero_mixed", "selective", 1, 2_887_913_472),
        ("zero_mixed", "full", 1, 558_108_672),
        ("autocast", "none", 1, 12_116_727_808),
        ("autocast", "selective", 1, 3_308_689_408),
        ("autocast", "full", 1, 880_580_608),
        ("fp32", "none", 1, 16_735_670_272),
        ("fp32", "selective", 1, 5_411_049_472),
        ("fp32", "full", 1, 879_235_072),
        ("pure16", "none", 1, 9_076_443_136),
        ("pure16", "selective", 1, 2_784_987_136),
        ("pure16", "full", 1, 455_182_336),
        ("fp32", "none", 4, 66_942_681_088),
        ("zero_mixed", "none", 32, 293_739_823_104),
    ],
)
def test_activation_bytes(regime: Regime, recompute: Recompute, batch: int, expected: int) -> None:
    """All that waits for backward."""
    assert expected == activation_bytes(regime, recompute, batch, GPT2_XL)


@pytest.mark.parametrize(
    ("every", "expected"),
    [(4, 1_000_476_672), (12, 2_468_483_072)],
)
def test_bytes_with_several_layers_under_a_checkpoint(every: int, expected: int) -> None:
    """Each segment's input, and the inside of one."""
    assert expected == segmented_activation_bytes("zero_mixed", every, 1, GPT2_XL)


@pytest.mark.parametrize(
    ("regime", "optimizer", "recompute", "batch", "expected"),
    [
        ("fp32", "adam", "none", 1, 41_657_449_472),
        ("fp32", "adam", "none", 4, 91_864_460_288),
        ("autocast", "adam", "none", 4, 76_500_015_232),
        ("autocast", "adam", "full", 4, 31_555_426_432),
        ("zero_mixed", "adam", "none", 4, 61_639_257_088),
        ("zero_mixed", "adam", "full", 4, 27_154_213_888),
        ("autocast", "adam", "full", 32, 56_211_683_456),
        ("autocast", "adam", "full", 64, 84_390_262_912),
        ("fp32", "sgd", "full", 1, 13_340_124_672),
        ("autocast", "sgd", "full", 1, 16_452_795_008),
        ("zero_mixed", "sgd", "full", 1, 13_018_998_272),
        ("pure16", "sgd", "full", 1, 6_685_627_136),
        ("pure16", "sgd", "full", 2, 7_140_809_472),
        ("pure16", "sgd", "full", 4, 8_051_174_144),
    ],
)
def test_ledger_total(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, expected: int
) -> None:
    """All parts at once."""
    assert expected == ledger_total_bytes(regime, optimizer, recompute, batch)


@pytest.mark.parametrize(
    ("regime", "optimizer", "recompute", "batch", "expected"),
    [
        pytest.param("fp32", "adam", "none", 4, 87_280_836_864),
        pytest.param("autocast", "adam", "full", 64, 72_655_246_720),
        pytest.param("fp32", "sgd", "full", 1, 12_460_889_600),
        pytest.param("pure16", "sgd", "full", 4, 6_230_444_800),
    ],
)
def test_step_peak(
    regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int, expected: int
) -> None:
    """The fullest moment of a step that frees its gradients."""
    assert expected == step_peak_bytes(regime, optimizer, recompute, batch)


def test_v59_to_v63_largest_batches_the_chapters_ledger_and_arithmetic() -> None:
    """What fits 80 GB, 89 GB that become 32, and a third more arithmetic."""
    assert max_batch("autocast", "adam", "none", 80e9) == 4
    assert max_batch("autocast", "adam", "full", 80e9) == 72
    assert chapter_walkthrough_gb() == [89.0, 56.5, 32.125]
    assert model_flops_per_token(GPT2_XL) == 10_273_545_600
    assert recompute_flop_factor("full") == pytest.approx(1.3177, abs=5e-5)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (16, 0.60),
        (32, 0.70),
        (64, 0.79),
        (128, 0.86),
        (256, 0.91),
    ],
)
def test_kernel_efficiency(batch: int, expected: float) -> None:
    """Larger batches use the arithmetic units better."""
    assert expected == kernel_efficiency(batch)


@pytest.mark.parametrize(
    ("switches", "batch", "tensor", "percent", "units", "speed"),
    [
        ("000", 32, 1, (40.00, 25.00, 35.00, 45.00, 24.50, 24.50), 100.000, 1.000),
        ("100", 32, 1, (5.00, 39.58, 55.42, 74.42, 38.79, 38.79), 63.158, 1.583),
        ("010", 32, 1, (45.71, 14.29, 40.00, 45.71, 28.00, 28.00), 87.500, 1.143),
        ("001", 32, 1, (35.82, 22.39, 41.79, 50.75, 21.94, 29.25), 111.667, 0.896),
        ("110", 32, 1, (5.00, 25.00, 70.00, 82.00, 49.00, 49.00), 50.000, 2.000),
        ("101", 32, 1, (5.00, 33.14, 61.86, 77.77, 32.48, 43.30), 75.439, 1.326),
        ("011", 32, 1, (40.34, 12.61, 47.06, 52.10, 24.71, 32.94), 99.167, 1.008),
        ("111", 32, 1, (5.00, 20.07, 74.93, 84.56, 39.34, 52.45), 62.281, 1.606),
        ("111", 16, 1, (5.00, 17.74, 77.26, 85.78, 34.77, 46.36), 70.468, 1.419),
        ("111", 64, 1, (5.00, 22.05, 72.95, 83.53, 43.22, 57.63), 56.684, 1.764),
        ("110", 256, 1, (5.00, 30.12, 64.88, 79.34, 59.04, 59.04), 41.498, 2.410),
        ("101", 16, 1, (5.00, 29.90, 65.10, 79.45, 29.30, 39.06), 83.626, 1.196),
        ("111", 32, 2, (5.00, 33.14, 61.86, 77.77, 32.48, 43.30), 37.719, 2.651),
    ],
    ids=[f"V{number}" for number in range(69, 82)],
)
def test_pipeline(
    switches: str,
    batch: int,
    tensor: int,
    percent: tuple[float, ...],
    units: float,
    speed: float,
) -> None:
    """Shares of data, transfers and compute, utilisation, MFU and HFU; time and speed."""
    prefetch, mixed, checkpoint = (switch == "1" for switch in switches)

    found = pipeline(prefetch, mixed, checkpoint, batch, tensor)

    shares = (found.data_share, found.transfer_share, found.compute_share)
    measures = (found.utilisation, found.mfu, found.hfu)
    assert percent == pytest.approx([100 * s for s in (*shares, *measures)], abs=PERCENT)
    assert units == pytest.approx(found.total_units, abs=5e-4)
    assert speed == pytest.approx(found.speed, abs=5e-4)


@pytest.mark.parametrize(
    ("peak_flop_per_s", "expected", "tolerance"),
    [
        (V100_PEAK_FLOP_PER_S, 9.86, PERCENT),
        (A100_PEAK_FLOP_PER_S, 3.95, PERCENT),
        (H100_PEAK_FLOP_PER_S, 1.25, PERCENT),
        (V100_FLOAT32_PEAK_FLOP_PER_S, 78.5, 0.05),
    ],
)
def test_what_the_chapters_throughput_means(
    peak_flop_per_s: float, expected: float, tolerance: float
) -> None:
    """1,200 tokens per second are little on each of these devices."""
    mfu = mfu_from_throughput(1200, F, peak_flop_per_s)

    assert expected == pytest.approx(100 * mfu, abs=tolerance)


def test_v86_to_v89_throughput_time_speedup_and_a_batch_of_tokens() -> None:
    """What follows from utilisation, and from twice the arithmetic."""
    assert throughput_for_mfu(0.85, F, 125e12) == pytest.approx(10_342, abs=0.5)
    assert iron_law_seconds(1e9 * F, 1, 312e12, 0.45) == pytest.approx(73_173, abs=0.5)
    assert iron_law_seconds(1e9 * F, 1, 312e12, 0.45) / 3600 == pytest.approx(20.3, abs=0.05)
    assert upgrade_speedup(2.0) == pytest.approx(1.212, abs=5e-4)
    assert host_batch_bytes(32, 1024) == 262_144
