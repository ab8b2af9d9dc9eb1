"""The tables of memory: what a training of GPT-2 XL takes, part by part and choice by choice."""

from typing import get_args

from lesson_code.mission.activations import activation_bytes, segmented_activation_bytes
from lesson_code.mission.architecture import GPT2_XL, castable_param_count
from lesson_code.mission.choices import Component, Optimizer, Recompute, Regime
from lesson_code.mission.comparisons import (
    OptimizerRow,
    Quantity,
    chapter_walkthrough_gb,
    mixed_saving,
    optimizer_table,
    quantity_bytes,
)
from lesson_code.mission.constants import (
    ACTIVATION_BYTES,
    CHAPTER_ACTIVATIONS_GB,
    CHAPTER_CHECKPOINTING_SAVING,
    LAPTOP_BATCHES,
    LEDGER_BATCHES,
    OPTIMIZERS,
    RECOMPUTATIONS,
    RECOMPUTED_FORWARD,
    REGIMES,
    ROUNDED_PARAMETERS,
)
from lesson_code.mission.fit import BatchRule, device_budget_bytes, max_batch
from lesson_code.mission.memory import (
    bytes_per_param,
    ledger_total_bytes,
    optimizer_tax_bytes,
    static_bytes,
    to_gb,
    to_gib,
    weight_copy_bytes,
)
from lesson_code.mission.recomputation import even_cost_saving, recompute_flop_factor
from lesson_site.mission.controls import COMPONENTS, OPTIMIZER, RECOMPUTE, REGIME_NAMES
from lesson_site.mission.numbers import exact_gb, factor, gb, percent, saving
from lesson_site.mission.rows import PARAMETERS, Row, laptop_rows
from lesson_site.mission.table import Table

NONE = "–"
ROUNDED = f"{to_gb(ROUNDED_PARAMETERS):.1f} billion"
WALKTHROUGH_BATCH = 4  # the textbook's activations are about as large as those of four texts
# Layers under one checkpoint, in the checks of the textbook's figure; 7 is about the square root
# of the layers, where the simple argument saves most.
INTERVALS = (1, 4, 12)
ROOT_INTERVAL = 7
VERDICTS = {
    "fits": "fits, numerically unsafe",
    "fits_if_grads_freed": "only if gradients are freed",
    "over": "over",
}


def bytes_table() -> Table:
    """Bytes of each parameter in the four regimes."""
    components: tuple[Component, ...] = get_args(Component)
    labels = {**COMPONENTS, "state1": "Momentum, or Adam’s first moment m"}
    labels |= {"state2": "Adam’s second moment v", "copies": "16-bit weight copies, transient"}
    parts = tuple(
        (labels[part], *(str(bytes_per_param(regime)[part] or NONE) for regime in REGIMES))
        for part in components
        if part != "activations"
    )
    totals = tuple(
        (
            f"Static, {OPTIMIZER[optimizer]}",
            *(str(static_bytes(regime, optimizer, 1)) for regime in REGIMES),
        )
        for optimizer in OPTIMIZERS
    )
    castable = castable_param_count(GPT2_XL)
    return Table(
        caption="Bytes per parameter: three regimes keep FP32 weights, and add up to the same",
        head=("Part", *(REGIME_NAMES[regime] for regime in REGIMES)),
        rows=parts + totals,
        notes=(
            f"Copies are made of the {castable:,} parameters that autocast casts, and are gone "
            "after backward: they are not part of the static total.",
        ),
    )


def static_table() -> Table:
    """Static memory, for the exact count of parameters and for the rounded one."""
    both: tuple[Regime, ...] = ("fp32", "pure16")
    copies = exact_gb(weight_copy_bytes("autocast", GPT2_XL))
    taxes = [
        f"{exact_gb(optimizer_tax_bytes(regime, PARAMETERS))} GB "
        f"({gb(optimizer_tax_bytes(regime, ROUNDED_PARAMETERS))})"
        for regime in both
    ]
    return Table(
        caption="Static memory of GPT-2 XL: as long as FP32 weights are kept, it is the same",
        head=(
            "Optimizer",
            "FP32, autocast or ZeRO-mixed",
            f"The same, {ROUNDED} parameters",
            "Pure 16-bit",
            f"The same, {ROUNDED} parameters",
        ),
        rows=tuple(
            (
                OPTIMIZER[optimizer],
                *(_static_cells(regime, optimizer, i) for regime in both for i in range(2)),
            )
            for optimizer in OPTIMIZERS
        ),
        notes=(
            f"Parameters, gradients and optimizer state of {PARAMETERS:,} parameters.",
            f"Adam takes {taxes[0]} more than SGD, and {taxes[1]} in pure 16-bit; in brackets for "
            f"{ROUNDED} parameters.",
            f"Autocast’s transient weight copies, {copies} GB, come on top.",
        ),
    )


def _static_cells(regime: Regime, optimizer: Optimizer, rounded: int) -> str:
    if rounded:
        return f"{gb(static_bytes(regime, optimizer, ROUNDED_PARAMETERS))} GB"
    exact = static_bytes(regime, optimizer, PARAMETERS)
    return f"{exact_gb(exact)} GB ({to_gib(exact):.2f} GiB)"


def coefficients_table() -> Table:
    """What the formula of activations is made of."""
    return Table(
        caption="Bytes that the forward pass keeps; they are bytes already",
        head=(
            "Regime",
            "α, a layer’s value",
            "β, an attention score",
            "ι, a value of a layer’s input",
            "γ, a value outside the layers",
            "δ, a logit",
        ),
        rows=tuple(
            (
                REGIME_NAMES[regime],
                *(
                    str(size)
                    for size in (
                        *(each.value, each.score, each.layer_input),
                        *(each.outside_value, each.logit),
                    )
                ),
            )
            for regime, each in ACTIVATION_BYTES.items()
        ),
        notes=(
            "ZeRO-mixed: Korthikanti et al. (2022), arXiv 2205.05198, section 4. The other rows "
            "follow the same inventory with the types that PyTorch keeps.",
        ),
    )


def activation_table() -> Table:
    """Activations of each regime and mode, at the ledger's batches."""
    return Table(
        caption=f"Activations of GPT-2 XL at {GPT2_XL.context:,} tokens a text, in GB",
        head=(
            "Regime and mode",
            "Bytes per text",
            *(f"Batch {batch}" for batch in LEDGER_BATCHES),
        ),
        rows=tuple(
            (
                f"{REGIME_NAMES[regime]}, {RECOMPUTE[recompute].lower()}",
                f"{activation_bytes(regime, recompute, 1, GPT2_XL):,}",
                *(
                    exact_gb(activation_bytes(regime, recompute, batch, GPT2_XL))
                    for batch in LEDGER_BATCHES
                ),
            )
            for regime in REGIMES
            for recompute in RECOMPUTATIONS
        ),
        notes=("Activations are linear in the batch; nothing else in the ledger depends on it.",),
    )


def optimizers_table() -> Table:
    """What the optimizers take and need, in FP32."""
    found = optimizer_table(PARAMETERS)
    by_weights, by_sgd = (
        f"{found[-1].weights_and_state:g}×",
        f"{found[-1].static_to_sgd:g}×",
    )
    return Table(
        caption=f"Adam: {by_weights} the weights without gradients, {by_sgd} SGD’s total with them",
        head=("FP32", *(OPTIMIZER[row.optimizer] for row in found)),
        rows=(
            (
                "Parameters + optimizer state, relative to parameters (the textbook’s multiplier)",
                *(f"{row.weights_and_state:g}×" for row in found),
            ),
            (
                "Static total, relative to SGD’s static total",
                *(f"{row.static_to_sgd:g}×" for row in found),
            ),
            (
                "Static total, relative to the FP32 weights",
                *(f"{row.static_to_weights:g}×" for row in found),
            ),
            ("Static total of GPT-2 XL", *(f"{exact_gb(row.static_bytes)} GB" for row in found)),
            ("Steps to converge, GPT-2 (the textbook)", *(_steps(row) for row in found)),
        ),
        notes=("Static: parameters, gradients and optimizer state, before any activation.",),
    )


def _steps(row: OptimizerRow) -> str:
    if row.steps is None:
        return "not reported; no better than momentum"
    at_least = " or more" if row.optimizer == "momentum" else ""
    return f"about {row.steps:,}{at_least}"


def precision_table() -> Table:
    """What mixed precision makes smaller, for the first sentence with blanks."""
    sizes: tuple[tuple[str, Quantity, int], ...] = (
        ("Bytes per element of a tensor kept in 16 bits", "element", 1),
        ("Parameters + gradients (+ master copy), B/parameter", "params_grads", 1),
        ("Adam state, B/parameter", "state", 1),
        ("Static total, B/parameter", "static", 1),
        ("Activations, batch 1, store everything", "activations", 1),
        (
            f"Ledger total, batch {WALKTHROUGH_BATCH}, store everything",
            "ledger",
            WALKTHROUGH_BATCH,
        ),
    )
    full, mixed, _ = chapter_walkthrough_gb()
    copies = bytes_per_param("autocast")["copies"]
    return Table(
        caption="What 16-bit numbers make smaller, and what stays, with Adam",
        head=("What", *(REGIME_NAMES[regime] for regime in REGIMES)),
        rows=(
            *(
                (label, *(_shrunk(quantity, regime, batch) for regime in REGIMES))
                for label, quantity, batch in sizes
            ),
            (
                "The textbook’s own ledger",
                *(f"{full:.0f} GB", NONE, f"{mixed:.1f} GB → {factor(full / mixed)}", NONE),
            ),
        ),
        notes=(
            "→ says how many times smaller than in FP32.",
            f"Autocast adds up to {copies} B/parameter of weight copies while a step lasts, "
            f"{exact_gb(weight_copy_bytes('autocast', GPT2_XL))} GB here.",
            f"ZeRO-mixed: {_parts_of('zero_mixed')} B/parameter for parameters, gradients and "
            "master copy.",
        ),
    )


def _parts_of(regime: Regime) -> str:
    each = bytes_per_param(regime)
    return f"{each['params']} + {each['grads']} + {each['master']}"


def _shrunk(quantity: Quantity, regime: Regime, batch: int) -> str:
    size = quantity_bytes(quantity, regime, batch)
    shown = {"activations": f"{exact_gb(size)} GB", "ledger": f"{gb(size)} GB"}.get(
        quantity, str(size)
    )
    return (
        shown if regime == "fp32" else f"{shown} → {saving(mixed_saving(quantity, regime, batch))}"
    )


def checkpointing_table() -> Table:
    """The textbook's figures of checkpointing beside what the formula gives."""
    times = f"{CHAPTER_CHECKPOINTING_SAVING}×"
    cost = f"{100 * RECOMPUTED_FORWARD:.0f} %"
    argued = even_cost_saving(GPT2_XL.n_layer, ROOT_INTERVAL)
    whole = recompute_flop_factor("full")
    every_layer: tuple[Regime, ...] = ("autocast", "fp32")
    return Table(
        caption=f"The textbook’s {times} is exact for no interval of checkpoints",
        head=("What is compared", "The textbook", "The formula, GPT-2 XL"),
        rows=(
            *(
                (f"Activations, 16-bit, a checkpoint {_interval(every)}", times, _saved(every))
                for every in INTERVALS
            ),
            (
                f"Activations, if a layer’s input cost as much as its inside, every "
                f"{ROOT_INTERVAL} layers",
                times,
                f"{argued:.1f}×, {100 - 100 / argued:.0f} % saved",
            ),
            *(
                (
                    f"Activations, {REGIME_NAMES[regime]}, a checkpoint {_interval(1)}",
                    times,
                    _saved(1, regime),
                )
                for regime in every_layer
            ),
            ("Compute, layers alone", f"+{cost}", f"+{percent(RECOMPUTED_FORWARD)} %"),
            (
                "Compute, whole model, output projection not recomputed",
                f"+{cost}",
                f"+{percent(whole - 1)} %",
            ),
            *_walkthrough_memory(),
        ),
        notes=(
            "Activations are those of one text; 16-bit means ZeRO-mixed.",
            f"The textbook’s ledger counts {ROUNDED} parameters and {CHAPTER_ACTIVATIONS_GB} GB of "
            "activations; mixed precision halves them, and checkpointing keeps a part of "
            f"1/{CHAPTER_CHECKPOINTING_SAVING}.",
        ),
    )


def _interval(every: int) -> str:
    return "for every layer" if every == 1 else f"every {every} layers"


def _saved(every: int, regime: Regime = "zero_mixed") -> str:
    stored = activation_bytes(regime, "none", 1, GPT2_XL)
    kept = segmented_activation_bytes(regime, every, 1, GPT2_XL)
    return f"{exact_gb(stored)} → {to_gb(kept):.3f} GB, {stored / kept:.1f}×"


def _walkthrough_memory() -> list[tuple[str, str, str]]:
    """The textbook's three totals, beside ours with either bookkeeping."""
    full, mixed, checkpointed = (f"{size:.1f} GB" for size in chapter_walkthrough_gb())
    states: tuple[tuple[Regime, Recompute, str], ...] = (
        ("fp32", "none", full),
        ("autocast", "none", mixed),
        ("zero_mixed", "none", mixed),
        ("autocast", "full", checkpointed),
        ("zero_mixed", "full", checkpointed),
    )
    return [
        (
            f"Ledger with Adam, {REGIME_NAMES[regime]}, {RECOMPUTE[recompute].lower()}, "
            f"batch {WALKTHROUGH_BATCH}",
            chapter,
            f"{gb(ledger_total_bytes(regime, 'adam', recompute, WALKTHROUGH_BATCH))} GB",
        )
        for regime, recompute, chapter in states
    ]


def largest_batch_table() -> Table:
    """The largest batch that fits the node with Adam."""
    regimes: tuple[Regime, ...] = ("fp32", "autocast")
    rules: tuple[BatchRule, ...] = ("ledger", "peak")
    budget = device_budget_bytes("node")
    return Table(
        caption=f"The largest batch of GPT-2 XL with Adam in {gb(budget)} GB",
        head=("Regime and mode", "Gradients stay during forward", "Gradients freed before it"),
        rows=tuple(
            (
                f"{REGIME_NAMES[regime]}, {RECOMPUTE[recompute].lower()}",
                *(str(max_batch(regime, "adam", recompute, budget, rule)) for rule in rules),
            )
            for regime in regimes
            for recompute in RECOMPUTATIONS
        ),
    )


def laptop_table() -> Table:
    """The verdict on every configuration that the laptop challenge offers."""
    found = laptop_rows()
    budget = gb(device_budget_bytes("laptop"))
    fitting = sum(row["verdict"] == "fits" for row in found.values())
    return Table(
        caption=f"{fitting} of {len(found)} configurations of GPT-2 XL fit in {budget} GB",
        head=("Configuration", *(f"Batch {batch}" for batch in LAPTOP_BATCHES)),
        rows=tuple(
            (
                f"{REGIME_NAMES[regime]}, {OPTIMIZER[optimizer]}, {RECOMPUTE[recompute].lower()}",
                *(
                    _verdict(found[f"{regime}/{optimizer}/{recompute}/{batch}"])
                    for batch in LAPTOP_BATCHES
                ),
            )
            for regime in REGIMES
            for optimizer in reversed(OPTIMIZERS)
            for recompute in RECOMPUTATIONS
        ),
        notes=(
            "What fits keeps no FP32 copy of the weights, so that small updates vanish: fit is "
            "not the same as trainable.",
        ),
    )


def laptop_verdicts() -> str:
    """Which configurations of the laptop challenge fit, and that no other does."""
    found = laptop_rows()
    listed = {
        verdict: "; ".join(
            f"{_in_words(key)} ({row['total_gb']} GB)"
            for key, row in found.items()
            if row["verdict"] == verdict
        )
        for verdict in VERDICTS
        if verdict != "over"
    }
    return (
        f"Of the {len(found)} configurations of the laptop challenge these fit in "
        f"{gb(device_budget_bytes('laptop'))} GB, with numbers that are not safe: "
        f"{listed['fits']}. These do only if gradients are freed: "
        f"{listed['fits_if_grads_freed']}. All others are over."
    )


def _in_words(key: str) -> str:
    regime, optimizer, recompute, batch = key.split("/")
    names = (REGIME_NAMES[regime], OPTIMIZER[optimizer], RECOMPUTE[recompute].lower())
    return f"{', '.join(names)}, batch {batch}"


def _verdict(row: Row) -> str:
    return f"{row['total_gb']} GB, {VERDICTS[row['verdict']]}"
