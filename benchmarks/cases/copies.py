"""How fast bytes move: between CPU and GPU, pageable and pinned, and within one memory.

``cpu_copy`` and ``cuda_copy`` copy within one memory, far more than caches hold: the bandwidth that
a machine really has. There a byte counts twice, once read and once written; on the way between the
memories it counts once.
"""

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.cases import Part, Plan
from benchmarks.method import Arm, measure
from results.cases import ON, Family, names_of
from results.entry import Entry

MEGABYTES = (1, 10, 100, 1000)  # of a million bytes
QUICK_MEGABYTES = (1,)
BETWEEN = {"megabytes": MEGABYTES, "memory": ("pageable", "pinned")}
WAYS = ("pageable_to_cuda", "pinned_to_cuda", "cuda_to_pageable", "cuda_to_pinned")
WITHIN_MEGABYTES = {"cpu": 500, "cuda": 1000}  # CPU caches hold some hundred megabytes at most
QUICK_WITHIN_MEGABYTES = {"cpu": 10, "cuda": 10}
FAMILIES = (
    *(
        Family(
            f"{device}_copy",
            f"a copy within one memory, {WITHIN_MEGABYTES[device]:,} MB {on}",
            device=device,
            rate="bytes_per_s",
        )
        for device, on in ON.items()
    ),
    *(
        Family(way, words, BETWEEN, device="cuda", rate="bytes_per_s")
        for way, words in (
            (
                "mb_{megabytes}.{memory}_to_cuda",
                "sending {megabytes} MB from {memory} CPU memory to the GPU",
            ),
            (
                "mb_{megabytes}.cuda_to_{memory}",
                "fetching {megabytes} MB from the GPU into {memory} CPU memory",
            ),
        )
    ),
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """A copy within each memory, then each size between them; the four ways take turns."""
    within = QUICK_WITHIN_MEGABYTES if plan.quick else WITHIN_MEGABYTES
    for name, device in plan.devices.items():
        copy = partial(_within, plan, name, device, within[name])
        yield Part(f"{name}_copy", copy, expected_s=3, cpu_only=name == "cpu")
    if plan.gpu:
        for megabytes in QUICK_MEGABYTES if plan.quick else MEGABYTES:
            yield Part(
                f"mb_{megabytes}",
                partial(_between, plan, plan.gpu, megabytes),
                expected_s=1 + 0.005 * megabytes,
            )


def _within(plan: Plan, name: str, device: torch.device, megabytes: int) -> dict[str, Entry]:
    source = _numbers(megabytes, device)
    arm = _copy(source, torch.empty_like(source), device, megabytes)
    arm.amount = 2e6 * megabytes
    arm.settings["bytes_counted"] = "read and written"
    return measure({f"{name}_copy": arm}, plan.repetitions, warmups=3)


def _between(plan: Plan, gpu: torch.device, megabytes: int) -> dict[str, Entry]:
    pageable, on_gpu = _numbers(megabytes, plan.cpu), _numbers(megabytes, gpu)
    pinned = _pinned(pageable, gpu)
    copies = {
        "pageable_to_cuda": (pageable, torch.empty_like(on_gpu)),
        "pinned_to_cuda": (pinned, torch.empty_like(on_gpu)),
        "cuda_to_pageable": (on_gpu, torch.empty_like(pageable)),
        "cuda_to_pinned": (on_gpu, pinned),
    }
    arms = {
        f"mb_{megabytes}.{way}": _copy(source, target, gpu, megabytes)
        for way, (source, target) in copies.items()
    }
    return measure(arms, plan.repetitions, warmups=3)


def _numbers(megabytes: int, device: torch.device) -> torch.Tensor:
    """Numbers that differ: a block of zeros may never have been given real memory."""
    return torch.arange(megabytes * 1_000_000 // 4, dtype=torch.float32, device=device)


def _pinned(tensor: torch.Tensor, gpu: torch.device) -> torch.Tensor:
    """A copy that the system may not move, so that the GPU can fetch it by itself."""
    return tensor.pin_memory() if gpu.type == "cuda" else tensor.clone()


def _copy(source: torch.Tensor, target: torch.Tensor, device: torch.device, megabytes: int) -> Arm:
    """A copy that does not make Python wait where it need not; the clock waits for the device."""

    def copy() -> None:
        target.copy_(source, non_blocking=True)

    settings = {"megabytes": megabytes, "bytes_counted": "copied"}
    return Arm(copy, device, settings, amount=1e6 * megabytes)
