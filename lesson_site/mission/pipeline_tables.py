"""The tables of time: the combinations of the pipeline, the textbook's walkthrough, the devices."""

from lesson_code.mission.architecture import GPT2_XL, model_flops_per_token
from lesson_code.mission.choices import Device
from lesson_code.mission.comparisons import chapter_walkthrough_gb
from lesson_code.mission.constants import (
    BASELINE_BATCH,
    CHAPTER_BASELINE_UTILISATION,
    CHAPTER_OPTIMISED_SHARES,
    CHAPTER_OPTIMISED_UTILISATION,
    CHAPTER_TOKENS_PER_S,
    COMPUTE_UNITS,
    DATA_UNITS,
    DEVICES,
    KERNEL_EFFICIENCY,
    TARGET_UTILISATION,
    TRANSFER_UNITS,
    V100_PEAK_FLOP_PER_S,
)
from lesson_code.mission.fit import device_budget_bytes
from lesson_code.mission.memory import (
    ledger_total_bytes,
    state_bytes,
    static_bytes,
    step_peak_bytes,
)
from lesson_code.mission.pipeline import pipeline
from lesson_code.mission.utilisation import mfu_from_throughput
from lesson_site.mission.memory_tables import NONE, WALKTHROUGH_BATCH
from lesson_site.mission.numbers import exact_gb, fine_gb, gb, gib, percent
from lesson_site.mission.rows import PARAMETERS, PIPELINE_BATCHES, Row, pipeline_rows
from lesson_site.mission.table import Table

# Prefetching, mixed precision, checkpointing; from none to all.
COMBINATIONS = ("0/0/0", "1/0/0", "0/1/0", "0/0/1", "1/1/0", "1/0/1", "0/1/1", "1/1/1")
SWITCHES = ("prefetching", "mixed precision", "checkpointing")
FITS = {"fits": "yes", "fits_if_grads_freed": "if gradients are freed", "over": "no"}


def combinations_table() -> Table:
    """All eight combinations of the three optimisations at the baseline's batch."""
    found = pipeline_rows()
    target, budget = f"{100 * TARGET_UTILISATION:.0f}", gb(device_budget_bytes("node"))
    return Table(
        caption=f"Only all three together pass {target} % utilisation within {budget} GB, "
        f"batch {BASELINE_BATCH}",
        head=(
            *("Switched on", "Data, %", "Transfers, %", "Compute, %", "Utilisation, %"),
            *("MFU, %", "HFU, %", "Time, units", "Throughput", "Ledger, GB"),
            f"Fits {budget} GB",
        ),
        rows=tuple(
            _combination(switches, found[f"{switches}/{BASELINE_BATCH}/1"])
            for switches in COMBINATIONS
        ),
        notes=(
            "Utilisation is accelerator utilisation: the share of time in which any kernel runs.",
            "A unit is a hundredth of the baseline’s iteration; throughput is relative to it.",
            _fused_attention(),
        ),
    )


def _fused_attention() -> str:
    """What changes where no attention scores are stored."""
    batch = min(KERNEL_EFFICIENCY)
    found = pipeline(prefetch=True, mixed=True, checkpoint=False, batch=batch)
    peak = step_peak_bytes("autocast", "adam", "selective", batch)
    return (
        "Without checkpointing, attention is written out. With a fused kernel, which stores no "
        f"scores, prefetching and mixed precision are enough at batch {batch}: utilisation "
        f"{percent(found.utilisation)} %, MFU {percent(found.mfu)} %, step peak {gb(peak)} GB."
    )


def _combination(switches: str, row: Row) -> tuple[str, ...]:
    on = [name for name, is_on in zip(SWITCHES, switches.split("/"), strict=True) if is_on == "1"]
    return (
        (" + ".join(on) or "nothing").capitalize(),
        *row["shares"],
        *(row["utilisation"], row["mfu"], row["hfu"], row["total"], f"×{row['speed']}"),
        *(row["memory_gb"], FITS[row["verdict"]]),
    )


def batches_table() -> Table:
    """All three optimisations on, by batch."""
    found = pipeline_rows()
    return Table(
        caption="All three on: a larger batch raises MFU, lowers utilisation, and soon does not "
        "fit",
        head=(
            *("Batch", "Kernel efficiency, %", "Utilisation, %", "MFU, %", "Throughput"),
            *("Ledger, GB", "Step peak, GB", f"Fits {gb(device_budget_bytes('node'))} GB"),
        ),
        rows=tuple(
            (
                f"Batch {batch}",
                *(row[key] for key in ("efficiency", "utilisation", "mfu")),
                f"×{row['speed']}",
                *(row["memory_gb"], row["peak_gb"], FITS[row["verdict"]]),
            )
            for batch in PIPELINE_BATCHES
            for row in [found[f"1/1/1/{batch}/1"]]
        ),
    )


def walkthrough_table() -> Table:
    """The textbook's walkthrough beside the instrument; a browser adds the learner's column."""
    found = pipeline_rows()
    baseline, best = (found[f"{switches}/{BASELINE_BATCH}/1"] for switches in ("0/0/0", "1/1/1"))
    prefetched = found[f"1/0/0/{BASELINE_BATCH}/1"]
    before_gb, *_, after_gb = chapter_walkthrough_gb()
    data, transfer, compute = (f"{100 * share:.0f}" for share in CHAPTER_OPTIMISED_SHARES)
    implied = mfu_from_throughput(
        CHAPTER_TOKENS_PER_S, model_flops_per_token(GPT2_XL), V100_PEAK_FLOP_PER_S
    )
    utilised = (CHAPTER_BASELINE_UTILISATION, CHAPTER_OPTIMISED_UTILISATION)
    rest = f"{100 - 100 * CHAPTER_OPTIMISED_UTILISATION:.0f}"
    ours = [
        gb(ledger_total_bytes("fp32", "adam", "none", WALKTHROUGH_BATCH)),
        gb(ledger_total_bytes("autocast", "adam", "full", WALKTHROUGH_BATCH)),
    ]
    rows = {
        "memory": (
            *("Memory", f"{before_gb:.0f} GB", f"{after_gb:.0f} GB"),
            f"{ours[0]} GB (FP32, Adam, batch {WALKTHROUGH_BATCH})",
            f"{ours[1]} GB (autocast, full recomputation, batch {WALKTHROUGH_BATCH})",
        ),
        "utilisation": (
            "Accelerator utilisation",
            *(f"{100 * share:.0f} %" for share in utilised),
            *(f"{row['utilisation']} %" for row in (baseline, best)),
        ),
        "mfu": (
            *("MFU", "not reported"),
            f"not reported; {CHAPTER_TOKENS_PER_S:,} tokens/s implies {percent(implied)} % of a "
            "V100’s tensor peak",
            *(f"{row['mfu']} %" for row in (baseline, best)),
        ),
        "throughput": (
            *("Throughput", NONE, f"{CHAPTER_TOKENS_PER_S:,} tokens/s", f"×{baseline['speed']}"),
            f"×{best['speed']} (prefetching alone ×{prefetched['speed']})",
        ),
        "data": (
            *("Data loading share", f"{DATA_UNITS} %", f"{data} %"),
            *(f"{row['shares'][0]} %" for row in (baseline, best)),
        ),
        "shares": (
            *("Transfer / compute share", f"{TRANSFER_UNITS} / {COMPUTE_UNITS} %"),
            f"{transfer} / {compute} %",
            *(" / ".join(row["shares"][1:]) + " %" for row in (baseline, best)),
        ),
    }
    return Table(
        caption="The textbook’s walkthrough beside this instrument",
        head=(
            *("Metric", "Textbook, baseline", "Textbook, optimised"),
            *("This instrument, baseline", "This instrument, all three"),
        ),
        rows=tuple(rows.values()),
        notes=(
            f"In the instrument’s two columns memory is that of batch {WALKTHROUGH_BATCH}, whose "
            "activations are about as large as the textbook’s; every other row is of batch "
            f"{BASELINE_BATCH}, whose ledger is {baseline['memory_gb']} and {best['memory_gb']} "
            "GB. Your configuration has one batch throughout.",
            "The textbook’s run is on a 32 GB V100; its profile was taken after mixed precision "
            "and checkpointing were already on.",
            f"In the textbook’s optimised run the remaining {rest} % is synchronisation, loss "
            "scaling and launch latency.",
        ),
        row_ids=tuple(rows),
    )


def contexts_table() -> Table:
    """The two devices, and what is hard on each."""
    state = state_bytes("fp32", "adam", PARAMETERS)
    floor = static_bytes("fp32", "sgd", PARAMETERS)
    each = floor // PARAMETERS
    node = device_budget_bytes("node")
    baseline, best, larger = (
        pipeline(*(on, on, on), batch) for on, batch in ((False, 32), (True, 32), (True, 64))
    )
    gains = [f"{100 * (row.mfu - baseline.mfu):.1f}" for row in (best, larger)]
    return Table(
        caption=f"Two devices, one floor: {each} bytes × {PARAMETERS:,} = {exact_gb(floor)} GB",
        head=("Context", "Device", "Memory", "Power", "Key constraint"),
        rows=(
            (
                *("Training Node", "H100, HBM3", *_device("node")),
                f"Raise utilisation; Adam’s state is manageable, {exact_gb(state)} GB or "
                f"{percent(state / node)} % of the budget",
            ),
            (
                *("Laptop GPU", "RTX 4060, GDDR6", *_device("laptop")),
                f"With FP32-accurate weights the static floor, {exact_gb(floor)} GB, exceeds the "
                "budget at every setting; only pure 16-bit SGD fits",
            ),
        ),
        notes=(
            "On the node, all three optimisations raise accelerator utilisation from "
            f"{percent(baseline.utilisation)} to {percent(best.utilisation)} % and MFU by "
            f"{gains[0]} points, {gains[1]} at batch 64. The floor does not move.",
            "The budget is smaller than the card, in decimal GB: the rest is left to the CUDA "
            "context, the libraries’ workspaces and fragmentation.",
            "Nothing is computed from the power.",
        ),
    )


def _device(device: Device) -> tuple[str, str]:
    """Memory and power in words."""
    memory = DEVICES[device]
    sold = f"{gib(memory.capacity_bytes).removesuffix('.0')} GiB sold"
    return (
        f"{gb(memory.budget_bytes)} GB budget; {sold} = {fine_gb(memory.capacity_bytes)} GB",
        f"{memory.power_w} W",
    )
