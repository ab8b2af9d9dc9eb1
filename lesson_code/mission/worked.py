"""Worked numbers of GPT-2 XL, as the mission's pages show them: printed, or named in a sentence."""

from typing import Literal, get_args

from lesson_code.mission.activations import (
    activation_bytes,
    io_activation_bytes,
    layer_activation_bytes,
    segmented_activation_bytes,
)
from lesson_code.mission.architecture import (
    GPT2_XL,
    castable_param_count,
    gpt_param_count,
    model_flops_per_token,
)
from lesson_code.mission.choices import (
    Component,
    Device,
    Optimizer,
    Recompute,
    Regime,
    require_choice,
)
from lesson_code.mission.constants import (
    A100_PEAK_FLOP_PER_S,
    CHAPTER_ACTIVATIONS_GB,
    CHAPTER_TOKENS_PER_S,
    GPT3_MFU,
    H100_PEAK_FLOP_PER_S,
    KERNEL_EFFICIENCY,
    OPTIMIZERS,
    REGIMES,
    ROUNDED_PARAMETERS,
    TRANSFER_BUSY,
    TRANSFER_BUSY_PREFETCHED,
    V100_FLOAT32_PEAK_FLOP_PER_S,
    V100_PEAK_FLOP_PER_S,
)
from lesson_code.mission.fit import device_budget_bytes, max_batch
from lesson_code.mission.memory import (
    ledger,
    ledger_total_bytes,
    logits_gradient_bytes,
    phase_bytes,
    state_bytes,
    static_bytes,
    step_peak_bytes,
    to_gb,
)
from lesson_code.mission.pipeline import pipeline
from lesson_code.mission.recomputation import recompute_flop_factor
from lesson_code.mission.utilisation import (
    iron_law_seconds,
    mfu_from_throughput,
    throughput_for_mfu,
)

Weights = Literal["exact", "rounded", "untied"]
Peak = Literal["v100", "v100_fp32", "a100", "h100"]
IterationNumber = Literal[
    "total_units",
    "data_share",
    "transfer_share",
    "compute_share",
    "utilisation",
    "kernel_efficiency",
    "mfu",
    "hfu",
    "speed",
]

N = gpt_param_count(GPT2_XL)
# The dense 16-bit tensor peak, or, for the older card, the one without tensor cores too.
PEAKS: dict[Peak, float] = {
    "v100": V100_PEAK_FLOP_PER_S,
    "v100_fp32": V100_FLOAT32_PEAK_FLOP_PER_S,
    "a100": A100_PEAK_FLOP_PER_S,
    "h100": H100_PEAK_FLOP_PER_S,
}
REGIME_NAMES: dict[Regime, str] = {
    "fp32": "FP32",
    "autocast": "PyTorch autocast",
    "zero_mixed": "ZeRO-style mixed",
    "pure16": "pure 16-bit",
}
PEAK_NAMES: dict[Peak, str] = {
    "v100": "V100",
    "v100_fp32": "V100, no tensor cores",
    "a100": "A100",
    "h100": "H100",
}
JOB_TOKENS = 10**9  # a small training set, so that the hours stay readable


def parameters(weights: Weights = "exact") -> int:
    """How many GPT-2 XL has: exactly, as the textbook rounds it, or with the head counted twice.

    Raises:
        ValueError: If ``weights`` is unknown.
    """
    require_choice("weights", weights, get_args(Weights))
    if weights == "rounded":
        return ROUNDED_PARAMETERS
    return gpt_param_count(GPT2_XL, tied=weights == "exact")


def static_memory(regime: Regime, optimizer: Optimizer, weights: Weights = "exact") -> int:
    """Bytes of parameters, gradients, master copy and state. Errors: as ``static_bytes``."""
    return static_bytes(regime, optimizer, parameters(weights))


def state_memory(regime: Regime, optimizer: Optimizer, weights: Weights = "exact") -> int:
    """Bytes of the optimizer's state alone. Errors: as ``state_bytes``."""
    return state_bytes(regime, optimizer, parameters(weights))


def state_share(device: Device) -> float:
    """Adam's float32 state as a share of what a device gives. Errors: as the two it divides."""
    return state_memory("fp32", "adam") / device_budget_bytes(device)


def ledger_part(part: Component, regime: Regime) -> int:
    """Bytes of one part of the ledger, with Adam and one text. Errors: as ``ledger``."""
    return ledger(regime, "adam", "none", 1)[part]


def total_memory(
    regime: Regime, recompute: Recompute, batch: int, optimizer: Optimizer = "adam"
) -> int:
    """Bytes of all parts at once. Errors: as ``ledger``."""
    return ledger_total_bytes(regime, optimizer, recompute, batch)


def activation_memory(regime: Regime, recompute: Recompute, batch: int) -> int:
    """Bytes that wait for backward. Errors: as ``activation_bytes``."""
    return activation_bytes(regime, recompute, batch, GPT2_XL)


def score_share(regime: Regime) -> float:
    """The part of the activations that is attention scores. Errors: as ``activation_bytes``."""
    whole, without = (activation_memory(regime, kept, 1) for kept in ("none", "selective"))
    return 1 - without / whole


def activation_saving(regime: Regime, every: int) -> float:
    """How many times less waits with checkpoints. Errors: as ``segmented_activation_bytes``."""
    kept = segmented_activation_bytes(regime, every, 1, GPT2_XL)
    return activation_bytes(regime, "none", 1, GPT2_XL) / kept


def recompute_cost() -> float:
    """The arithmetic that recomputing every layer adds, as a share of a step's."""
    return recompute_flop_factor("full") - 1


def batch_of_chapter_activations() -> float:
    """At which batch the float32 activations are the 65 GB that the textbook gives for batch 32."""
    return CHAPTER_ACTIVATIONS_GB / to_gb(activation_bytes("fp32", "none", 1, GPT2_XL))


def fused_step_memory() -> int:
    """Bytes of float32 SGD that updates inside backward, so that gradients never add up.

    Batch 1, each layer recomputed: parameters, and what waits for backward beside the gradients of
    the logits, are all that is left.
    """
    kept = phase_bytes("fp32", "sgd", "full", 1)["forward"]
    return kept + logit_gradient_memory("fp32", 1)


def logit_gradient_memory(regime: Regime, batch: int) -> int:
    """Bytes of GPT-2 XL's gradients of the logits. Errors: as ``logits_gradient_bytes``."""
    return logits_gradient_bytes(regime, batch, GPT2_XL)


def open_layer_memory(batch: int) -> int:
    """Bytes of one float32 layer that is open while it is recomputed, late in backward.

    Raises:
        ValueError: If ``batch`` is no positive whole number.
    """
    return layer_activation_bytes("fp32", batch, GPT2_XL)


def largest_batch(regime: Regime, recompute: Recompute) -> int:
    """With Adam on the training node, gradients freed. Errors: as ``max_batch``."""
    return max_batch(regime, "adam", recompute, device_budget_bytes("node"))


def iteration_number(
    number: IterationNumber,
    prefetch: bool = False,
    mixed: bool = False,
    checkpoint: bool = False,
    batch: int = 32,
    tensor: int = 1,
) -> float:
    """One number of the pipeline model; the baseline's if no optimisation is named.

    Raises:
        ValueError: If ``number`` is unknown; otherwise as ``pipeline``.
    """
    require_choice("number", number, get_args(IterationNumber))
    found: float = getattr(pipeline(prefetch, mixed, checkpoint, batch, tensor), number)
    return found


def busy_transfers(prefetch: bool) -> float:
    """The share of the transfers in which some kernel runs, as the model is calibrated."""
    return TRANSFER_BUSY_PREFETCHED if prefetch else TRANSFER_BUSY


def best_float32_utilisation(busy: float = TRANSFER_BUSY_PREFETCHED) -> float:
    """The accelerator utilisation of prefetching and checkpoints in float32 at batch 16.

    No configuration in float32 that fits comes closer to the target.

    Args:
        busy: The share of the transfers in which some kernel runs, from 0 to 1.
    """
    found = pipeline(prefetch=True, mixed=False, checkpoint=True, batch=min(KERNEL_EFFICIENCY))
    return found.compute_share + busy * found.transfer_share


def gain_points(number: IterationNumber) -> float:
    """Percentage points from the baseline to all three optimisations, batch 32.

    Raises:
        ValueError: If ``number`` is unknown.
    """
    after = iteration_number(number, prefetch=True, mixed=True, checkpoint=True)
    return 100 * (after - iteration_number(number))


def largest_mfu() -> float:
    """Over all switches and batches of the instrument."""
    switches = (False, True)
    return max(
        pipeline(prefetch, mixed, checkpoint, batch).mfu
        for prefetch in switches
        for mixed in switches
        for checkpoint in switches
        for batch in KERNEL_EFFICIENCY
    )


def implied_mfu(peak: Peak) -> float:
    """The MFU of the textbook's throughput, for GPT-2 XL.

    Raises:
        ValueError: If the peak is unknown; otherwise as ``mfu_from_throughput``.
    """
    require_choice("peak", peak, tuple(PEAKS))
    return mfu_from_throughput(CHAPTER_TOKENS_PER_S, model_flops_per_token(GPT2_XL), PEAKS[peak])


def tokens_per_s(mfu: float, peak: Peak) -> float:
    """Tokens of GPT-2 XL a second, at this MFU.

    Raises:
        ValueError: If the peak is unknown; otherwise as ``throughput_for_mfu``.
    """
    require_choice("peak", peak, tuple(PEAKS))
    return throughput_for_mfu(mfu, model_flops_per_token(GPT2_XL), PEAKS[peak])


def flop_per_token() -> int:
    """FLOP of one token's forward and backward pass."""
    return model_flops_per_token(GPT2_XL)


def job_hours() -> float:
    """Hours that 10⁹ tokens take one A100 at the MFU that the textbook gives for GPT-3."""
    ops = model_flops_per_token(GPT2_XL) * JOB_TOKENS
    return iron_law_seconds(ops, 1, A100_PEAK_FLOP_PER_S, GPT3_MFU) / 3600


def print_parameters() -> None:
    """Where GPT-2 XL's parameters are."""
    arch = GPT2_XL
    token, position = arch.vocab * arch.d_model, arch.context * arch.d_model
    norm = 2 * arch.d_model
    rows = {
        "token embedding": token,
        "position embedding": position,
        f"{arch.n_layer} blocks": N - token - position - norm,
        "last layer norm": norm,
        "total": N,
        "of these, autocast casts": castable_param_count(arch),
    }
    for name, count in rows.items():
        print(f"{name:<25}{count:>14,}")


def print_static() -> None:
    """Bytes per parameter and GB of what does not depend on the batch."""
    print(f"{'':<18}" + "".join(f"{optimizer:>16}" for optimizer in OPTIMIZERS))
    for regime in REGIMES:
        cells = []
        for optimizer in OPTIMIZERS:
            size = static_bytes(regime, optimizer, N)
            cells.append(f"{size // N:>4} B {to_gb(size):>6.2f} GB")
        print(f"{REGIME_NAMES[regime]:<18}" + "".join(cells))


def print_layer() -> None:
    """What one layer keeps of one text, and what lies outside the layers."""
    values = GPT2_XL.context * GPT2_XL.d_model
    print(f"{'':<18}{'one layer':>12}{'per value':>12}{'outside':>12}")
    for regime in REGIMES:
        layer = layer_activation_bytes(regime, 1, GPT2_XL)
        outside = io_activation_bytes(regime, 1, GPT2_XL)
        sizes = f"{to_gb(layer):>9.3f} GB{layer // values:>10} B{to_gb(outside):>9.3f} GB"
        print(f"{REGIME_NAMES[regime]:<18}{sizes}")


def print_checkpoints() -> None:
    """What waits for backward with a checkpoint around so many layers, one text, 16 bit."""
    kept = activation_bytes("zero_mixed", "none", 1, GPT2_XL)
    print(f"nothing recomputed     {to_gb(kept):6.3f} GB")
    for every in (12, 4, 1):
        saving = activation_saving("zero_mixed", every)
        name = "every layer" if every == 1 else f"every {every} layers"
        print(f"{name:<21}{to_gb(kept / saving):>8.3f} GB, {saving:4.1f} times less")


def print_step() -> None:
    """What lies in memory at each moment of a step, and what the two rules call its size."""
    step: tuple[Regime, Optimizer, Recompute, int] = ("fp32", "adam", "none", 1)
    for phase, size in phase_bytes(*step).items():
        print(f"{phase:<14}{to_gb(size):6.2f} GB")
    print(f"step peak     {to_gb(step_peak_bytes(*step)):6.2f} GB")
    print(f"ledger total  {to_gb(ledger_total_bytes(*step)):6.2f} GB")


def print_four_numbers() -> None:
    """The four utilisations of the baseline and of all three optimisations, smallest first."""
    print(f"{'':<26}{'baseline':>10}{'all three':>12}")
    columns = [pipeline(on, on, on, 32) for on in (False, True)]
    rows = {
        "MFU": [column.mfu for column in columns],
        "HFU": [column.hfu for column in columns],
        "compute share": [column.compute_share for column in columns],
        "accelerator utilisation": [column.utilisation for column in columns],
        "1 - data share": [1 - column.data_share for column in columns],
    }
    for name, (before, after) in rows.items():
        print(f"{name:<26}{before:>10.1%}{after:>12.1%}")


def print_chapter_throughput() -> None:
    """The MFU that the textbook's tokens per second imply, on three cards."""
    print(f"{CHAPTER_TOKENS_PER_S:,} tokens/s, {flop_per_token():.4g} FLOP per token")
    for name, peak in PEAKS.items():
        print(f"{PEAK_NAMES[name]:<22}{peak / 1e12:>6.1f} TFLOP/s{implied_mfu(name):>8.1%}")
