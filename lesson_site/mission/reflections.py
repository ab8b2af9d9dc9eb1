"""The sentences that the learner completes, the choices between fixes, and what is said to each.

A blank's options have short ids, which the browser keeps; the texts may change, the ids may not.
"""

from typing import Any

from lesson_code.accounting import FLOAT32_BYTES
from lesson_code.mission.activations import activation_bytes, segmented_activation_bytes
from lesson_code.mission.architecture import GPT2_XL, gpt_param_count
from lesson_code.mission.choices import Regime
from lesson_code.mission.comparisons import chapter_walkthrough_gb, mixed_saving, quantity_bytes
from lesson_code.mission.constants import (
    BASELINE_BATCH,
    BYTES_PER_PARAMETER,
    CHAPTER_ACTIVATIONS_GB,
    CHAPTER_CHECKPOINTING_SAVING,
    DATA_UNITS,
    DEVICES,
    FLOOR_ANSWER_GB,
    GB,
    KERNEL_EFFICIENCY,
    RECOMPUTED_FORWARD,
    ROUNDED_PARAMETERS,
)
from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import optimizer_tax_bytes, static_bytes, to_gb, to_gib
from lesson_code.mission.pipeline import (
    BASELINE_ITERATION_UNITS,
    pipeline,
    upgrade_speedup,
)
from lesson_code.mission.recomputation import recompute_flop_factor
from lesson_site.mission.numbers import exact_gb, factor, gb, percent, times, whole_gb

PARAMETERS = gpt_param_count(GPT2_XL)
WALKTHROUGH_BATCH = 4  # the batch of memory figures: the textbook's activations are about its size
FLOOR_BYTES = static_bytes("fp32", "sgd", PARAMETERS)
TWICE = 2.0
CHECKPOINT_EVERY = 4  # layers, in the answer's example of a coarser checkpoint

Says = dict[str, str]


def reflections() -> dict[str, Any]:
    """Both sentences with blanks, the choice of a fix, and the laptop's two questions."""
    return {
        "1": _mixed_precision(),
        "2": _checkpointing(),
        "choice": _choice(),
        "quantify": _quantify(),
    }


def _blank(number: int, options: Says, right: str, right_says: str, wrong: Says) -> dict[str, Any]:
    return {
        "label": f"Blank {number}",
        "options": [[value, label] for value, label in options.items()],
        "right": right,
        "right_says": right_says,
        "wrong_says": wrong,
    }


def _mixed_precision() -> dict[str, Any]:
    """The first sentence: what mixed precision makes smaller, and what it does not."""
    full, half = (quantity_bytes("element", regime) for regime in ("fp32", "autocast"))
    full_gb, mixed_gb, _ = chapter_walkthrough_gb()
    each: dict[Regime, int] = {
        regime: quantity_bytes("static", regime) for regime in BYTES_PER_PARAMETER
    }
    saved_whole = factor(mixed_saving("ledger", "autocast", WALKTHROUGH_BATCH))
    saved_paper = factor(mixed_saving("ledger", "zero_mixed", WALKTHROUGH_BATCH))
    saved_activations = factor(mixed_saving("activations", "autocast"))
    chapters = f"{full_gb:.0f} → {mixed_gb:.1f} GB, {factor(full_gb / mixed_gb)}"
    static = f"{each['fp32']} bytes per parameter in FP32 and {each['autocast']} with autocast"
    return {
        "sentence": [
            "A tensor that mixed precision keeps in 16 bits takes ",
            " less memory than in FP32, because ",
            "; the static total of parameters, gradients and Adam state nevertheless shrinks ",
            ".",
        ],
        "blanks": [
            _blank(
                1,
                {"1.3": "1.3×", "1.5": "1.5×", "2": "2×", "4": "4×"},
                "2",
                f"{full} bytes for each element become {half}.",
                {
                    "1.3": "The activations as a whole shrink about so much under autocast "
                    f"({saved_activations} at batch 1), since some of them stay in FP32. One "
                    "tensor that is kept in 16 bits shrinks more.",
                    "1.5": f"A whole run shrinks about so much in the textbook’s ledger: "
                    f"{chapters}. The blank asks about a single tensor.",
                    "4": f"Then an element would take {full // 4} byte. Sixteen bits are {half}.",
                },
            ),
            _blank(
                2,
                {
                    "copies": "the working copies used by the matrix multiplications (and, in "
                    "ZeRO-style bookkeeping, parameters and gradients) are 16-bit, while an FP32 "
                    "copy of the weights and the optimizer state is kept for the update",
                    "compress": "the GPU compresses every tensor automatically",
                    "no_state": "optimizer state is not needed in 16-bit mode",
                    "int8": "activations dominate and are always stored as INT8",
                },
                "copies",
                "What the arithmetic reads is short; what the update adds to stays long.",
                {
                    "compress": "Nothing compresses tensors behind your back: a tensor takes what "
                    "its type takes.",
                    "no_state": "Adam keeps both moments with mixed precision too, "
                    f"{quantity_bytes('state', 'autocast')} bytes per parameter as in FP32.",
                    "int8": "No activation is stored as INT8 here: they are 16-bit or FP32, and "
                    "dropout masks are one byte.",
                },
            ),
            _blank(
                3,
                {"1.0": "not at all", "1.3": "1.3×", "1.5": "1.5×", "2": "2×"},
                "1.0",
                f"{static}: the FP32 copy takes back what the 16-bit numbers save.",
                {
                    "1.3": "At batch "
                    f"{WALKTHROUGH_BATCH} the whole ledger shrinks {saved_whole} under autocast, "
                    f"because its activations do. The static total is {static}.",
                    "1.5": "At batch "
                    f"{WALKTHROUGH_BATCH} the whole ledger shrinks {saved_paper} with ZeRO-style "
                    f"bookkeeping, because its activations do. The static total is {static}.",
                    "2": "That takes pure 16-bit training, "
                    f"{each['pure16']} bytes per parameter, which keeps no FP32 copy. With mixed "
                    f"precision it is {static}.",
                },
            ),
        ],
        "after": [
            "The table’s last rows say why 1.5× is tempting: it is about right for a whole run in "
            f"the textbook’s accounting ({chapters}), activations included.",
        ],
        "table": "mixed_feedback",
    }


def _checkpointing() -> dict[str, Any]:
    """The second sentence: what checkpointing saves and costs, in the textbook's figures."""
    saving = CHAPTER_CHECKPOINTING_SAVING
    mixed_gb = CHAPTER_ACTIVATIONS_GB / 2
    stored = activation_bytes("zero_mixed", "none", 1, GPT2_XL)
    every_fourth = stored / segmented_activation_bytes("zero_mixed", CHECKPOINT_EVERY, 1, GPT2_XL)
    autocast, full = (_every_layer(regime) for regime in ("autocast", "fp32"))
    layers = GPT2_XL.n_layer
    right_cost = f"{100 * RECOMPUTED_FORWARD:.0f}"
    return {
        "sentence": [
            "In the textbook’s walkthrough, gradient checkpointing reduces activation memory by ",
            " at the cost of ",
            " % additional compute, because ",
            ".",
        ],
        "blanks": [
            _blank(
                1,
                {"2": "2×", str(saving): f"{saving}×", "10": "10×", "48": "48×"},
                str(saving),
                f"The textbook’s figure: {mixed_gb:.1f} → {mixed_gb / saving:.1f} GB.",
                {
                    "2": "Halving is what mixed precision does to the textbook’s activations "
                    f"({CHAPTER_ACTIVATIONS_GB} → {mixed_gb:.1f} GB). Checkpoints come on top.",
                    "10": "The formula comes near for a checkpoint every "
                    f"{CHECKPOINT_EVERY} layers ({every_fourth:.1f}×). The textbook says less.",
                    "48": f"The model has {layers} layers, but a checkpoint around each still "
                    f"keeps {layers} inputs, and one whole layer while it is recomputed.",
                },
            ),
            _blank(
                2,
                {"0": "0", "10": "10", right_cost: right_cost, "100": "100"},
                right_cost,
                "Backward takes two forward passes’ work; one more forward on top of three is a "
                "third.",
                {
                    "0": "What was thrown away has to be computed again, and that takes time.",
                    "10": "A forward pass is a larger part of the work: one of three, since "
                    "backward takes two.",
                    "100": "Only the forward pass runs again, and forward is one part of three.",
                },
            ),
            _blank(
                3,
                {
                    "recompute": "the backward pass has to recompute intermediate activations that "
                    "were thrown away instead of stored",
                    "int8": "activations are kept in 8 bits",
                    "host": "gradients are moved to the host",
                    "micro_batches": "the batch is split into micro-batches",
                },
                "recompute",
                "Memory is bought with time: keep a layer’s input, and compute the rest again.",
                {
                    "int8": "Checkpoints change which tensors are kept, not their type.",
                    "host": "Gradients stay where they are; the activations are what is thrown "
                    "away.",
                    "micro_batches": "That is gradient accumulation, which adds no arithmetic.",
                },
            ),
        ],
        "after": [
            f"The formula gives more for this model: {every_fourth:.1f}× for a checkpoint every "
            f"{CHECKPOINT_EVERY} layers (16-bit), {autocast:.1f}× for every layer under autocast, "
            f"{full:.1f}× in FP32. {saving}× is the textbook’s figure.",
            f"The cost is {percent(RECOMPUTED_FORWARD)} % of the layers’ work, and "
            f"{percent(recompute_flop_factor('full') - 1)} % of the whole model’s, since the "
            "output projection is not recomputed.",
        ],
        "table": "checkpoint_checks",
    }


def _every_layer(regime: Regime) -> float:
    """How many times fewer activations wait with a checkpoint around each layer."""
    return activation_bytes(regime, "none", 1, GPT2_XL) / activation_bytes(
        regime, "full", 1, GPT2_XL
    )


def _choice() -> dict[str, Any]:
    """The fix that helps most when the time goes to data loading."""
    baseline = pipeline(False, False, False, BASELINE_BATCH)
    prefetched = pipeline(True, False, False, BASELINE_BATCH)
    batch = min(KERNEL_EFFICIENCY)
    smaller = pipeline(False, False, False, batch)
    speed = upgrade_speedup(TWICE)
    data = f"{100 * baseline.data_share:.0f}"
    tax = optimizer_tax_bytes("fp32", PARAMETERS)
    return {
        "question": f"The analysis shows {DATA_UNITS} % of the time in data loading. Which single "
        "fix helps most?",
        "options": {
            "A": {
                "text": "A GPU with twice the TFLOPS",
                "feedback": f"An iteration goes from {BASELINE_ITERATION_UNITS} to "
                f"{BASELINE_ITERATION_UNITS / speed:.1f} units, ×{times(speed)}: only the compute "
                "part gets shorter.",
            },
            "B": {
                "text": "Adam → SGD, to relieve memory",
                "feedback": f"It frees {exact_gb(tax)} GB, and the data share stays at {data} %: "
                "the loader does not care about optimizer state.",
            },
            "C": {
                "text": "Prefetching, so that loading overlaps the previous step’s compute",
                "feedback": f"Right: ×{times(prefetched.speed)}, and the data share falls from "
                f"{data} to {100 * prefetched.data_share:.0f} %.",
            },
            "D": {
                "text": "A smaller batch, to move less",
                "feedback": f"At batch {batch} kernel efficiency falls to "
                f"{smaller.kernel_efficiency:.2f}, "
                f"and throughput to ×{times(smaller.speed)}.",
            },
        },
        "right": "C",
    }


def _quantify() -> dict[str, Any]:
    """The floor that no move on the laptop lowers, and why it is there."""
    least, most = FLOOR_ANSWER_GB
    each = FLOOR_BYTES // PARAMETERS
    billions = f"{PARAMETERS / GB:.2f} billion"
    budget = device_budget_bytes("laptop")
    floor, over = exact_gb(FLOOR_BYTES), exact_gb(FLOOR_BYTES - budget)
    stored = activation_bytes("fp32", "full", 1, GPT2_XL)
    half = static_bytes("pure16", "sgd", PARAMETERS)
    momentum, adam = (
        exact_gb(static_bytes("fp32", optimizer, PARAMETERS)) for optimizer in ("momentum", "adam")
    )
    return {
        "question": "What is the smallest static memory with FP32-accurate weights, in GB?",
        "least": least,
        "most": most,
        "right_says": f"Right: {each} bytes × {PARAMETERS:,} = {floor} GB, {over} GB more than "
        f"the planning budget of {gb(budget)} GB.",
        "low_says": f"Too low. Count parameters and gradients at {FLOAT32_BYTES} bytes each; "
        f"{exact_gb(half)} GB is pure 16-bit, which keeps no FP32 weights.",
        "high_says": "Too high. SGD keeps no optimizer state; "
        f"{momentum} GB is momentum, {adam} GB Adam.",
        # Below what momentum takes, it is what the bar shows: more than the static part.
        "total_below": to_gb(static_bytes("fp32", "momentum", ROUNDED_PARAMETERS)),
        "total_says": "Too high. A total on the bar has activations in it, and perhaps copies; the "
        "static part is parameters and gradients alone.",
        # The same answers in the other unit.
        "gib": [round(to_gib(bound * GB), 2) for bound in FLOOR_ANSWER_GB],
        "gib_says": "Too low in GB: that is the floor in GiB, and the question asks for GB.",
        "invalid_says": "Enter a number of GB, such as 9.5.",
        "why": {
            "question": "Why can it not get smaller?",
            "options": [
                ["activations", f"activations at batch 1 are larger than {whole_gb(budget)} GB"],
                ["floor", f"parameters and gradients alone take {each} bytes × {billions}"],
                ["power", f"{DEVICES['laptop'].power_w} W is too little power"],
                ["second_copy", "recomputation needs a second copy of the weights"],
            ],
            "right": "floor",
            "right_says": f"{FLOAT32_BYTES} bytes for the parameter and {FLOAT32_BYTES} for its "
            "gradient; batch size and recomputation touch neither.",
            "wrong_says": {
                "activations": "With full recomputation they take "
                f"{exact_gb(stored)} GB in FP32 at batch 1.",
                "power": "Power sets how fast it computes, not how much it holds.",
                "second_copy": "Recomputation runs the same weights again; it copies none.",
            },
        },
    }
