"""Every state of the three instruments, one row each, under the key that their controls spell.

A row holds numbers to draw with, and the texts of the same numbers; sentences are templates of
``texts`` that the browser fills with them. Nothing is computed anywhere else.
"""

from collections.abc import Callable
from itertools import accumulate, product
from typing import Any

from lesson_code.mission.architecture import GPT2_XL, gpt_param_count
from lesson_code.mission.choices import Optimizer, Recompute, Regime
from lesson_code.mission.constants import (
    KERNEL_EFFICIENCY,
    LAPTOP_AXIS_GB,
    LAPTOP_BATCHES,
    LEDGER_AXIS_GB,
    LEDGER_BATCHES,
    OPTIMIZERS,
    RECOMPUTATIONS,
    REGIMES,
)
from lesson_code.mission.decisions import laptop_outcome
from lesson_code.mission.fit import axis_max_gb, device_budget_bytes, oom_cause, verdict
from lesson_code.mission.memory import (
    ledger,
    ledger_total_bytes,
    state_bytes,
    static_bytes,
    step_peak_bytes,
    to_gb,
)
from lesson_code.mission.pipeline import pipeline, pipeline_memory, rounded_shares, target_state
from lesson_site.mission.numbers import fine_gb, gb, gib, percent, times

Row = dict[str, Any]
Rows = dict[str, Row]

PIPELINE_BATCHES = tuple(KERNEL_EFFICIENCY)
SWITCH = (0, 1)
TENSOR_EFFECTS = (1, 2)
PARAMETERS = gpt_param_count(GPT2_XL)


def ledger_rows() -> Rows:
    """The Training Memory Ledger: ``regime/optimizer/recompute/batch``."""
    return _memory_rows(LEDGER_BATCHES, _ledger_row)


def _ledger_row(regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int) -> Row:
    parts = ledger(regime, optimizer, recompute, batch)
    total = ledger_total_bytes(regime, optimizer, recompute, batch)
    peak = step_peak_bytes(regime, optimizer, recompute, batch)
    sizes = list(parts.values())
    row: Row = {
        "bytes": sizes,
        "gb": [gb(size) for size in sizes],
        "total": total,
        "total_gb": gb(total),
        "total_gib": gib(total),
        "peak_gb": gb(peak),
        "static_gb": gb(static_bytes(regime, optimizer, PARAMETERS)),
        "state_gb": gb(state_bytes(regime, optimizer, PARAMETERS)),
        "largest": sizes.index(max(sizes)),
        "axis": axis_max_gb(to_gb(total), LEDGER_AXIS_GB),
    }
    for device in ("node", "laptop"):
        budget = device_budget_bytes(device)
        row[device] = {
            "verdict": verdict(total, peak, budget),
            "cause": oom_cause(regime, optimizer, recompute, batch, budget),
            # To spare or over; the verdict says which.
            "difference_gb": gb(abs(budget - total)),
        }
    return row


def pipeline_rows() -> Rows:
    """The Pipeline Breakdown Analyzer: ``prefetch/mixed/checkpointing/batch/tensor effect``."""
    return {
        f"{prefetch}/{mixed}/{checkpoint}/{batch}/{tensor}": _pipeline_row(
            bool(prefetch), bool(mixed), bool(checkpoint), batch, tensor
        )
        for prefetch, mixed, checkpoint, batch, tensor in product(
            SWITCH, SWITCH, SWITCH, PIPELINE_BATCHES, TENSOR_EFFECTS
        )
    }


def _pipeline_row(prefetch: bool, mixed: bool, checkpoint: bool, batch: int, tensor: int) -> Row:
    iteration = pipeline(prefetch, mixed, checkpoint, batch, tensor)
    regime, optimizer, recompute = pipeline_memory(mixed, checkpoint)
    total = ledger_total_bytes(regime, optimizer, recompute, batch)
    peak = step_peak_bytes(regime, optimizer, recompute, batch)
    budget = device_budget_bytes("node")
    found = verdict(total, peak, budget)
    shares = rounded_shares(iteration.data_share, iteration.transfer_share, iteration.compute_share)
    parts = (
        *(iteration.data_units, iteration.transfer_units),
        *(iteration.compute_units, iteration.recompute_units),
    )
    stored = ledger(regime, optimizer, "none", batch)["activations"]
    kept = ledger(regime, optimizer, recompute, batch)["activations"]
    axis = axis_max_gb(to_gb(total), LEDGER_AXIS_GB)
    aim = target_state(iteration, found)
    near = "memory" if aim == "over_memory" and not checkpoint else None
    if (prefetch, mixed, checkpoint, batch) == (True, False, True, PIPELINE_BATCHES[0]):
        near = "fp32"
    return {
        # Where each part ends, for the bars: in hundredths of the baseline's iteration, in percent
        # of this one, and in percent of the memory's axis (what stays, and then activations).
        "unit_ends": [round(end, 4) for end in accumulate(parts)],
        "share_ends": [round(100 * end / iteration.total_units, 3) for end in accumulate(parts)],
        "memory_ends": [round(100 * to_gb(size) / axis, 3) for size in (total - kept, total)],
        "budget_end": round(100 * to_gb(budget) / axis, 3),
        "axis": f"{axis:,}",
        "total": f"{iteration.total_units:.1f}",
        # Data, transfers, compute with what it recomputes, recomputation alone.
        "units": [
            f"{units:.1f}" for units in (*parts[:2], iteration.compute_units + parts[3], parts[3])
        ],
        "shares": [f"{share:.1f}" for share in shares],
        "recompute_share": percent(iteration.recompute_units / iteration.total_units),
        "utilisation": percent(iteration.utilisation),
        "mfu": percent(iteration.mfu),
        "hfu": percent(iteration.hfu),
        # For the gauge's pointers, in percent.
        "pointers": [round(100 * iteration.utilisation, 3), round(100 * iteration.mfu, 3)],
        "efficiency": f"{100 * iteration.kernel_efficiency:.0f}",
        "speed": times(iteration.speed),
        "memory_gb": gb(total),
        "peak_gb": gb(peak),
        "over_gb": gb(max(0, total - budget)),
        "spare_gb": gb(max(0, budget - total)),
        "stored_gb": gb(stored),
        "activations_gb": gb(kept),
        "model_gb": gb(total - kept),
        "verdict": found,
        "target": aim,
        # Which sentence says why this configuration all but reaches the target.
        "near": near,
    }


def laptop_rows() -> Rows:
    """The laptop challenge: ``regime/optimizer/recompute/batch``."""
    return _memory_rows(LAPTOP_BATCHES, _laptop_row)


def _memory_rows(
    batches: tuple[int, ...], row: Callable[[Regime, Optimizer, Recompute, int], Row]
) -> Rows:
    """A row for each configuration, under its key."""
    configurations = product(REGIMES, OPTIMIZERS, RECOMPUTATIONS, batches)
    return {"/".join(map(str, each)): row(*each) for each in configurations}


def _laptop_row(regime: Regime, optimizer: Optimizer, recompute: Recompute, batch: int) -> Row:
    total = ledger_total_bytes(regime, optimizer, recompute, batch)
    peak = step_peak_bytes(regime, optimizer, recompute, batch)
    static = static_bytes(regime, optimizer, PARAMETERS)
    budget = device_budget_bytes("laptop")
    return {
        "total": total,
        "static": static,
        "total_gb": fine_gb(total),
        # As the design ledger keeps it.
        "kept_gb": round(to_gb(total), 2),
        "static_gb": fine_gb(static),
        "peak_gb": fine_gb(peak),
        "over_gb": fine_gb(max(0, total - budget)),
        "spare_gb": fine_gb(max(0, budget - total)),
        "rest_gb": fine_gb(total - static),
        "verdict": verdict(total, peak, budget),
        "outcome": laptop_outcome(regime, optimizer, recompute, batch),
        "axis": axis_max_gb(to_gb(total), LAPTOP_AXIS_GB),
    }
