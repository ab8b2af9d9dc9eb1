"""Where the time of an iteration goes, and what three optimisations make of it.

A model of shares, fitted to the textbook's two profiles; a measured machine will differ. Time is
that of one sample, in hundredths of what the baseline takes for it at batch 32.
"""

import math
from dataclasses import dataclass
from typing import Literal

from lesson_code.mission.choices import Optimizer, Recompute, Regime, require_positive
from lesson_code.mission.constants import (
    BASELINE_BATCH,
    COMPUTE_UNITS,
    DATA_UNITS,
    HANDOFF_SHARE,
    KERNEL_EFFICIENCY,
    LOADER_WORKERS,
    MIXED_TRANSFER,
    RECOMPUTED_FORWARD,
    TARGET_UTILISATION,
    TRANSFER_BUSY,
    TRANSFER_BUSY_PREFETCHED,
    TRANSFER_UNITS,
)
from lesson_code.mission.fit import Verdict

TargetState = Literal["reached", "below", "over_memory"]
BASELINE_ITERATION_UNITS = DATA_UNITS + TRANSFER_UNITS + COMPUTE_UNITS


@dataclass(frozen=True)
class Iteration:
    """One iteration, its times for each sample in hundredths of the baseline's iteration.

    What always holds: mfu ≤ hfu ≤ compute_share ≤ utilisation ≤ 1 - data_share.

    Attributes:
        total_units: The whole.
        data_units: The loop waits for the next batch.
        transfer_units: Traffic of device memory, and waits for copies.
        compute_units: Tensor arithmetic of forward and backward, without what is recomputed.
        recompute_units: The forward pass once more.
        data_share: Of the whole, as are all shares.
        transfer_share: See ``transfer_units``.
        compute_share: What is recomputed included.
        useful_share: Compute without what is recomputed.
        utilisation: Share of the time in which any kernel runs.
        kernel_efficiency: FLOP/s during compute as a share of the dense 16-bit peak.
        mfu: Model FLOP utilisation, which leaves recomputation out.
        hfu: Hardware FLOP utilisation, which counts it.
        speed: Throughput relative to the baseline's.
    """

    total_units: float
    data_units: float
    transfer_units: float
    compute_units: float
    recompute_units: float
    data_share: float
    transfer_share: float
    compute_share: float
    useful_share: float
    utilisation: float
    kernel_efficiency: float
    mfu: float
    hfu: float
    speed: float


def kernel_efficiency(batch: int) -> float:
    """FLOP/s during compute as a share of the peak.

    Source: the textbook at 16, 32 and 256; in between as ``KERNEL_EFFICIENCY`` says.

    Args:
        batch: Texts in a batch; one of those that the instrument offers.

    Raises:
        ValueError: If there is no value for this batch.
    """
    if batch not in KERNEL_EFFICIENCY:
        allowed = ", ".join(map(str, KERNEL_EFFICIENCY))
        raise ValueError(f"batch must be one of {allowed}, got {batch!r}")
    return KERNEL_EFFICIENCY[batch]


def pipeline(
    prefetch: bool, mixed: bool, checkpoint: bool, batch: int, tensor: int = 1
) -> Iteration:
    """One iteration with some of the optimisations.

    Args:
        prefetch: Eight workers load behind the device's work, into pinned memory.
        mixed: Tensor arithmetic in 16 bits; the model halves the transfers, as the textbook does.
        checkpoint: Each layer is recomputed in backward.
        batch: Texts in a batch; one of those that the instrument offers.
        tensor: How many times faster mixed precision computes: 1 leaves that out of the model,
            2 is tensor cores that halve the time.

    Raises:
        ValueError: If there is no value for this batch, or ``tensor`` is neither 1 nor 2.
    """
    if isinstance(tensor, bool) or tensor not in (1, 2):
        raise ValueError(f"tensor must be 1 or 2, got {tensor!r}")
    efficiency = kernel_efficiency(batch)
    # --8<-- [start:times]
    compute = COMPUTE_UNITS * kernel_efficiency(BASELINE_BATCH) / efficiency
    transfer: float = TRANSFER_UNITS
    if mixed:
        compute /= tensor
        transfer *= MIXED_TRANSFER
    else:
        efficiency /= tensor  # of the 16-bit peak, which slower arithmetic does not reach
    recomputed = compute * RECOMPUTED_FORWARD if checkpoint else 0.0
    device = transfer + compute + recomputed
    if prefetch:
        # Overlapped stages are paced by the slowest; the hand-over stays exposed.
        handoff = device * HANDOFF_SHARE / (1 - HANDOFF_SHARE)
        total = max(DATA_UNITS / LOADER_WORKERS, device) + handoff
        transfer_busy = TRANSFER_BUSY_PREFETCHED
    else:
        total = DATA_UNITS + device
        transfer_busy = TRANSFER_BUSY
    compute_share, useful_share = (compute + recomputed) / total, compute / total
    # --8<-- [end:times]
    return Iteration(
        total_units=total,
        data_units=total - device,
        transfer_units=transfer,
        compute_units=compute,
        recompute_units=recomputed,
        data_share=(total - device) / total,
        transfer_share=transfer / total,
        compute_share=compute_share,
        useful_share=useful_share,
        # --8<-- [start:shares]
        utilisation=compute_share + transfer_busy * transfer / total,
        kernel_efficiency=efficiency,
        mfu=useful_share * efficiency,
        hfu=compute_share * efficiency,
        # --8<-- [end:shares]
        speed=BASELINE_ITERATION_UNITS / total,
    )


def try_times() -> None:
    """Where the time of a step goes."""
    # --8<-- [start:try_times]
    found = pipeline(prefetch=True, mixed=False, checkpoint=False, batch=32)
    print(f"data {found.data_share:.1%}, transfers {found.transfer_share:.1%}", end=", ")
    print(f"compute {found.compute_share:.1%}")
    # --8<-- [end:try_times]


def try_shares() -> None:
    """The two shares that are easily confused."""
    # --8<-- [start:try_shares]
    found = pipeline(prefetch=True, mixed=True, checkpoint=True, batch=32)
    print(f"MFU {found.mfu:.1%}, accelerator utilisation {found.utilisation:.1%}")
    # --8<-- [end:try_shares]


def pipeline_memory(mixed: bool, checkpoint: bool) -> tuple[Regime, Optimizer, Recompute]:
    """What the switches of the pipeline mean for the memory ledger.

    Args:
        mixed: PyTorch's autocast, or float32.
        checkpoint: Each layer is recomputed, or nothing.

    Returns:
        The first three arguments of ``ledger``.
    """
    return "autocast" if mixed else "fp32", "adam", "full" if checkpoint else "none"


def rounded_shares(
    data_share: float, transfer_share: float, compute_share: float
) -> tuple[float, float, float]:
    """The shares in percent with one decimal, which add up to 100.0.

    Each is rounded down, and the tenths that are missing go to those that lost most.

    Args:
        data_share: Of an iteration.
        transfer_share: Of an iteration.
        compute_share: Of an iteration.

    Raises:
        ValueError: If a share is negative, or their sum is not 1.
    """
    shares = (data_share, transfer_share, compute_share)
    if min(shares) < 0 or not math.isclose(1, sum(shares)):
        raise ValueError(f"shares must not be negative and add up to 1, got {shares}")
    exact = [1000 * share for share in shares]
    tenths = [math.floor(value) for value in exact]
    by_loss = sorted(range(3), key=lambda i: tenths[i] - exact[i])
    for i in by_loss[: 1000 - sum(tenths)]:
        tenths[i] += 1
    data, transfer, compute = (value / 10 for value in tenths)
    return data, transfer, compute


def target_state(iteration: Iteration, memory: Verdict) -> TargetState:
    """Whether an iteration is busy enough, in memory that there is.

    Args:
        iteration: Its utilisation must be 80 % or more.
        memory: The verdict on its memory; gradients may have to be freed.
    """
    if iteration.utilisation < TARGET_UTILISATION:
        return "below"
    return "over_memory" if memory == "over" else "reached"


def upgrade_speedup(compute_factor: float) -> float:
    """How much faster the baseline gets on a GPU that computes faster and does nothing else.

    Args:
        compute_factor: How many times faster it computes.

    Raises:
        ValueError: If the factor is not above zero.
    """
    require_positive("compute_factor", compute_factor)
    upgraded_units = DATA_UNITS + TRANSFER_UNITS + COMPUTE_UNITS / compute_factor
    return BASELINE_ITERATION_UNITS / upgraded_units
