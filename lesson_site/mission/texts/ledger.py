"""The sentences of the Training Memory Ledger, its reveal, and the trade-off after it."""

from lesson_code.mission.architecture import GPT2_XL, gpt_param_count
from lesson_code.mission.constants import CHAPTER_STEPS
from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import state_bytes, static_bytes
from lesson_site.mission.controls import COMPONENTS
from lesson_site.mission.numbers import fine_gb, gb, percent

PARAMETERS = gpt_param_count(GPT2_XL)
NODE_BYTES, LAPTOP_BYTES = device_budget_bytes("node"), device_budget_bytes("laptop")
NODE_GB, LAPTOP_GB = gb(NODE_BYTES), gb(LAPTOP_BYTES)
STATE_BYTES = state_bytes("fp32", "adam", PARAMETERS)
STATE_GB = fine_gb(STATE_BYTES)
SPARED_GB = fine_gb(STATE_BYTES - state_bytes("fp32", "momentum", PARAMETERS))
FLOOR_GB = fine_gb(static_bytes("fp32", "sgd", PARAMETERS))


def _steps() -> tuple[int, int]:
    """The textbook's steps to the same loss, with momentum and with Adam."""
    momentum, adam = CHAPTER_STEPS["momentum"], CHAPTER_STEPS["adam"]
    if momentum is None or adam is None:
        raise ValueError("the textbook reports steps for momentum and Adam")
    return momentum, adam


MOMENTUM_STEPS, ADAM_STEPS = _steps()
ON_THE_NODE = (
    f"On the training node Adam’s state takes {STATE_GB} of {NODE_GB} GB "
    f"({percent(STATE_BYTES / NODE_BYTES)} %)"
)
ON_THE_LAPTOP = (
    f"On the laptop Adam’s FP32 state alone, {STATE_GB} GB, exceeds the card’s {LAPTOP_GB} GB"
)


def _inside(label: str) -> str:
    """A part's name in the middle of a sentence; FP32 and 16-bit stay as they are."""
    return label if label[1].isupper() or label[0].isdigit() else label[0].lower() + label[1:]


MESSAGES: dict[str, str] = {
    "reading.fits": "{total} GB ({gib} GiB) of {budget} GB; step peak {peak} GB; fits with "
    "{difference} GB to spare; largest part: {largest}, {largest_gb} GB.",
    "reading.fits_if_grads_freed": "{total} GB ({gib} GiB) of {budget} GB; step peak {peak} GB; "
    "over by {difference} GB unless gradients are freed each step; largest part: {largest}, "
    "{largest_gb} GB.",
    "reading.over": "Over budget: {total} GB ({gib} GiB) of {budget} GB; step peak {peak} GB; over "
    "by {difference} GB; largest part: {largest}, {largest_gb} GB.",
    "spoken.fits": "{total} of {budget} gigabytes, fits. Largest part: {largest}.",
    "spoken.fits_if_grads_freed": "{total} of {budget} gigabytes, fits only if gradients are freed "
    "each step. Largest part: {largest}.",
    "spoken.over": "{total} of {budget} gigabytes, over budget. Largest part: {largest}.",
    "spoken.autocast": "PyTorch autocast. ",
    "spoken.zero_mixed": "ZeRO-style. ",
    "spoken.hidden": "{part} hidden. Total unchanged, {total} gigabytes.",
    "spoken.shown": "{part} shown. Total unchanged, {total} gigabytes.",
    "verdict.fits": "Fits. {total} of {budget} GB, {difference} GB to spare.",
    "verdict.name.fits": "fits",
    "verdict.name.fits_if_grads_freed": "fits only if gradients are freed each step",
    "verdict.name.over": "over budget",
    "oom.optimizer_state": "Out of memory: optimizer state alone exceeds device memory ({state} of "
    "{budget} GB). Change the optimizer or the device.",
    "oom.static": "Out of memory: parameters, gradients and optimizer state need {static} of "
    "{budget} GB before the first activation. Batch size and recomputation cannot help.",
    "oom.activations": "Out of memory: the static part ({static} GB) fits, activations at batch "
    "{batch} ({activations} GB) do not. Lower the batch or recompute.",
    "oom.grads_overlap": "Over by {difference} GB if gradients stay in memory; fits at its peak "
    "({peak} GB) when they are freed every step.",
    "subset": "{k} of {m} components shown; the total counts all.",
    "reveal.need": "Show {missing} at FP32 once, then the reveal opens.",
    "axis": "The axis now ends at {axis} GB.",
    "ledger.name": "Training memory, {total} GB of {budget} GB, {verdict}",
    "ledger.parts": "From bottom to top: {parts}.",
    "ledger.total": "{total} GB",
    "ledger.total.over": "Over budget: {total} GB",
    "ledger.moved.none": "Change a control, and this line says which parts moved.",
    "ledger.moved": "The last change: {changes}.",
    "ledger.moved.part": "{part} {before} → {after} GB",
    "ledger.moved.nothing": "no part of the bar",
    "ledger.moved.budget": "the budget, {before} → {after} GB; the bar stays as it was",
    "budget.node": f"H100 budget {NODE_GB} GB",
    "budget.laptop": f"RTX 4060 budget {LAPTOP_GB} GB",
    "regime.fp32": "All of it in 32 bits: parameters, gradients, optimizer state, activations.",
    "regime.autocast": "PyTorch autocast: parameters, gradients and optimizer state stay FP32; "
    "the matrix multiplications read 16-bit copies of the weights.",
    "regime.zero_mixed": "As the ZeRO paper counts: 16-bit parameters and gradients, beside an "
    "FP32 master copy and FP32 optimizer state.",
    "regime.pure16": "Pure 16-bit: parameters, gradients and optimizer state all take 2 bytes. "
    "Small updates can vanish; nothing keeps them in FP32.",
    "recompute.none": "Everything that the backward pass needs is stored.",
    "recompute.selective": "Attention scores are thrown away, and computed again in backward.",
    "recompute.full": "Gradient checkpointing: only each layer’s input is stored, and backward "
    "runs the layer forward once more.",
    "notice.optimizer": "SGD → Momentum → Adam: each step adds exactly one bar. In FP32 it is as "
    "tall as the parameters.",
    "notice.precision": "FP32 → Mixed with autocast: the static bars stay where they are, and a "
    "hatched one comes on top.",
    "notice.batch": "The batch slider: only the activations move.",
    "tradeoff.node": "Adam on the training node",
    "tradeoff.laptop": "Adam on the laptop GPU",
    "tradeoff.worth": "worth it on this device",
    "tradeoff.not": "not worth it on this device",
    "tradeoff.reason": "Your reason, in one line (optional; it stays in this browser)",
    "tradeoff.node.worth": f"{ON_THE_NODE}. You spend memory that the card has, and save about "
    f"{MOMENTUM_STEPS - ADAM_STEPS:,} steps or more against momentum.",
    "tradeoff.node.not": f"{ON_THE_NODE}. With momentum you keep {SPARED_GB} GB of it for "
    f"activations, and take about {MOMENTUM_STEPS:,} steps or more instead of about "
    f"{ADAM_STEPS:,}.",
    "tradeoff.laptop.worth": f"{ON_THE_LAPTOP}. The steps you would save cannot start, unless the "
    "state lies elsewhere or takes fewer bytes.",
    "tradeoff.laptop.not": f"{ON_THE_LAPTOP}. Without it, FP32 parameters and gradients still "
    f"take {FLOOR_GB} GB; Act 2 comes back to that floor.",
    **{f"part.{component}": _inside(label) for component, label in COMPONENTS.items()},
}
