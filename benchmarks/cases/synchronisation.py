"""The right way to time a forward pass on a GPU beside three wrong ones, and what each reads.

The entries whose settings say ``right: false`` are wrong on purpose: their clock does not wait for
the device before it starts, before it stops, or both. The first of these reads the pass before as
well, the others too little. Before every sample one pass is queued, as the one before it in a loop
would be.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from benchmarks.cases import Part, Plan
from benchmarks.method import in_turn
from lesson_code.devices import synchronize
from results.cases import ON, Family, names_of
from results.entry import Entry, entry

LAYERS = 4
WIDTHS = {"cpu": 512, "cuda": 4096}  # of the layers, and the batch size too
QUICK_WIDTHS = {"cpu": 64, "cuda": 64}
SAMPLES_PER_REPETITION = 4  # a sample is one pass: repeating it would fill the queue
SEED = 0


@dataclass(frozen=True)
class Method:
    """Whether the clock waits for the device before it starts and before it stops."""

    waits_before: bool
    waits_after: bool


METHODS = {
    "waited": Method(True, True),
    "not_waited": Method(False, False),
    "waited_before_only": Method(True, False),
    "waited_after_only": Method(False, True),
}
FAMILIES = (
    *(
        Family(
            f"{device}_waited",
            "a forward pass, the clock waiting for the device before it starts and stops: right, "
            f"{on}",
            device=device,
        )
        for device, on in ON.items()
    ),
    *(
        Family(
            f"{device}_not_waited",
            f"what a clock that never waits for the device reads for the same forward pass, {on}",
            device=device,
        )
        for device, on in ON.items()
    ),
    Family(
        "cuda_waited_before_only",
        "what a clock that waits for the GPU only before it starts reads for the same forward pass",
        device="cuda",
    ),
    Family(
        "cuda_waited_after_only",
        "what a clock that waits for the GPU only before it stops reads, with an earlier pass "
        "still queued",
        device="cuda",
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Each device; its methods take turns."""
    for name, device in plan.devices.items():
        methods = partial(_compare, plan, name, device)
        yield Part(f"{name}_methods", methods, expected_s=2, cpu_only=name == "cpu")


@torch.no_grad()
def _compare(plan: Plan, name: str, device: torch.device) -> dict[str, Entry]:
    width = (QUICK_WIDTHS if plan.quick else WIDTHS)[name]
    torch.manual_seed(SEED)
    layers = (layer for _ in range(LAYERS) for layer in (nn.Linear(width, width), nn.ReLU()))
    model = nn.Sequential(*layers).to(device)
    images = torch.randn(width, width).to(device)

    methods = {f"{name}_{method}": METHODS[method] for method in METHODS}
    methods = {
        entry_name: method for entry_name, method in methods.items() if entry_name in ENTRIES
    }
    for method in methods.values():
        seconds_by(method, model, images)  # warm-up
    samples: dict[str, list[float]] = {entry_name: [] for entry_name in methods}
    for number in range(plan.repetitions * SAMPLES_PER_REPETITION):
        for entry_name, method in in_turn(methods, number):
            samples[entry_name].append(seconds_by(method, model, images))
    return {
        entry_name: entry(
            samples[entry_name],
            "s",
            device=device.type,
            seed=SEED,
            settings={
                "width": width,
                "layers": LAYERS,
                "batch_size": width,
                "waits_before": method.waits_before,
                "waits_after": method.waits_after,
                "right": method == METHODS["waited"],
            },
        )
        for entry_name, method in methods.items()
    }


def seconds_by(method: Method, model: nn.Module, images: torch.Tensor) -> float:
    """What a method reads for one forward pass, while the pass before it may still run."""
    synchronize(images.device)
    model(images)
    if method.waits_before:
        synchronize(images.device)
    start = time.perf_counter()
    model(images)
    if method.waits_after:
        synchronize(images.device)
    return time.perf_counter() - start
