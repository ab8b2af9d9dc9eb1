"""The same 20 steps in float32, bfloat16 and float16: the loss of each, and what is skipped.

One body takes every step: the foundations' 128-256-10 network, AdamW, clipping. The scaler is on in
float16 only, which only a GPU takes here. A sample is the loss of the last step of one batch.
"""

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from lesson_code.devices import float32_products
from lesson_code.foundations.acceleration import random_batch, set_up, train_step
from results.cases import ON, Family, names_of
from results.entry import Entry, entry

STEPS = 20
DTYPES = {
    "cpu": (torch.float32, torch.bfloat16),
    "cuda": (torch.float32, torch.bfloat16, torch.float16),
}
FAMILIES = tuple(
    Family(
        f"{device}_{{format}}",
        f"loss of the 128-256-10 network after {STEPS} steps on one batch, median over batches, "
        f"{{format}} {ON[device]}",
        {"format": tuple(str(dtype).removeprefix("torch.") for dtype in dtypes)},
        unit="plain",
        device=device,
        figure=f"foundations_step.{device}_{{format}}_loss",
    )
    for device, dtypes in DTYPES.items()
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Every format on each device, one device at a time."""
    for name, device in plan.devices.items():
        yield Part(name, partial(_compare, plan, name, device), 2, cpu_only=name == "cpu")


def _compare(plan: Plan, name: str, device: torch.device) -> dict[str, Entry]:
    seeds = range(plan.repetitions)
    entries = {}
    for dtype in DTYPES[name]:
        with float32_products(tf32=False):
            runs = [run(device, dtype, seed) for seed in seeds]
        first_losses, _ = runs[0]
        entries[f"{name}_{str(dtype).removeprefix('torch.')}"] = entry(
            [losses[-1] for losses, _ in runs],
            "plain",
            device=device.type,
            settings={
                "steps": STEPS,
                "batch_size": 64,
                "optimizer": "AdamW, lr 1e-3",
                "seeds": list(seeds),
                "tf32": False,
            },
            outcome={
                "skipped_steps": sum(skipped for _, skipped in runs) / len(runs),
                **{f"loss_of_step_{n}": loss for n, loss in enumerate(first_losses, start=1)},
            },
        )
    return entries


def run(device: torch.device, dtype: torch.dtype, seed: int) -> tuple[list[float], int]:
    """The loss of every step on one batch, and how many steps the scaler skipped."""
    model, optimizer, scaler = set_up(device, dtype)
    features, labels = random_batch(device, seed)
    losses, skipped = [], 0
    for _ in range(STEPS):
        scale = scaler.get_scale()
        losses.append(train_step(model, optimizer, scaler, features, labels, dtype).item())
        skipped += scaler.get_scale() < scale  # it halves after a step with inf or NaN
    return losses, skipped
