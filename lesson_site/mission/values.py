"""The numbers in the mission's sentences that the catalogue of figures does not write this way.

A text names them in double brackets; none is typed there.
"""

from functools import cache

from lesson_code.mission.activations import activation_bytes
from lesson_code.mission.architecture import GPT2_XL
from lesson_code.mission.choices import Regime
from lesson_code.mission.comparisons import chapter_walkthrough_gb, mixed_saving, quantity_bytes
from lesson_code.mission.constants import (
    BASELINE_BATCH,
    CHAPTER_ACTIVATIONS_GB,
    CHAPTER_CHECKPOINTING_SAVING,
    CHAPTER_STEPS,
    GB,
    KERNEL_EFFICIENCY,
    LOADER_WORKERS,
    MIXED_TRANSFER,
    RECOMPUTED_FORWARD,
)
from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import (
    bytes_per_param,
    ledger_total_bytes,
    optimizer_tax_bytes,
    static_bytes,
)
from lesson_code.mission.pipeline import BASELINE_ITERATION_UNITS, pipeline, upgrade_speedup
from lesson_code.mission.worked import activation_saving, fused_step_memory, state_memory
from lesson_site.mission.controls import PRECISION
from lesson_site.mission.memory_tables import WALKTHROUGH_BATCH
from lesson_site.mission.numbers import exact_gb, factor, fine_gb, gb, percent, times
from lesson_site.mission.rows import PARAMETERS, pipeline_rows

PREFETCH_FACTOR = 2  # batches that each worker holds ready; the default of PyTorch's DataLoader
TWICE = 2.0
CHECKPOINT_EVERY = 4  # layers, in the answer's example of a coarser checkpoint


@cache
def values() -> dict[str, str]:
    """Each number as the sentences have it, without its unit."""
    return {**_memory(), **_pipeline(), **_textbook(), "fp16": PRECISION["fp16"]}


def _memory() -> dict[str, str]:
    node, laptop = device_budget_bytes("node"), device_budget_bytes("laptop")
    floor, weights = static_bytes("fp32", "sgd", PARAMETERS), bytes_per_param("fp32")
    # What rounding loses, kept in 16 bits beside each 16-bit weight and its gradient.
    compensated = static_bytes("pure16", "sgd", PARAMETERS) + 2 * PARAMETERS
    return {
        "node": gb(node),
        "laptop": gb(laptop),
        "start": fine_gb(ledger_total_bytes("fp32", "adam", "none", 4)),
        "state": fine_gb(state_memory("fp32", "adam")),
        "pure16_state": fine_gb(optimizer_tax_bytes("pure16", PARAMETERS)),
        "floor_bytes": f"{floor // PARAMETERS}",
        "floor_over": exact_gb(floor - laptop),
        # All that is there beside the weights at the fullest moment of a step at batch 1, when
        # everything is recomputed and the optimizer step is part of backward.
        "fused_rest": exact_gb(fused_step_memory() - weights["params"] * PARAMETERS),
        # The gradient that begins in the head and ends where the tokens come in.
        "embedding": exact_gb(weights["grads"] * GPT2_XL.vocab * GPT2_XL.d_model),
        "compensated": exact_gb(compensated),
        "kept_activations": exact_gb(activation_bytes("fp32", "full", 1, GPT2_XL)),
        "billions": f"{PARAMETERS / GB:.2f}",
        "state_bytes": f"{quantity_bytes('state', 'autocast')}",
        "static_bytes": f"{_static('fp32')} bytes per parameter in FP32 and {_static('autocast')} "
        "with autocast",
        "pure16_bytes": f"{_static('pure16')}",
        "activations_saving": factor(mixed_saving("activations", "autocast")),
        "autocast_saving": factor(mixed_saving("ledger", "autocast", WALKTHROUGH_BATCH)),
        "zero_saving": factor(mixed_saving("ledger", "zero_mixed", WALKTHROUGH_BATCH)),
        "every_fourth_saving": f"{activation_saving('zero_mixed', CHECKPOINT_EVERY):.1f}",
        "fewer_activations": f"{activation_saving('autocast', 1):.1f}",
        "full_saving": f"{activation_saving('fp32', 1):.1f}",
    }


def _static(regime: Regime) -> int:
    return quantity_bytes("static", regime)


def _pipeline() -> dict[str, str]:
    rows = pipeline_rows()
    usual = {key: row for key, row in rows.items() if key.endswith("/1")}  # no tensor effect
    reached = [key for key, row in usual.items() if row["target"] == "reached"]
    best = max(reached, key=lambda key: rows[key]["pointers"][1])
    batch = best.split("/")[3]
    stored = rows[f"1/1/0/{batch}/1"]
    start = pipeline(False, False, False, BASELINE_BATCH)
    prefetched = pipeline(True, False, False, BASELINE_BATCH)
    small = pipeline(False, False, False, min(KERNEL_EFFICIENCY))
    every, every_tensor = (rows[f"1/1/1/{BASELINE_BATCH}/{tensor}"] for tensor in (1, 2))
    tensor_mfu = pipeline(False, False, False, BASELINE_BATCH, tensor=2).mfu
    upgraded = upgrade_speedup(TWICE)
    return {
        "workers": f"{LOADER_WORKERS}",
        "prefetched_batches": f"{LOADER_WORKERS * PREFETCH_FACTOR}",
        "mixed_transfer": f"{100 * MIXED_TRANSFER:.0f}",
        "recompute": f"{100 * RECOMPUTED_FORWARD:.0f}",
        "recompute_share": percent(RECOMPUTED_FORWARD),
        **{f"efficiency_{b}": f"{100 * KERNEL_EFFICIENCY[b]:.0f}" for b in (16, 32, 256)},
        "reached": f"{len(reached)}",
        "best_batch": batch,
        "best_mfu": rows[best]["mfu"],
        "best_memory": rows[best]["memory_gb"],
        "best_peak": rows[best]["peak_gb"],
        "stored_mfu": stored["mfu"],
        "stored_memory": stored["memory_gb"],
        "all_utilisation": every["utilisation"],
        "all_speed": every["speed"],
        "tensor_speed": every_tensor["speed"],
        "tensor_mfu": f"{100 * tensor_mfu:.2f}",
        "mfu_gain": f"{every['pointers'][1] - 100 * start.mfu:.1f}",
        "upgraded_units": f"{BASELINE_ITERATION_UNITS / upgraded:.1f}",
        "upgraded_speed": times(upgraded),
        "data_share": f"{100 * start.data_share:.0f}",
        "prefetched_data_share": f"{100 * prefetched.data_share:.0f}",
        "prefetched_speed": times(prefetched.speed),
        "small_efficiency": f"{small.kernel_efficiency:.2f}",
        "small_speed": times(small.speed),
    }


def _textbook() -> dict[str, str]:
    full_gb, mixed_gb, _ = chapter_walkthrough_gb()
    momentum, adam = CHAPTER_STEPS["momentum"], CHAPTER_STEPS["adam"]
    if momentum is None or adam is None:
        raise ValueError("the textbook's steps of momentum and of Adam must be known")
    halved_gb = CHAPTER_ACTIVATIONS_GB / 2
    return {
        "momentum_steps": f"{momentum:,}",
        "adam_steps": f"{adam:,}",
        "steps_saved": f"{momentum - adam:,}",
        "steps_ratio": f"{momentum / adam:.0f}",  # at least; SGD takes no fewer than momentum
        "checkpointing_saving": f"{CHAPTER_CHECKPOINTING_SAVING}",
        "textbook_saving": f"{full_gb:.0f} → {mixed_gb:.1f} GB, {factor(full_gb / mixed_gb)}",
        "textbook_activations": f"{CHAPTER_ACTIVATIONS_GB}",
        "textbook_halved": f"{halved_gb:.1f}",
        "textbook_checkpointed": f"{halved_gb / CHAPTER_CHECKPOINTING_SAVING:.1f}",
    }
