"""The sentences of the Pipeline Breakdown Analyzer."""

from lesson_code.mission.activations import activation_bytes
from lesson_code.mission.architecture import GPT2_XL
from lesson_code.mission.constants import (
    BASELINE_BATCH,
    CHAPTER_CHECKPOINTING_SAVING,
    KERNEL_EFFICIENCY,
    LOADER_WORKERS,
    MIXED_TRANSFER,
    RECOMPUTED_FORWARD,
)
from lesson_code.mission.memory import to_gb, weight_copy_bytes
from lesson_code.mission.pipeline import pipeline
from lesson_site.mission.rows import pipeline_rows

PREFETCH_FACTOR = 2  # batches that each worker holds ready; the default of PyTorch's DataLoader

ROWS = pipeline_rows()
REACHED = [key for key in ROWS if key.endswith("/1") and ROWS[key]["target"] == "reached"]
BEST_KEY = max(REACHED, key=lambda key: ROWS[key]["pointers"][1])
BEST_BATCH = BEST_KEY.split("/")[3]
BEST = ROWS[BEST_KEY]
STORED = ROWS[f"1/1/0/{BEST_BATCH}/1"]
ALL, ALL_TENSOR = (ROWS[f"1/1/1/{BASELINE_BATCH}/{tensor}"] for tensor in (1, 2))
START = ROWS[f"0/0/0/{BASELINE_BATCH}/1"]
START_TENSOR_MFU = f"{100 * pipeline(False, False, False, BASELINE_BATCH, tensor=2).mfu:.2f}"
BATCHES = list(KERNEL_EFFICIENCY)
SMALL, USUAL, *_, LARGE = (f"{100 * share:.0f}" for share in KERNEL_EFFICIENCY.values())
FEWER_ACTIVATIONS = activation_bytes(
    "autocast", "none", BASELINE_BATCH, GPT2_XL
) / activation_bytes("autocast", "full", BASELINE_BATCH, GPT2_XL)

MESSAGES = {
    "target.reached": "Target reached: accelerator utilisation {utilisation} %, MFU {mfu} %, "
    "{memory} GB.",
    "target.reached.fits_if_grads_freed": "Target reached: accelerator utilisation {utilisation} "
    "%, MFU {mfu} %, {memory} GB if gradients stay, {peak_gb} GB at the peak when they are freed "
    "every step.",
    "target.over_memory": "Utilisation {utilisation} % would pass, but {memory} GB does not fit in "
    "{budget} GB.",
    "target.below": "Accelerator utilisation {utilisation} %; the target is {target} %.",
    "target.near.memory": "Near miss: utilisation {utilisation} % would pass, but {memory} GB does "
    "not fit in {budget} GB. The activations that checkpointing would throw away are in the way.",
    "target.near.fp32": "Near miss: utilisation {utilisation} %, MFU {mfu} %. It fits, and no FP32 "
    "configuration comes closer: in this model its transfers take twice as long.",
    "target.gauge": "Busier, not faster: recomputation raises utilisation and lowers MFU. Without "
    "checkpointing these settings have utilisation {off_utilisation} % and MFU {off_mfu} %; with "
    "it, {utilisation} % and {mfu} %.",
    "pipeline.goal": "Bring accelerator utilisation to {target} % or more, within {budget} GB.",
    "pipeline.cost.prefetch": f"Costs {LOADER_WORKERS} worker processes, and host memory for "
    f"{LOADER_WORKERS * PREFETCH_FACTOR} batches. What the model learns stays the same.",
    "pipeline.cost.mixed": f"In this model transfers take {100 * MIXED_TRANSFER:.0f} % "
    "of their FP32 time; autocast would gain less. Costs loss scaling with FP16 (not with BF16), "
    "and up to "
    f"{to_gb(weight_copy_bytes('autocast', GPT2_XL)):.2f} GB of weight copies.",
    "pipeline.cost.checkpointing": f"Costs {100 * RECOMPUTED_FORWARD:.0f} % more compute. "
    f"Activations get {FEWER_ACTIVATIONS:.1f}× smaller here with mixed precision (the textbook "
    f"says {CHAPTER_CHECKPOINTING_SAVING}×), which makes room for larger batches or deeper "
    "networks.",
    "pipeline.cost.batch": f"Kernel efficiency is {SMALL}–{USUAL} % at batch "
    f"{BATCHES[0]}–{BATCHES[1]} and {LARGE} % at {BATCHES[-1]}. Activations grow with the batch.",
    "pipeline.batch": "A larger batch raises MFU and lowers utilisation: faster kernels finish "
    "sooner, so compute fills less of the iteration. With these switches, batch {low} to {high}: "
    "MFU {low_mfu} to {high_mfu} %, utilisation {low_utilisation} to {high_utilisation} %.",
    "pipeline.memory.fits": "Fits. {memory} of {budget} GB, {spare_gb} GB to spare.",
    "pipeline.memory.fits_if_grads_freed": "Over by {over_gb} GB if gradients stay in memory; fits "
    "at its peak ({peak_gb} GB) when they are freed every step.",
    "pipeline.memory.over": "Does not fit. {memory} of {budget} GB, over by {over_gb} GB.",
    "pipeline.activations.0": "Activations alone: {activations_gb} GB; checkpointing would keep "
    "{on_activations} GB of them.",
    "pipeline.activations.1": "Activations alone: {stored_gb} GB before checkpointing, "
    "{activations_gb} GB with it.",
    "pipeline.accumulation": "Gradient accumulation reaches a large effective batch with a small "
    "micro-batch. Kernel efficiency then follows the micro-batch.",
    "pipeline.gain": f"From the baseline to all three at batch {BASELINE_BATCH}, utilisation gains "
    f"{ALL['pointers'][0] - START['pointers'][0]:.1f} points, and MFU "
    f"{ALL['pointers'][1] - START['pointers'][1]:.1f}.",
    "pipeline.prompt": f"Of all configurations {len(REACHED)} reach the target. Find the one "
    "with the highest MFU. Then switch checkpointing off: MFU rises once "
    "more. Why can you not use that?",
    "pipeline.answer": f"Batch {BEST_BATCH} with all three on: MFU {BEST['mfu']} %. Its parts add "
    f"up to {BEST['memory_gb']} GB, and its step peak, {BEST['peak_gb']} GB, fits once gradients "
    f"are freed every step. Without checkpointing MFU would be {STORED['mfu']} %, and memory "
    f"{STORED['memory_gb']} GB.",
    "pipeline.further": "In this mode mixed precision halves compute time too. The target is not "
    "evaluated, and nothing can be recorded.",
    "pipeline.further.choice": "So far mixed precision shortens the transfers alone. Tensor cores "
    "compute faster in 16 bits, too.",
    "pipeline.further.lesson": f"With all three on at batch {BASELINE_BATCH}, utilisation goes "
    f"from {ALL['utilisation']} to {ALL_TENSOR['utilisation']} %, and throughput from "
    f"×{ALL['speed']} to ×{ALL_TENSOR['speed']}. A utilisation percentage can fall while training "
    "gets faster.",
    "pipeline.further.fp32": "FP32 arithmetic runs at half the 16-bit rate in this mode, so that "
    f"the baseline’s MFU is {START_TENSOR_MFU} % instead of {START['mfu']} %. Without the effect "
    "the model lets FP32 reach the same part of the 16-bit peak as mixed precision, which no card "
    "with tensor cores does.",
    "pipeline.further.now": "These settings: utilisation {utilisation} %, ×{speed}. Without the "
    "tensor effect: {plain_utilisation} %, ×{plain_speed}.",
    "pipeline.spoken": "{change} Accelerator utilisation {utilisation} percent, MFU {mfu} percent, "
    "data loading {data} percent. {memory_says} {target_says}",
    "pipeline.spoken.fits": "Memory {memory} gigabytes, fits.",
    "pipeline.spoken.fits_if_grads_freed": "Memory {memory} gigabytes, fits only if gradients are "
    "freed each step.",
    "pipeline.spoken.over": "Memory over budget, {memory} of {budget} gigabytes.",
    "pipeline.recorded": "Recorded: prefetching {prefetch}, {precision}, checkpointing "
    "{checkpointing}, batch {batch}. Accelerator utilisation {utilisation} %, MFU {mfu} %, "
    "{memory_says}.",
    "pipeline.recorded.fits": "{memory} GB with Adam",
    "pipeline.recorded.fits_if_grads_freed": "{memory} GB with Adam if gradients stay, {peak_gb} "
    "GB at the peak when they are freed every step",
    "pipeline.recorded.over": "{memory} GB with Adam, which does not fit in {budget} GB",
    "pipeline.said": "you said {percent} %",
    "pipeline.said.elsewhere": "You said {percent} % for the baseline.",
}
