"""The sentences of the laptop challenge."""

from lesson_code.mission.architecture import GPT2_XL, gpt_param_count
from lesson_code.mission.constants import CHAPTER_STEPS, KERNEL_EFFICIENCY, RECOMPUTED_FORWARD
from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import (
    bytes_per_param,
    ledger_total_bytes,
    optimizer_tax_bytes,
    static_bytes,
    to_gb,
    weight_copy_bytes,
)
from lesson_code.mission.worked import fused_step_memory
from lesson_site.mission.numbers import exact_gb, fine_gb

PARAMETERS = gpt_param_count(GPT2_XL)
FLOOR_BYTES = static_bytes("fp32", "sgd", PARAMETERS)
LAPTOP_BYTES = device_budget_bytes("laptop")
BUDGET = f"{to_gb(LAPTOP_BYTES):.1f}"
START = fine_gb(ledger_total_bytes("fp32", "adam", "none", 4))
SMALLEST_FP32 = fine_gb(ledger_total_bytes("fp32", "sgd", "full", 1))

# One vector of float32 weights, and all that is there at the fullest moment of a step at batch 1
# when everything is recomputed and the optimizer step is part of backward.
WEIGHTS_BYTES = bytes_per_param("fp32")["params"] * PARAMETERS
FUSED_BYTES = fused_step_memory()
# The gradient of the token embedding, which begins in the head and ends where the tokens come in.
EMBEDDING_BYTES = bytes_per_param("fp32")["grads"] * GPT2_XL.vocab * GPT2_XL.d_model
# What rounding loses, kept in 16 bits beside each 16-bit weight and its gradient.
COMPENSATED_BYTES = static_bytes("pure16", "sgd", PARAMETERS) + 2 * PARAMETERS


def _steps_ratio() -> str:
    """How many times Adam's steps the textbook gives momentum, at least; SGD takes no fewer."""
    momentum, adam = CHAPTER_STEPS["momentum"], CHAPTER_STEPS["adam"]
    if momentum is None or adam is None:
        raise ValueError("the textbook's steps of momentum and of Adam must be known")
    return f"{momentum / adam:.0f}"


SMALLEST_BATCH = min(KERNEL_EFFICIENCY)

MESSAGES = {
    "laptop.goal": f"You begin at {START} GB: FP32, Adam, everything stored, batch 4. The card of "
    f"this laptop gives you {BUDGET} GB. Bring the bar to the line.",
    "laptop.rules": "Each change is one move and is written down, also when it makes things worse. "
    "There is no undo: going back is a move.",
    # What stands beside the bar
    "laptop.name": "Training memory on the laptop GPU, {total} GB of {budget} GB, {verdict}",
    "laptop.description": "From left to right: {parts}. The line of this card is at {budget} "
    "GB, the axis ends at {axis} GB.",
    "laptop.static": "Static part",
    "laptop.rest": "Activations",
    "laptop.rest.autocast": "Activations, copies",
    "laptop.copies.autocast": "Copies: the 16-bit weights that autocast makes for each step.",
    "laptop.budget": "This card {budget} GB",
    "laptop.before": "Dashed outline: before this move, {before} GB.",
    "laptop.axis": "The axis now ends at {axis} GB.",
    "laptop.over": "over by {over} GB",
    "laptop.fits": "fits with {spare} GB to spare",
    "laptop.fits_if_grads_freed": "over by {over} GB unless gradients are freed each step",
    # What each move costs
    "laptop.cost.precision": "Mixed does not lower the static part: an FP32 copy of the weights "
    "stays. FP16 keeps no such copy, so small updates can round away.",
    "laptop.cost.optimizer": "SGD in place of Adam saves "
    f"{fine_gb(optimizer_tax_bytes('fp32', PARAMETERS))} GB of state "
    f"({fine_gb(optimizer_tax_bytes('pure16', PARAMETERS))} GB in FP16) and takes at least "
    f"{_steps_ratio()}× the steps, by the textbook’s figures.",
    "laptop.cost.recompute": "Full recomputation adds "
    f"{100 * RECOMPUTED_FORWARD:.0f} % compute: every layer runs forward once more.",
    "laptop.cost.batch": "Batch 1 lies far below the batches whose kernel efficiency the textbook "
    f"gives ({100 * KERNEL_EFFICIENCY[SMALLEST_BATCH]:.0f} % at {SMALLEST_BATCH}), and its "
    "gradients are noisier.",
    # Outcomes
    "laptop.searching": "The static part takes {static} GB of that, at every batch size and "
    "however much is recomputed.",
    "laptop.limit_hint.title": "One move is left",
    "laptop.limit_hint": "{total} GB, over by {over} GB. Of the moves that keep FP32-accurate "
    "weights, you have not made one from here: mixed precision. Which way will the bar go?",
    "laptop.limit_hint.again.title": "No new move is left",
    "laptop.limit_hint.again": "{total} GB, over by {over} GB. Mixed precision is the only other "
    "setting that keeps FP32-accurate weights, and it has brought you to the limit already.",
    "laptop.limit_reached.title": "Limit reached: these moves cannot fit it",
    "laptop.limit_reached": "With FP32-accurate weights, parameters and gradients alone take "
    f"{FLOOR_BYTES // PARAMETERS} bytes × {PARAMETERS:,} = {exact_gb(FLOOR_BYTES)} GB, "
    f"{exact_gb(FLOOR_BYTES - LAPTOP_BYTES)} GB more than this card’s budget. Batch size and "
    "recomputation touch activations only. What is left is to split the parameters over "
    "several devices.",
    "laptop.limit_reached.autocast": "Mixed precision makes it worse: {total} GB, where FP32 takes "
    f"{SMALLEST_FP32} GB. Under autocast weights and gradients stay FP32, and 16-bit copies of "
    f"{fine_gb(weight_copy_bytes('autocast', GPT2_XL))} GB come on top.",
    "laptop.limit_reached.zero_mixed": "Mixed precision saves activations only: {total} GB, where "
    f"FP32 takes {SMALLEST_FP32} GB. Weights and gradients are halved, the FP32 master copy "
    "takes the same room again, and the static part stays at {static} GB.",
    "laptop.fits_unsafe.title": "Fits, but the numbers are not safe",
    "laptop.fits_unsafe": "Fits at {total} GB, with a catch: without an FP32 copy, updates "
    "smaller than the spacing of 16-bit numbers vanish. Fit is not the same as trainable.",
    "laptop.borderline_unsafe.title": "Borderline",
    "laptop.borderline_unsafe": "Over by {over} GB while gradients stay in memory. Freed in every "
    "step, they leave a peak of about {peak} GB, which fits. And without an FP32 copy, updates "
    "smaller than the spacing of 16-bit numbers vanish.",
    # Moves
    "laptop.move": "{control}, {from} → {to}: {before} → {after} GB",
    "laptop.spoken": "Move {n}: {from} to {to}. {before} to {after} gigabytes. {verdict}.",
    "laptop.spoken.over": "Over by {over}",
    "laptop.spoken.fits": "Fits with {spare} to spare, without an FP32 copy",
    "laptop.spoken.fits_if_grads_freed": "Over by {over} unless gradients are freed each step",
    "laptop.restart": f"The list of moves is cleared, and the bar returns to {START} GB. The "
    "smallest total that you reached and your answers stay.",
    "laptop.restarted": f"Challenge restarted at {START} gigabytes. No moves yet.",
    "laptop.full": "The list holds no more than {most} moves. Restart the challenge to go on.",
    # What else one could do
    "laptop.exits": f"The floor of {exact_gb(FLOOR_BYTES)} GB is no law of nature. It holds while "
    "every weight is trained and kept accurate to FP32, all gradients wait for the optimizer, and "
    "everything lies on this card. Each of these gives up one of those:",
    "laptop.exit.fuse": "Fuse the optimizer step into the backward pass. A gradient is used and "
    "freed as soon as it is complete, so that they are not all there at once: "
    f"{exact_gb(WEIGHTS_BYTES)} GB + {exact_gb(FUSED_BYTES - WEIGHTS_BYTES)} GB of activations and "
    f"of the logits’ gradients = {exact_gb(FUSED_BYTES)} GB in FP32 at batch 1, all layers "
    "recomputed. "
    "One gradient is not in this sum: the head’s weights are the token embedding’s, so that theirs "
    f"is complete at the very end, and its {exact_gb(EMBEDDING_BYTES)} GB wait until then.",
    "laptop.exit.host": "Keep optimizer state or weights in the host’s memory. The card holds "
    "less, and each step waits for the copies.",
    "laptop.exit.sixteen": "Mend pure 16-bit training. Stochastic rounding keeps small updates on "
    "average and takes no memory. A compensated sum keeps what rounding loses in 2 more bytes for "
    f"each parameter; that makes {exact_gb(COMPENSATED_BYTES)} GB, which does not fit here.",
    "laptop.exit.adapters": "Train small adapters only. The large weights are frozen and need "
    "neither gradients nor state.",
    "laptop.exit.shard": "Shard the parameters over several devices, in one machine or in many: "
    f"each then holds a part of the {exact_gb(FLOOR_BYTES)} GB, and {BUDGET} GB suffice.",
}
