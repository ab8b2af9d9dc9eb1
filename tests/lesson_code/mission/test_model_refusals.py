"""The model is pure, and says in one sentence what it does not accept."""

import inspect
import subprocess
import sys
from collections.abc import Callable

import pytest

from lesson_code.mission.activations import (
    activation_bytes,
    io_activation_bytes,
    layer_activation_bytes,
    segmented_activation_bytes,
)
from lesson_code.mission.architecture import GPT2_XL, Arch
from lesson_code.mission.comparisons import mixed_saving, optimizer_table
from lesson_code.mission.decisions import (
    laptop_outcome,
)
from lesson_code.mission.fit import (
    axis_max_gb,
    device_budget_bytes,
    max_batch,
    oom_cause,
    verdict,
)
from lesson_code.mission.memory import (
    bytes_per_param,
    kept_copy_bytes,
    ledger,
    ledger_total_bytes,
    logits_gradient_bytes,
    optimizer_vectors,
    regime_for,
    static_bytes,
    step_peak_bytes,
    weight_copy_bytes,
)
from lesson_code.mission.pipeline import (
    kernel_efficiency,
    pipeline,
    rounded_shares,
    upgrade_speedup,
)
from lesson_code.mission.recomputation import even_cost_saving, recompute_flop_factor
from lesson_code.mission.utilisation import (
    host_batch_bytes,
    iron_law_seconds,
    mfu_from_throughput,
    throughput_for_mfu,
)

MODULES = (
    "activations",
    "architecture",
    "choices",
    "comparisons",
    "constants",
    "decisions",
    "fit",
    "memory",
    "pipeline",
    "recomputation",
    "utilisation",
)


def test_the_model_needs_neither_pytorch_nor_numpy() -> None:
    """The site computes with it, on a machine that has neither; nothing is printed on import."""
    imports = "".join(f"import lesson_code.mission.{name}\n" for name in MODULES)
    program = f"import sys\n{imports}assert not {{'torch', 'numpy'}} & set(sys.modules)\n"

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (0, "", "") == (run.returncode, run.stdout, run.stderr)


NO_COUNTS = [0, -1, True, 1.0, "1", None]


@pytest.mark.parametrize("count", NO_COUNTS)
@pytest.mark.parametrize(
    "call",
    [
        lambda n: Arch(n, 1600, 25, 50257, 1024),
        lambda n: Arch(48, 1600, 25, 50257, n),
        lambda n: static_bytes("fp32", "sgd", n),
        lambda n: activation_bytes("fp32", "none", n, GPT2_XL),
        lambda n: layer_activation_bytes("fp32", n, GPT2_XL),
        lambda n: io_activation_bytes("fp32", n, GPT2_XL),
        lambda n: ledger("fp32", "sgd", "none", n),
        lambda n: ledger_total_bytes("fp32", "sgd", "none", n),
        lambda n: step_peak_bytes("fp32", "sgd", "none", n),
        lambda n: logits_gradient_bytes("fp32", n, GPT2_XL),
        lambda n: segmented_activation_bytes("fp32", n, 1, GPT2_XL),
        lambda n: oom_cause("fp32", "sgd", "none", n, 8e9),
        lambda n: laptop_outcome("fp32", "sgd", "none", n),
        lambda n: mixed_saving("ledger", "fp32", n),
        lambda n: optimizer_table(n),
        lambda n: iron_law_seconds(1, n, 1, 1),
        lambda n: host_batch_bytes(n, 1),
        lambda n: host_batch_bytes(1, n),
        lambda n: host_batch_bytes(1, 1, n),
        lambda n: even_cost_saving(n, 1),
        lambda n: even_cost_saving(48, n),
    ],
)
def test_counts_are_whole_numbers_above_zero(
    call: Callable[[object], object], count: object
) -> None:
    """Neither zero nor a truth value is one."""
    with pytest.raises(ValueError, match=r"must be a whole number of at least 1, got"):
        call(count)


@pytest.mark.parametrize("count", [0, -1, True, 1.0, "1"])
def test_the_length_of_a_text_is_a_count(count: int) -> None:
    """None stands for the context."""
    with pytest.raises(ValueError, match=r"seq must be a whole number of at least 1, got"):
        activation_bytes("fp32", "none", 1, GPT2_XL, seq=count)


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        (
            lambda: bytes_per_param("fp16"),
            "regime .* fp32, autocast, zero_mixed, pure16, got 'fp16'",
        ),
        (lambda: weight_copy_bytes("mixed", GPT2_XL), "regime .* fp32, autocast, zero_mixed"),
        (lambda: activation_bytes("int8", "none", 1, GPT2_XL), "regime must be one of fp32"),
        (lambda: logits_gradient_bytes("int8", 1, GPT2_XL), "regime must be one of fp32"),
        (lambda: optimizer_vectors("Adam"), "optimizer must be one of sgd, momentum, adam"),
        (lambda: static_bytes("fp32", "lion", 1), "optimizer must be one of sgd, momentum, adam"),
        (lambda: kept_copy_bytes("fp32", "some", GPT2_XL), "recompute must be one of none, sel"),
        (lambda: ledger("fp32", "sgd", "some", 1), "recompute .* none, selective, full"),
        (lambda: regime_for("bf16", "zero"), "precision must be one of fp32, mixed, fp16"),
        (lambda: regime_for("mixed", "apex"), "bookkeeping must be one of autocast, zero"),
        (lambda: device_budget_bytes("phone"), "device must be one of node, laptop"),
        (lambda: max_batch("fp32", "sgd", "none", 8e9, "most"), "rule must be one of peak, ledger"),
        (lambda: mixed_saving("time", "fp32"), "quantity must be one of element, params_grads"),
        (lambda: recompute_flop_factor("selective"), "recompute must be one of none, full"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(
    call: Callable[[], object], allowed: str
) -> None:
    """The message lists what would have been accepted."""
    with pytest.raises(ValueError, match=allowed):
        call()


@pytest.mark.parametrize("batch", [0, 1, 33, True, "32", None])
def test_the_pipeline_knows_five_batches(batch: int) -> None:
    """There is no kernel efficiency for others."""
    for call in (kernel_efficiency, lambda b: pipeline(True, True, True, b)):
        with pytest.raises(ValueError, match="one of 16, 32, 64, 128, 256"):
            call(batch)


@pytest.mark.parametrize("number", [0, -1.0, float("inf"), float("nan"), True, "8"])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: verdict(1, 1, x),
        lambda x: max_batch("fp32", "sgd", "none", x),
        lambda x: oom_cause("fp32", "sgd", "none", 1, x),
        lambda x: axis_max_gb(x, (100,)),
        lambda x: upgrade_speedup(x),
        lambda x: mfu_from_throughput(x, 1, 1),
        lambda x: mfu_from_throughput(1, x, 1),
        lambda x: mfu_from_throughput(1, 1, x),
        lambda x: throughput_for_mfu(x, 1, 1),
        lambda x: throughput_for_mfu(1, x, 1),
        lambda x: throughput_for_mfu(1, 1, x),
        lambda x: iron_law_seconds(x, 1, 1, 1),
        lambda x: iron_law_seconds(1, 1, x, 1),
        lambda x: iron_law_seconds(1, 1, 1, x),
    ],
)
def test_amounts_are_finite_numbers_above_zero(
    call: Callable[[object], object], number: object
) -> None:
    """Bytes, rates and shares alike."""
    with pytest.raises(ValueError, match="must be a number above 0, got"):
        call(number)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: static_bytes("fp32", "sgd", 0), "^n_params must be a whole number"),
        (lambda: Arch(48, 0, 25, 50257, 1024), "^d_model must be a whole number"),
        (lambda: activation_bytes("fp32", "none", 0, GPT2_XL), "^batch must be a whole number"),
        (lambda: segmented_activation_bytes("fp32", 0, 1, GPT2_XL), "^every must be a whole"),
        (lambda: logits_gradient_bytes("fp32", 0, GPT2_XL), "^batch must be a whole number"),
        (lambda: throughput_for_mfu(1.1, 1, 1), "MFU must be at most 1, got 1.1"),
        (lambda: mfu_from_throughput(2, 1, 1), "MFU must be at most 1, got 2"),
        (lambda: iron_law_seconds(1, 1, 1, 45), "eta must be at most 1, got 45"),
        (lambda: segmented_activation_bytes("fp32", 5, 1, GPT2_XL), "every must divide the 48"),
        (lambda: even_cost_saving(4, 5), "every must be at most the 4 layers, got 5"),
        (lambda: axis_max_gb(1, ()), "steps must be ascending"),
        (lambda: axis_max_gb(1, (200, 100)), "steps must be ascending"),
        (lambda: axis_max_gb(1, (0, 100)), "steps must be ascending"),
        (lambda: axis_max_gb(1, (100, 100)), "steps must be ascending"),
        (lambda: axis_max_gb(0, (100,)), "^total_gb must be a number above 0"),
        (lambda: verdict(1, 1, 0), "^budget_bytes must be a number above 0"),
        (lambda: max_batch("fp32", "sgd", "none", 0), "^budget_bytes must be a number above 0"),
        (lambda: pipeline(True, True, True, 32, 3), "tensor must be 1 or 2, got 3"),
        (lambda: pipeline(True, True, True, 32, True), "tensor must be 1 or 2, got True"),
        (lambda: rounded_shares(0.5, 0.4, 0.2), "add up to 1"),
        (lambda: rounded_shares(0.5, 0.25, 0.25 + 1.005e-9), "add up to 1"),
        (lambda: rounded_shares(-0.5, 0.5, 1.0), "must not be negative"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object], message: str) -> None:
    """Each with a sentence of its own."""
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        *(mfu_from_throughput, throughput_for_mfu, iron_law_seconds, host_batch_bytes),
        *(upgrade_speedup, even_cost_saving),
    ],
)
def test_an_amount_that_is_refused_is_named(call: Callable[..., float]) -> None:
    """As the function's own arguments are; a share called `mfu` is the MFU."""
    names = list(inspect.signature(call).parameters)

    for name in names:
        said = "MFU" if name == "mfu" else name
        with pytest.raises(ValueError, match=f"^{said} must be "):
            call(**dict.fromkeys(names, 1) | {name: 0})
