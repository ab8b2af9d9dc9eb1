"""The mission's worked numbers: what pages name in sentences, and what they print."""

from collections.abc import Callable
from itertools import product
from typing import get_args

import pytest

from lesson_code.mission import worked
from lesson_code.mission.choices import Regime
from lesson_code.mission.constants import GPT3_MFU, KERNEL_EFFICIENCY, REGIMES, TARGET_UTILISATION
from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import step_peak_bytes
from lesson_code.mission.pipeline import pipeline, pipeline_memory


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (1_557_611_200, worked.parameters()),
        (1_500_000_000, worked.parameters("rounded")),
        (1_638_022_400, worked.parameters("untied")),
        (12_460_889_600, worked.static_memory("fp32", "sgd")),
        (24_000_000_000, worked.static_memory("fp32", "adam", "rounded")),
        (12_460_889_600, worked.state_memory("fp32", "adam")),
        (6_000_000_000, worked.state_memory("fp32", "momentum", "rounded")),
        (3_111_324_800, worked.ledger_part("copies", "autocast")),
        (16_735_670_272, worked.ledger_part("activations", "fp32")),
        (41_657_449_472, worked.total_memory("fp32", "none", 1)),
        (13_340_124_672, worked.total_memory("fp32", "full", 1, "sgd")),
        (387_735_289_856, worked.activation_memory("autocast", "none", 32)),
        (72, worked.largest_batch("autocast", "full")),
        (1_376_256_000, worked.open_layer_memory(4)),
        (10_273_545_600, worked.flop_per_token()),
    ],
)
def test_counts_are_exact(expected: int, found: int) -> None:
    """Parameters, bytes, batches and operations are whole numbers."""
    assert expected == found


@pytest.mark.parametrize(("regime", "batch"), [("fp32", 13), ("autocast", 14)])
def test_adams_temporaries_cost_up_to_a_quarter_and_with_more_texts_nothing(
    regime: Regime, batch: int
) -> None:
    """Beside the model's peak, each layer recomputed; at 16 texts and more it is the same."""
    step = worked.static_memory(regime, "adam") + worked.ledger_part("params", regime)
    peaks = [step_peak_bytes(regime, "adam", "full", texts) for texts in range(1, 65)]
    added = [max(step / peak, 1) - 1 for peak in peaks]

    assert 0.25 == pytest.approx(added[0]) == pytest.approx(max(added))
    assert [True] * batch + [False] * (64 - batch) == [more > 0 for more in added]


@pytest.mark.parametrize("regime", REGIMES)
def test_checkpoints_save_more_than_four_times_up_to_every_eighth_layer(regime: Regime) -> None:
    """From every twelfth on they save less, and at no interval exactly four times."""
    intervals = [n for n in range(1, 49) if 48 % n == 0]
    saved = {every: worked.activation_saving(regime, every) for every in intervals}

    assert [1, 2, 3, 4, 6, 8] == [every for every, times in saved.items() if times > 4]
    assert 4 not in saved.values()


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (0.1558, worked.state_share("node")),
        (16.447, worked.activation_saving("zero_mixed", 1)),
        (9.178, worked.activation_saving("zero_mixed", 4)),
        (0.3178, worked.recompute_cost()),
        (0.7269, worked.score_share("autocast")),
        (3.884, worked.batch_of_chapter_activations()),
        (7.1773e9, worked.fused_step_memory()),
        (39.63, worked.gain_points("utilisation")),
        (14.82, worked.gain_points("mfu")),
        (0.45, worked.iteration_number("utilisation")),
        (2.65, worked.iteration_number("speed", True, True, True, tensor=2)),
        (0.590, worked.largest_mfu()),
        (0.1225, worked.iteration_number("mfu", tensor=2)),
        (0.40, worked.busy_transfers(prefetch=False)),
        (0.48, worked.busy_transfers(prefetch=True)),
        (0.7945, worked.best_float32_utilisation()),
        (0.8005, worked.best_float32_utilisation(0.5)),
        (0.0986, worked.implied_mfu("v100")),
        (0.785, worked.implied_mfu("v100_fp32")),
        (10_342, worked.tokens_per_s(0.85, "v100")),
        (20.326, worked.job_hours()),
    ],
)
def test_ratios_are_close(expected: float, found: float) -> None:
    """Shares, factors and hours, to about a thousandth."""
    assert expected == pytest.approx(found, rel=2e-3)


@pytest.mark.parametrize("number", get_args(worked.IterationNumber))
def test_each_number_is_that_of_the_iteration(number: worked.IterationNumber) -> None:
    """By its name there, with the switches, the batch and the speed that are asked for."""
    for prefetch, mixed, checkpoint in product((False, True), repeat=3):
        expected = getattr(pipeline(prefetch, mixed, checkpoint, 64, 2), number)

        assert expected == worked.iteration_number(number, prefetch, mixed, checkpoint, 64, 2)


def test_in_the_hours_of_the_job_one_gpu_reads_a_billion_tokens() -> None:
    """At the tokens a second of that MFU."""
    tokens = worked.tokens_per_s(GPT3_MFU, "a100") * 3600 * worked.job_hours()

    assert tokens == pytest.approx(1e9)


def test_no_float32_configuration_that_fits_is_busier() -> None:
    """The calibration leaves the target to mixed precision, as the page says."""
    budget = device_budget_bytes("node")
    fitting = [
        pipeline(prefetch, False, checkpoint, batch).utilisation
        for prefetch, checkpoint, batch in product((False, True), (False, True), KERNEL_EFFICIENCY)
        if step_peak_bytes(*pipeline_memory(False, checkpoint), batch) <= budget
    ]

    assert max(fitting) == worked.best_float32_utilisation() < TARGET_UTILISATION
    assert worked.best_float32_utilisation(0.5) > TARGET_UTILISATION


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: worked.parameters("odd"), "weights must be one of"),  # type: ignore[arg-type]
        (lambda: worked.implied_mfu("tpu"), "peak must be one of"),  # type: ignore[arg-type]
        (lambda: worked.tokens_per_s(0.5, "tpu"), "peak must be one of"),  # type: ignore[arg-type]
        (lambda: worked.gain_points("joy"), "number must be one of"),  # type: ignore[arg-type]
    ],
)
def test_unknown_names_are_refused(call: Callable[[], float], what: str) -> None:
    """The message lists what there is."""
    with pytest.raises(ValueError, match=what):
        call()


@pytest.mark.parametrize(
    ("show", "line"),
    [
        (worked.print_parameters, "total                     1,557,611,200"),
        (worked.print_static, "FP32                 8 B  12.46 GB  12 B  18.69 GB  16 B  24.92 GB"),
        (worked.print_static, "pure 16-bit          4 B   6.23 GB   6 B   9.35 GB   8 B  12.46 GB"),
        (worked.print_layer, "PyTorch autocast      0.246 GB       150 B    0.320 GB"),
        (worked.print_layer, "ZeRO-style mixed      0.187 GB       114 B    0.214 GB"),
        (worked.print_checkpoints, "every 4 layers          1.000 GB,  9.2 times less"),
        (worked.print_step, "step peak      35.84 GB"),
        (worked.print_four_numbers, "accelerator utilisation        45.0%       84.6%"),
        (worked.print_chapter_throughput, "V100                   125.0 TFLOP/s    9.9%"),
        (worked.print_chapter_throughput, "V100, no tensor cores   15.7 TFLOP/s   78.5%"),
        (worked.print_chapter_throughput, "A100                   312.0 TFLOP/s    4.0%"),
        (worked.print_chapter_throughput, "H100                   989.4 TFLOP/s    1.2%"),
    ],
)
def test_what_pages_print(
    show: Callable[[], None], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line of each output, letter for letter."""
    show()

    assert line in capsys.readouterr().out.splitlines()
